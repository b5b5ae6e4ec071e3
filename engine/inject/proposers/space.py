"""Where proposers look: the learner's code, what its expressions held, and how far off each place is.

Places are tried by distance: in the named definition and in its file, for all the ways that a step
names; then elsewhere; when all recipes have been through these, in other roles' definitions and in
expressions that ran four times as often as they held the value, as those in the middle of an autograd
engine do. Everybody goes through those, so an edit there hardly ever bites and spares the rest: 403
injections were the same with 1,790 trials as with 2,790.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from engine.code.source import Edit
from engine.inject import places
from engine.inject.learner_code import Code

Edits = tuple[tuple[Edit, ...], str]  # edits that belong together, and the proposer
Trace = Callable[[str, str, str], list[places.Site]]  # probe, regime, value -> expressions


class Locality(IntEnum):
    """When a place is tried: before all others of its step, after those, and when all recipes have been
    through these.
    """

    LOCAL = 0
    ELSEWHERE = 1
    SHARED = 2


DEFINITION, FILE, OTHER_FILE, OTHER_ROLE, COMMON = range(5)  # how far from the roles that are named
LOCALITY = (  # by distance
    Locality.LOCAL,
    Locality.LOCAL,
    Locality.ELSEWHERE,
    Locality.SHARED,
    Locality.SHARED,
)


class Place(NamedTuple):
    """An expression with its distance and minus its size, by both of which places are sorted."""

    distance: tuple[int, int]
    path: str
    node: ast.expr


class SearchSpace:
    """The code of one injection, with what is remembered about places in it."""

    def __init__(self, code: Code, trace: Trace) -> None:
        self.code = code
        self.trace = trace
        self.unfit: list[str] = []  # patterns that no code fits
        self.placed: dict[int, list[Place]] = {}  # id of a role edit -> its places
        self._defined: dict[tuple[str, ...], list[tuple[str, int, int]]] = {}

    def distance(self, path: str, node: ast.AST, inside: Iterable[str]) -> tuple[int, int]:
        """How far a node is from the roles `inside`, and minus its size in bytes. What is another
        role's is what others share; so is a front, which is looked at last.
        """
        inside = tuple(inside)
        start, end = self.code.sources[path].span(node)
        if path in self.code.fronts:
            return (COMMON, start - end)
        mine = self._spans(inside)
        if any(p == path and a <= start < b for p, a, b in mine):
            return (DEFINITION, start - end)
        others = tuple(role for role in self.code.tree.roles if role not in inside)
        if inside and any(p == path and a <= start < b for p, a, b in self._spans(others)):
            return (OTHER_ROLE, start - end)
        return (FILE if any(p == path for p, _, _ in mine) else OTHER_FILE, start - end)

    def _spans(self, roles: tuple[str, ...]) -> list[tuple[str, int, int]]:
        """The bytes of these roles' definitions."""
        if roles not in self._defined:
            self._defined[roles] = [
                (source.path, *source.span(scope))
                for source, scope in (self.code.scopes(roles) if roles else [])
            ]
        return self._defined[roles]


def key_of(path: str, node: ast.AST) -> places.Key:
    """What names a node among traced expressions."""
    at: Mapping[str, int] = vars(node)
    if "lineno" not in at:
        return (path, 0, 0, 0, 0)
    return (path, at["lineno"], at["col_offset"], at["end_lineno"], at["end_col_offset"])
