"""`role`: another expression in the place of one that held a value which the reference names."""

from __future__ import annotations

from collections.abc import Iterator

from engine.inject.proposers import values
from engine.inject.proposers.space import Edits, Locality, SearchSpace
from engine.spec.types import RoleEdit


def propose(space: SearchSpace, edit: RoleEdit, locality: Locality) -> Iterator[Edits]:
    """The edits of each place, the nearest first."""
    for edits in values.edits(space, edit, locality):
        yield edits, "role"
