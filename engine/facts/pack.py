"""A pack of facts: what its `pack.yaml` declares beside the functions that measure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import SpecError
from engine.spec import load as loading
from engine.spec import yaml
from engine.spec.types.fact_pack import Declared, FactPack, Finding, Rule, Words

__all__ = [
    "Declared", "FactPack", "Finding", "Rule", "Texts", "Words", "code", "load", "reasons", "spoken", "texts",
    "told_why",
]  # fmt: skip


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact in another language. wrong: by the name of the bug; values: by patterns over the value."""

    title: str
    expected: str
    means: str
    see: str
    wrong: dict[str, str] = {}
    values: dict[str, str] = {}

    def value(self, measured: str) -> str:
        """What was measured, as it is where no pattern fits."""
        return spoken(measured, self.values)


def spoken(text: str, patterns: Mapping[str, str]) -> str:
    """A text by the first pattern that fits, and its groups the same way; as it is, where none does."""
    matches = (re.fullmatch(pattern, text, re.DOTALL) for pattern in patterns)
    match = next((one for one in matches if one), None)
    if match is None:
        return text
    groups = [spoken(one or "", patterns) for one in match.groups()]
    return re.sub(r"\\(\d)", lambda place: groups[int(place[1]) - 1], patterns[match.re.pattern])


def told_why(reason: str, id: str, known: Mapping[str, Texts], reasons: Mapping[str, str]) -> str:
    """Why a fact was not measured, in another language: a reason may hold what was."""
    return spoken(reason, {**reasons, **(known[id].values if id in known else {})})


def texts(folder: Path, language: str) -> dict[str, Texts]:
    """The facts in another language, by id; none where the pack does not speak it. Raises SpecError."""
    found: dict[str, Texts] = _read(folder / f"{language}.yaml", dict[str, Texts])
    return found


def reasons(folder: Path, language: str) -> dict[str, str]:
    """Why facts are not measured, in another language, by patterns over the English. Raises SpecError."""
    found: dict[str, str] = _read(folder / f"{language}-reasons.yaml", dict[str, str])
    return found


def _read(file: Path, kind: Any) -> Any:
    if not file.is_file():
        return {}
    document = yaml.read(file.read_bytes(), str(file))
    try:
        return msgspec.convert(document.data, kind)
    except msgspec.ValidationError as error:
        raise SpecError(f"The texts cannot be read: {error}.", where=f"{file}:1:1") from None


def load(folder: Path) -> FactPack:
    """Raises SpecError when the file is not of this form."""
    return loading.load(folder / "pack.yaml", FactPack)


def code(folder: Path) -> dict[str, bytes]:
    """The pack's functions, as `pack/<file>`."""
    files = {f"pack/{file.name}": file.read_bytes() for file in sorted(folder.glob("*.py"))}
    return {"pack/__init__.py": b"", **files}
