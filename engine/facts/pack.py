"""A pack of facts: what its `pack.yaml` declares beside the functions that measure."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from engine.errors import SpecError
from engine.spec import load as loading
from engine.spec import yaml
from engine.spec.types.fact_pack import Declared, FactPack, Finding, Rule, Words

__all__ = ["Declared", "FactPack", "Finding", "Rule", "Texts", "Words", "code", "load", "texts"]


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact in another language. wrong: by the name of the bug; values: by patterns over the value."""

    title: str
    expected: str
    means: str
    see: str
    wrong: dict[str, str] = {}
    values: dict[str, str] = {}

    def value(self, measured: str) -> str:
        """What was measured, by the first pattern that fits; as it is, where none does."""
        found = (re.fullmatch(pattern, measured) for pattern in self.values)
        match = next((one for one in found if one), None)
        return match.expand(self.values[match.re.pattern]) if match else measured


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
    return loading.load(folder / "pack.yaml", FactPack)


def code(folder: Path) -> dict[str, bytes]:
    """The pack's functions, as `pack/<file>`."""
    files = {f"pack/{file.name}": file.read_bytes() for file in sorted(folder.glob("*.py"))}
    return {"pack/__init__.py": b"", **files}
