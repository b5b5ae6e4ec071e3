"""What the nearest `learner.yaml` says of a tree that `engine check` looks at."""

from __future__ import annotations

import ast
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.errors import Message, Said, UsageError
from engine.learner.learner import FILE, Settings

if TYPE_CHECKING:
    from engine.spec import yaml

MODEL = Message('Write `model: "file.py:Class"` or `model: "file.py:expression"`, in quotes.')
CALL = Message('Write an expression over the model and its tokens: `call: "model(tokens, 0)"`.')
TRAIN = Message('Write the script with its arguments: `train: "train.py --data input.txt"`.')
PYTHON = Message("Write the path of an interpreter that has torch: `python: .venv/bin/python`.")


class Open(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`learner.yaml` of a tree that need not be a learner's folder."""

    name: str = ""


class Lines(msgspec.Struct, frozen=True):
    """root: the folder to check. model, train: with their files named from there; "" or None: not said."""

    root: Path
    model: str = ""
    call: str = ""
    train: str = ""
    python: str | None = None
    lang: str = "en"


def lines(folder: Path) -> Lines:
    """What is said of this folder. Raises UsageError, and SpecError for a bad learner.yaml."""
    home = next((one for one in (folder, *folder.parents) if (one / FILE).is_file()), None)
    if home is None:
        return Lines(folder)
    from engine.spec import yaml  # brings PyYAML, which a tree without the file does without
    from engine.spec.load import convert, read_bytes

    document = yaml.read(read_bytes(str(home / FILE)), str(home / FILE))
    settings = convert(document, Open)
    reading = Reading(document, home, folder)
    is_line = ":" in settings.model
    if not is_line and home == folder:
        reading.root = reading.folder(settings.model)
    return Lines(
        reading.root,
        reading.model(settings.model) if is_line else "",
        reading.expression("call", settings.call, CALL),
        reading.script(settings.train),
        reading.interpreter(settings.python),
        settings.lang,
    )


class Reading:
    """A `learner.yaml` of the folder `home`, as it is read for the tree below `root`."""

    def __init__(self, document: yaml.Document, home: Path, root: Path) -> None:
        self._document, self._home, self.root = document, home, root

    def wrong(self, key: str, what: Said, next: Said) -> UsageError:
        return UsageError(what, where=self._document.where((key,)), next=next)

    def folder(self, named: str) -> Path:
        found = (self._home / os.path.expanduser(named)).resolve()
        if not found.is_dir():
            told = Message("`model:` names the folder {named}, which is not there.", named=named)
            raise self.wrong("model", told, MODEL)
        return found

    def file(self, key: str, named: str, next: Message) -> str:
        """A file of the tree, by its path from the root."""
        found = (self._home / os.path.expanduser(named)).resolve()
        if not found.is_file():
            raise self.wrong(
                key,
                Message("`{key}:` names {named}, which is no file.", key=key, named=named),
                next,
            )
        if not found.is_relative_to(self.root):
            told = Message(
                "`{key}:` names {named}, which lies outside the folder that is checked ({root}).",
                key=key,
                named=named,
                root=self.root,
            )
            raise self.wrong(key, told, next)
        return found.relative_to(self.root).as_posix()

    def model(self, line: str) -> str:
        path, _, expression = line.partition(":")
        if not path.endswith((".py", ".ipynb")):
            path = path.replace(".", "/") + ".py"
        given = self.file("model", path, MODEL)
        return f"{given}:{self.expression('model', expression.strip() or '(', MODEL)}"

    def expression(self, key: str, text: str, next: Message) -> str:
        try:
            if text:
                ast.parse(text, mode="eval")
        except (SyntaxError, ValueError):
            told = Message("`{key}:` holds no Python expression: {text}.", key=key, text=text)
            raise self.wrong(key, told, next) from None
        return text

    def script(self, line: str) -> str:
        try:
            words = shlex.split(line)
        except ValueError:
            raise self.wrong(
                "train", Message("`train:` has a quote without its other."), TRAIN
            ) from None
        if not words:
            return ""
        return shlex.join([self.file("train", words[0], TRAIN), *words[1:]])

    def interpreter(self, named: str | None) -> str | None:
        if named is None:
            return None
        path = self._home / os.path.expanduser(named)
        if not (path.is_file() and os.access(path, os.X_OK)):
            told = Message("`python:` names {named}, which cannot be run.", named=named)
            raise self.wrong("python", told, PYTHON)
        return str(path)
