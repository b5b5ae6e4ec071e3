"""What is decided, before anything is told: which draws differ from which target.

To say how values differ takes far longer than to see that they do, and a wrong fix is held against several
targets; so only what is told in the end is explained (verdict.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from engine.judge.compare import ASPECTS, Difference, difference
from engine.judge.measured import Measured
from engine.judge.sampling import Planned
from engine.judge.targets import BEFORE, REFERENCE, target_outcomes
from engine.run.types import Case, Draw, Outcome


class Compared(NamedTuple):
    """A check, what it expects of each draw, and the first difference in each draw that has one."""

    planned: Planned
    expected: Mapping[Draw, Outcome]
    differing: dict[Draw, Difference]


def compared(
    planned: Planned,
    cases: Mapping[Draw, Case],
    expected: Mapping[Draw, Outcome],
    outcomes: Mapping[Draw, Outcome],
) -> Compared:
    """A check with its draws compared."""
    return Compared(planned, expected, _differing(planned, cases, expected, outcomes))


class Decided(NamedTuple):
    """The checks of a fix by the target that it is nearest to."""

    checks: list[Compared]
    target: str

    @property
    def failures(self) -> int:
        """How many checks fail."""
        return _failing(self.checks)

    @property
    def failing(self) -> set[str]:
        """The components of which one fails."""
        return {one.planned.component for one in self.checks if one.differing}

    @property
    def differing(self) -> set[Draw]:
        """The draws in which some check tells the fixed code from the target."""
        return {draw for one in self.checks for draw in one.differing}


def decide(
    measured: Measured,
    *,
    touched: Collection[str],
    acceptable: Collection[str] = (),
    restored: bool = False,
) -> Decided:
    """The target that the fixed code is nearest to; arguments as in `verdict.judge_fix`."""
    plan = measured.plan
    inside = [planned for planned in plan.checks if planned.component in touched]
    targets = (BEFORE,) if restored else (BEFORE, REFERENCE)
    chosen = _nearest(inside, measured, targets if restored else (*targets, *acceptable))
    checks = chosen.checks
    for component in dict.fromkeys(p.component for p in plan.checks if p.component not in touched):
        own = [planned for planned in plan.checks if planned.component == component]
        checks = checks + _nearest(own, measured, targets).checks
    return Decided(checks, chosen.target)


def _nearest(checks: Sequence[Planned], measured: Measured, targets: Sequence[str]) -> Decided:
    """The checks by the target with the fewest failures, the earlier one where there are as many."""
    best = Decided([], targets[0])
    for target in targets:
        found = [
            compared(
                one, measured.cases, target_outcomes(one, measured, target), measured.candidate
            )
            for one in checks
        ]
        if not best.checks or _failing(found) < best.failures:
            best = Decided(found, target)
        if not _failing(found):
            break
    return best


def _failing(found: Sequence[Compared]) -> int:
    return sum(bool(one.differing) for one in found)


def _differing(
    planned: Planned,
    cases: Mapping[Draw, Case],
    expected: Mapping[Draw, Outcome],
    outcomes: Mapping[Draw, Outcome],
) -> dict[Draw, Difference]:
    """The first difference in each draw that has one."""
    check = planned.check
    found = {
        draw: difference(
            expected[draw],
            outcomes[draw],
            dtype=draw.dtype,
            values=check.values,
            aspects=check.aspects or ASPECTS,
            times=check.rounding.get(draw.dtype, {}).get(draw.regime, 1.0),
        )
        for draw in planned.draws
    }
    return {draw: one for draw, one in found.items() if one is not None}
