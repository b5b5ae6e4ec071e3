"""Steps of a recipe -> edits, in the order in which they should be tried."""

from __future__ import annotations

from collections.abc import Iterator

from engine.inject.learner_code import Code
from engine.inject.proposers import PROPOSERS
from engine.inject.proposers.space import Edits, Locality, SearchSpace, Trace
from engine.spec.types import Step


class Proposals:
    """The edits for steps of recipes; each step's places are found when they are asked for."""

    def __init__(self, code: Code, trace: Trace) -> None:
        self._space = SearchSpace(code, trace)
        self._known: dict[tuple[int, Locality], list[Edits]] = {}
        self._coming: dict[tuple[int, Locality], Iterator[Edits]] = {}

    @property
    def unfit(self) -> list[str]:
        """Patterns that no code fits."""
        return self._space.unfit

    def edits(self, step: Step, shared: bool = False) -> Iterator[Edits]:
        """The ways to do one step, each found once; shared: with those that change what others share."""
        for locality in Locality if shared else (Locality.LOCAL, Locality.ELSEWHERE):
            yield from self._remembered(step, locality)

    def _remembered(self, step: Step, locality: Locality) -> Iterator[Edits]:
        key = (id(step), locality)
        known = self._known.setdefault(key, [])
        coming = self._coming.setdefault(key, self._found(step, locality))
        position = 0
        while True:
            if position == len(known):
                fresh = next((found for found in coming if found not in known), None)
                if fresh is None:
                    return
                known.append(fresh)
            yield known[position]
            position += 1

    def _found(self, step: Step, locality: Locality) -> Iterator[Edits]:
        for one in step.any:
            yield from self._found(one, locality)
        for name, propose in PROPOSERS.items():
            wanted = getattr(step, name)
            if wanted is not None:
                yield from propose(self._space, wanted, locality)
