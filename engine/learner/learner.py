"""Who the learner is, and where their things lie."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from engine.errors import LearnerCodeError, Message, UsageError
from engine.spec import index
from engine.spec.catalogue import Catalogue
from engine.spec.load import convert

if TYPE_CHECKING:
    from engine.run.types import Tree

FILE = "learner.yaml"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`learner.yaml`.

    model: the folder with the model code, relative to this file or absolute. python: the
    interpreter that runs it (default: a `.venv` in the model's tree, else the engine's own).
    complete: the model was finished from the beginning, so breaks come before builds.
    call, train, and a model of the form "file.py:expression": for `engine check` (`lines.py`).
    roles: names of the contract that this code has elsewhere, "Embedding: mypackage.emb:Embed".
    """

    name: str
    pack: str = "minimodel"
    model: str = "."
    lang: str = "en"
    complete: bool = False
    call: str = ""
    train: str = ""
    python: str | None = None
    roles: dict[str, str] = {}


class Learner(msgspec.Struct, frozen=True):
    """One learner's folder and settings."""

    home: Path
    settings: Settings

    @property
    def model(self) -> Path:
        """The root of the learner's own tree; read, never written."""
        return (self.home / self.settings.model).resolve()

    @property
    def private(self) -> Path:
        """The engine's own folder here: events, history, lock."""
        return self.home / ".engine"

    @property
    def lang(self) -> str:
        """The language of texts."""
        return self.settings.lang

    @staticmethod
    def typed(folder: Path) -> str:
        """A folder as one types it from here: "" for this one."""
        here = Path.cwd()
        if folder.is_relative_to(here):
            return "" if folder == here else str(folder.relative_to(here))
        return str(folder)

    def practice(self, name: str) -> Path:
        """The practice copy of a break, by the name of its attempt."""
        return self.home / "practice" / name

    @property
    def blind_notes(self) -> Path:
        """The notes on blind breaks, of all phases."""
        return self.home / "blind" / "notes" / "breaks.md"

    def notes(self, phase_number: str) -> Path:
        """The notes on breaks of a phase."""
        return self.home / f"phase-{phase_number}" / "notes" / "breaks.md"

    def python(self) -> str | None:
        """The interpreter for the learner's code, None for the engine's own."""
        if self.settings.python:
            path = Path(os.path.expanduser(self.settings.python))
            return str(path if path.is_absolute() else self.home / path)
        own = self.model / ".venv" / "bin" / "python"
        return str(own) if own.exists() else None

    def roles(self, catalogue: Catalogue) -> dict[str, str]:
        """The contract's roles, with the learner's own names in their place."""
        roles = catalogue.contract.roles
        for role, where in self.settings.roles.items():
            if role not in roles or ":" not in where:
                raise UsageError(
                    Message(
                        "learner.yaml maps the role {role!r} to {place!r}.", role=role, place=where
                    ),
                    where=str(self.home / FILE),
                    next=Message(
                        "A line under `roles:` reads `Role: module:name`; the roles are {roles}.",
                        roles=", ".join(sorted(roles)),
                    ),
                )
        return {**roles, **self.settings.roles}

    def contract(
        self, catalogue: Catalogue, files: Mapping[str, bytes]
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """(folders that the code is imported from, the contract's roles), as they are in these files.

        Raises LearnerCodeError where nothing there has the contract's functions.
        """
        contract, roles = catalogue.contract, self.roles(catalogue)
        from engine.code.signatures import module_of, placed, roots_of

        if not contract.signatures:
            return tuple(contract.roots), placed(roles, contract.moved, contract.roots, files)

        path = module_of(files, contract.signatures)
        if path is None:
            usual = next(iter(contract.roles.values())).partition(":")[0].replace(".", "/")
            raise LearnerCodeError(
                Message("No file here has the functions of the course, {file}.py.", file=usual),
                where=str(self.model),
                next=Message("Set `model:` in learner.yaml to the folder that holds it."),
            )
        module, roots = roots_of(path, contract.roots)
        moved = {
            role: where if role in self.settings.roles else f"{module}:{where.partition(':')[2]}"
            for role, where in roles.items()
        }
        return roots, moved

    def tree(self, catalogue: Catalogue, files: Mapping[str, bytes], root: Path) -> Tree:
        """Files as a tree that can be run; `root` is what tracebacks and `__file__` name."""
        from engine.run.types import Tree  # of those who run code, not of those who list

        if catalogue.by_facts:
            return Tree(str(root), ("",), dict(files), {})
        roots, roles = self.contract(catalogue, files)
        return Tree(str(root), roots, dict(files), roles)


def load(home: Path) -> Learner:
    """The learner whose folder this is. Raises SpecError for a bad learner.yaml."""
    file = home / FILE
    try:
        source = file.read_bytes()
    except OSError as error:
        raise UsageError(
            Message("Cannot be read: {error}.", error=error.strerror), where=str(file)
        ) from None
    known = index.read({str(file): source}, lambda known: known.learners, _settings)
    return Learner(home.resolve(), msgspec.convert(known[str(file)], Settings))


def _settings(file: str) -> dict[str, Any]:
    from engine.spec import yaml  # brings PyYAML, which a learner.yaml that is known does without

    settings = convert(yaml.read(Path(file).read_bytes(), file), Settings)
    return {name: getattr(settings, name) for name in settings.__struct_fields__}


def current_folder() -> Path:
    """The folder the command was typed in. Raises UsageError when it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            Message("The folder you are in no longer exists."),
            next=Message("Type `cd` to somewhere that does."),
        ) from None


def _called(name: str, start: Path) -> Learner:
    """The learner of this name: below a `learners` of some parent folder, or beside the learner whose
    folder this is. Raises UsageError.
    """
    around = (start, *start.parents)
    own = next((folder for folder in around if (folder / FILE).is_file()), None)
    places = [folder / "learners" for folder in around] + ([own.parent] if own else [])
    for place in places:
        if (place / name / FILE).is_file():
            return load(place / name)
    for folder in around:
        if folder.name == name and (folder / FILE).is_file():
            return load(folder)
    place = own.parent if own else start / "learners"
    here = sorted(file.parent.name for file in place.glob(f"[!.]*/{FILE}"))
    raise UsageError(
        Message("There is no learner {name!r} below {place}.", name=name, place=place),
        next=Message("`engine init {name}` makes one.", name=name)
        if not here
        else Message(
            "`engine init {name}` makes one. Here are: {here}.", name=name, here=", ".join(here)
        ),
    )


def find(name: str | None, start: Path | None = None) -> Learner:
    """The nearest parent folder with a learner.yaml, else `name`, else the only one there is.

    Raises UsageError when none or several fit.
    """
    start = start or current_folder()
    name = unicodedata.normalize("NFC", name) if name else name
    if name is None:
        for folder in (start, *start.parents):
            if (folder / FILE).is_file():
                return load(folder)
    found = sorted(start.glob(f"learners/*/{FILE}"))
    folders = [f.parent for f in found if not f.parent.name.startswith(".")]  # not half made
    if name is not None:
        return _called(name, start)
    folders = [folder for folder in folders if folder.name != "example"] or folders
    if len(folders) == 1:
        return load(folders[0])
    if folders:
        raise UsageError(
            Message(
                "Several learners are here: {names}.", names=", ".join(f.name for f in folders)
            ),
            next=Message("Say which with `--learner NAME`, or go into a learner's folder."),
        )
    raise UsageError(
        Message("This is not a learner's folder: {folder}.", folder=start),
        next=Message(
            "`engine init YOUR_NAME` makes one here; `engine demo` shows what it is like."
        ),
    )
