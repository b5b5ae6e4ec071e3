"""What `engine check` says, as values, and how a measured fact is judged."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from engine.facts.files import cell
from engine.facts.pack import Declared, FactPack

Verdict = Literal["PASS", "WRONG", "WARN", "SKIP"]
MAX_TEXT = 300


class Raw(msgspec.Struct, frozen=True):
    """A fact as the pack's child gave it. at: [file, first line, last line, first column, last column]."""

    id: str
    value: str | float | int | None
    at: tuple[str, int, int, int, int] | None
    why: str


class Where(msgspec.Struct, frozen=True):
    """A span of somebody's file, or of a cell of a notebook."""

    file: str
    line: int
    column: int
    text: str


class Fact(msgspec.Struct, frozen=True):
    """One row of the report. names: the bug that a WRONG value names."""

    id: str
    title: str
    about: str
    verdict: Verdict
    value: str | None
    expected: str
    where: Where | None
    why: str
    names: str = ""
    means: str = ""
    see: str = ""


class Taken(msgspec.Struct, frozen=True):
    """What was taken for the model."""

    file: str
    cls: str
    how: str
    layers: int
    width: int
    heads: int
    parameters: int
    training: str
    generation: str


class HealthReport(msgspec.Struct, frozen=True):
    """`engine check`."""

    model: Taken
    facts: tuple[Fact, ...]
    made_up: tuple[str, ...]
    took_s: float
    symptoms: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        return any(fact.verdict == "WRONG" for fact in self.facts)


def judged(pack: FactPack, raw: Raw, files: dict[str, bytes]) -> Fact:
    """A row of the report. Nothing that was not measured is WRONG."""
    declared = pack.fact(raw.id)
    value = None if raw.value is None else str(raw.value)[:MAX_TEXT]
    verdict, names = verdict_of(declared, value)
    return Fact(
        id=raw.id,
        title=declared.title,
        about=declared.about,
        verdict=verdict,
        value=value,
        expected=declared.expected,
        where=where_of(raw.at, files),
        why=raw.why[:MAX_TEXT],
        names=names,
        means=declared.means if verdict in ("WRONG", "WARN") else "",
        see=declared.see if verdict in ("WRONG", "WARN") else "",
    )


def placed(fact: Fact, files: dict[str, bytes], first: str) -> Fact:
    """A fact that is not right and has no place, at the one line that makes the part of the model that its
    value names, as `blocks.0.attention.query.weight`; first: the file that is looked at first.
    """
    named = re.search(r"[A-Za-z_]\w*(?:\.\w+)+", fact.value or "")
    if fact.where is not None or fact.verdict not in ("WRONG", "WARN") or named is None:
        return fact
    parts = [part for part in named[0].split(".") if not part.isdigit()]
    for part in reversed(parts):
        for paths in ([first], [path for path in files if path.endswith(".py")]):
            lines = [
                (path, *found) for path in paths for found in _makes(files.get(path, b""), part)
            ]
            if len(lines) == 1:
                path, line, column = lines[0]
                return msgspec.structs.replace(
                    fact, where=where_of((path, line, line, column, column), files)
                )
    return fact


def _makes(source: bytes, name: str) -> list[tuple[int, int]]:
    """(line, column) of what gives a value to an attribute, or to an entry of a dict of layers."""
    made = re.compile(
        rf"\bself\.{name}\s*(?::[^=]+)?=[^=]|^\s*[\"']?{name}[\"']?\s*[:=]\s*\w+\.\w+\("
    )
    lines = enumerate(source.decode("utf-8", "replace").splitlines(), 1)
    hits = [(number, made.search(line)) for number, line in lines]
    return [(number, hit.start()) for number, hit in hits if hit]


def verdict_of(declared: Declared, value: str | None) -> tuple[Verdict, str]:
    """(verdict, the bug that a wrong value names)."""
    if value is None:
        return "SKIP", ""
    if any(re.fullmatch(pattern, value) for pattern in declared.right):
        return "PASS", ""
    for pattern, name in declared.wrong.items():
        if re.fullmatch(pattern, value):
            return "WRONG", name
    return "WARN", ""


def where_of(at: Any, files: dict[str, bytes]) -> Where | None:
    """The first line of a span, if it lies in one of the files."""
    if at is None or at[0] not in files:
        return None
    lines = files[at[0]].decode("utf-8", "replace").splitlines()
    if not 1 <= at[1] <= len(lines):
        return None
    column, text = max(0, at[3]) + 1, lines[at[1] - 1].strip()[:MAX_TEXT]
    if at[0].endswith(".ipynb"):
        number, line = cell(lines, at[1])
        return Where(f"{at[0]}, code cell {number}", line, column, text)
    return Where(at[0], at[1], column, text)
