"""`pack.yaml` of a pack that measures by facts."""

from __future__ import annotations

from typing import Any, Literal

from engine.spec.types.base import Spec
from engine.spec.types.pack import Syllabus

Rule = tuple[str, Any, str]


class Declared(Spec, frozen=True, kw_only=True):
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


class Words(Spec, frozen=True, kw_only=True):
    """Patterns over names of parameters of a forward or of a sampler."""

    targets: str
    mask: str
    start: str
    lengths: str
    places: str


class Finding(Spec, frozen=True, kw_only=True):
    """What makes a class a candidate: patterns over its text, each with points."""

    class_name: dict[str, int]
    constructor: dict[str, int]
    forward: dict[str, int]
    least: int
    aside: str  # folders whose models come after the others
    skipped: str
    library: str  # what makes a model that a tree does not define; a group is its name


class FactPack(Syllabus, frozen=True, kw_only=True):
    """The names of sizes, parts and facts."""

    framework: Literal["torch"]
    sizes: dict[str, int]
    larger: dict[str, int]
    other: dict[str, int] = {}
    names: tuple[Rule, ...]
    dropout: float
    words: Words
    find: Finding
    scripts: dict[str, Any]
    generation: dict[str, Any]
    facts: tuple[Declared, ...]

    def fact(self, id: str) -> Declared:
        """A fact by its id. Raises StopIteration."""
        return next(fact for fact in self.facts if fact.id == id)
