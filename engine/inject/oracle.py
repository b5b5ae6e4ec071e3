"""The one oracle: a candidate bites when it measures exactly the declared symptom and nothing else.

The symptom is no list of assertions. The reference has a *variant* with the bug and computes what the bug
must measure, so "exactly" is equality, value by value and gradient by gradient, in each regime from three
seeds (`sampling.SEEDS`). "Nothing else" is equality with the healthy code in all other components that
the edit can reach (the siblings), each held to the values that some check of its build compares: a value
that none compares may be 0 up to rounding, and another 0 in the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from engine.code.functions import FunctionKeys, files_of
from engine.errors import Message, Said
from engine.judge.compare import Difference, difference
from engine.judge.sampling import SEEDS
from engine.run.types import Case, Outcome, Tree
from engine.spec.types import BEFORE

WAIT = 0.4  # seconds that a candidate may take,
SLOWER = 10  # and so many times what the healthy code took


class Item(msgspec.Struct, frozen=True):
    """One thing to measure on a candidate: a case, and what it must look like."""

    case: Case
    like: str  # BEFORE or a variant
    before: Outcome
    values: tuple[str, ...] = ()  # that count, all when empty
    covered: frozenset[str] = frozenset()  # where `before` says which functions ran

    @property
    def probe(self) -> str:
        """component.probe"""
        return f"{self.case.draw.component}.{self.case.draw.probe}"

    def runs_any(self, functions: FunctionKeys) -> bool:
        """Whether one of these functions ran in the healthy code, or nobody knows."""
        known = self.before.ran is not None and files_of(functions) <= self.covered
        return not known or not functions.isdisjoint(self.before.ran or ())


class Trial(msgspec.Struct, frozen=True):
    """What the oracle found: accepted, or why not; `met` are the probes whose symptom was there.

    `runs`: some probe that ran before still runs and gives something else.
    """

    accepted: bool
    met: frozenset[str]
    reason: Said = ""
    sibling: str = ""  # a probe of another component that changed
    runs: bool = True


Asked = tuple[Tree, Sequence[Case], float]  # the last: limit in seconds
Measure = Callable[[Sequence[Asked]], list[list[Outcome]]]  # several at the same time
Siblings = Callable[[Tree], list["Item"]]  # what a candidate's edits might reach, as it was before


class Oracle:
    """Tries candidates. `symptoms` must match the declared bug; `siblings` as they were."""

    def __init__(
        self,
        measure: Measure,
        symptoms: Sequence[Item],
        siblings: Siblings,
        start: float = 0.0,
    ) -> None:
        """start: seconds that healthy code needs more where it has to import what it uses."""
        self._wait = WAIT + start
        self._measure = measure
        self._first = [item for i, item in enumerate(symptoms) if i % SEEDS == 0]
        self._rest = [item for i, item in enumerate(symptoms) if i % SEEDS]
        self._siblings = siblings
        self._broken_before: set[int] = set()  # siblings that gave a candidate away: asked first
        self.tried = 0
        unbroken = [item for item in symptoms if item.like != BEFORE]
        self._changes = any(_unlike(item, item.before) for item in unbroken)

    def check_symptom(self) -> bool:
        """Whether the declared symptom differs at all from the healthy code."""
        return self._changes

    def try_(self, tree: Tree) -> Trial:
        """Measure a candidate: the symptom, then the siblings."""
        (trial,) = self.shows([tree])
        return self.spares(tree, trial) if trial.accepted else trial

    def shows(self, trees: Sequence[Tree]) -> list[Trial]:
        """Whether the symptom is there, in each of one or two trees: one draw of each, and the others
        where that has it (of a tree that is alone at the same time).
        """
        self.tried += len(trees)
        if len(trees) == 1:
            first, rest = self._run((trees[0], self._first), (trees[0], self._rest))
            return [self._shown(first, *_compared(self._first, first), rest)]
        firsts = self._run(*((tree, self._first) for tree in trees))
        compared = [_compared(self._first, first) for first in firsts]
        alike = [i for i, (_, reason) in enumerate(compared) if not reason]
        rests = dict(zip(alike, self._run(*((trees[i], self._rest) for i in alike)), strict=True))
        return [self._shown(firsts[i], *compared[i], rests.get(i, ())) for i in range(len(trees))]

    def _shown(
        self, first: Sequence[Outcome], met: frozenset[str], reason: Said, rest: Sequence[Outcome]
    ) -> Trial:
        if reason:
            return Trial(False, met, reason, runs=_runs(self._first, first))
        _, reason = _compared(self._rest, rest)
        return Trial(not reason, met, reason)

    def spares(self, tree: Tree, shown: Trial) -> Trial:
        """Whether a candidate that shows the symptom leaves the siblings as they were."""
        siblings = self._siblings(tree)
        likely = [item for item in siblings if id(item) in self._broken_before]
        others = [item for item in siblings if id(item) not in self._broken_before]
        for group in (likely, others):
            for item, outcome in zip(group, self._run((tree, group))[0], strict=True):
                if _unlike(item, outcome):
                    self._broken_before.add(id(item))
                    reason = Message("it also breaks {probe}", probe=item.probe)
                    return Trial(False, shown.met, reason, item.probe)
        return shown

    def _run(self, *asked: tuple[Tree, Sequence[Item]]) -> list[list[Outcome]]:
        """What each tree gives for its items; those that have some at the same time."""
        wanted = [
            (
                tree,
                [item.case for item in items],
                self._wait + SLOWER * sum(i.before.seconds for i in items),
            )
            for tree, items in asked
            if items
        ]
        found = iter(self._measure(wanted) if wanted else [])
        return [next(found) if items else [] for _, items in asked]


def _compared(items: Sequence[Item], outcomes: Sequence[Outcome]) -> tuple[frozenset[str], Said]:
    """The probes whose symptom is there in every regime, and the first that is not."""
    missed: dict[str, Said] = {}
    for item, outcome in zip(items, outcomes, strict=True):
        found = _unlike(item, outcome)
        if found:
            missed.setdefault(
                item.probe,
                Message(
                    "{probe} ({regime}) gave {got} where the bug gives {expected}",
                    probe=item.probe,
                    regime=item.case.draw.regime,
                    got=found.got,
                    expected=found.expected,
                ),
            )
    met = frozenset(item.probe for item in items) - missed.keys()
    return met, next(iter(missed.values()), "")


def _runs(items: Sequence[Item], outcomes: Sequence[Outcome]) -> bool:
    """Whether something ran to its end, and not as it was."""
    return any(
        outcome.raised is None and not outcome.stopped and difference(item.before, outcome)
        for item, outcome in zip(items, outcomes, strict=True)
    )


def _unlike(item: Item, outcome: Outcome) -> Difference | None:
    expected = item.before if item.like == BEFORE else item.case.expected[item.like]
    return difference(expected, outcome, dtype=item.case.draw.dtype, values=item.values)
