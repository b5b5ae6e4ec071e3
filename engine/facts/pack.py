"""A pack of facts: what its `pack.yaml` declares beside the functions that measure."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from engine.errors import SpecError
from engine.spec import yaml

Rule = tuple[str, Any, str]


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fact: patterns over the measured value. `right` passes, `wrong` names a bug, the rest warns."""

    id: str
    title: str
    about: Literal["model", "training", "generation"]
    expected: str
    means: str
    see: str
    right: tuple[str, ...] = ()
    wrong: dict[str, str] = {}
    doubtful: tuple[str, ...] = ()  # warn; named so that a reader sees them


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns over names of parameters of a forward or of a sampler."""

    targets: str
    mask: str
    start: str


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What makes a class a candidate: patterns over its text, each with points."""

    class_name: dict[str, int]
    constructor: dict[str, int]
    forward: dict[str, int]
    least: int
    aside: str  # folders whose models come after the others
    skipped: str


class FactPack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`exercises/<pack>/pack.yaml` of a pack that measures by facts."""

    title: dict[str, str]
    framework: Literal["torch"]
    languages: tuple[str, ...]
    sizes: dict[str, int]
    larger: dict[str, int]
    names: tuple[Rule, ...]
    dropout: float
    words: Words
    find: Finding
    scripts: dict[str, Any]
    generation: dict[str, Any]
    facts: tuple[Declared, ...]

    def fact(self, id: str) -> Declared:
        return next(fact for fact in self.facts if fact.id == id)


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact in another language. wrong: by the name of the bug."""

    title: str
    expected: str
    means: str
    see: str
    wrong: dict[str, str] = {}


def texts(folder: Path, language: str) -> dict[str, Texts]:
    """The facts in another language, by id; none where the pack does not speak it. Raises SpecError."""
    file = folder / f"{language}.yaml"
    if not file.is_file():
        return {}
    document = yaml.read(file.read_bytes(), str(file))
    try:
        return msgspec.convert(document.data, dict[str, Texts])
    except msgspec.ValidationError as error:
        raise SpecError(f"The texts cannot be read: {error}.", where=f"{file}:1:1") from None


def load(folder: Path) -> FactPack:
    """Raises SpecError when the file is not of this form."""
    file = folder / "pack.yaml"
    document = yaml.read(file.read_bytes(), str(file))
    try:
        return msgspec.convert(document.data, FactPack)
    except msgspec.ValidationError as error:
        raise SpecError(f"The pack cannot be read: {error}.", where=f"{file}:1:1") from None


def code(folder: Path) -> dict[str, bytes]:
    """The pack's functions, as `pack/<file>`."""
    files = {f"pack/{file.name}": file.read_bytes() for file in sorted(folder.glob("*.py"))}
    return {"pack/__init__.py": b"", **files}
