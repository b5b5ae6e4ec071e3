"""Verdicts: a build against the reference, a fix against one whole target.

A fix is right when every measurement of the parts that the break may touch agrees with the learner's
own code before the break, or with the reference, or with a variant that the spec accepts: one of
them throughout, never a mixture. Every other component must be as it was, or as the reference is.

What the contract leaves open is not among the measurements, or is measured against the learner's
own choice, so each reading of it agrees with the reference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np

from engine.errors import EngineError
from engine.judge.compare import ASPECTS, Difference, difference
from engine.judge.explain import pattern
from engine.judge.measured import Extra, Measured
from engine.judge.sampling import Plan, Planned
from engine.judge.targets import BEFORE, REFERENCE, target_outcomes
from engine.run.types import CALL_VARIANTS, LATE, SMALL, Case, Draw, Outcome
from engine.spec.types import Text


class Result(msgspec.Struct, frozen=True):
    """One check: did it hold, over how many measurements, and the first that differs."""

    id: str
    component: str
    shows: Text
    passed: bool
    measurements: int
    regime: str = ""
    inputs: str = ""
    difference: Difference | None = None
    pattern: str = ""
    traceback: tuple[str, ...] = ()


class Verdict(msgspec.Struct, frozen=True):
    """What was judged. `measurements` is never 0. `seed` repeats it, for authors. `unmeasured`: further
    inputs that decided nothing, as some code ran out of time, memory or stack.
    """

    passed: bool
    results: tuple[Result, ...]
    measurements: int
    seed: str
    target: str = REFERENCE
    unmeasured: int = 0

    @property
    def failures(self) -> int:
        """How many checks failed."""
        return _failures(self.results)

    @property
    def failing(self) -> Result | None:
        """The first check that failed, in the order that teaches."""
        return next((result for result in self.results if not result.passed), None)


def judge_build(measured: Measured) -> Verdict:
    """The learner's code against the reference, check by check; all of them are judged."""
    results = [judge_check(one, measured.cases, measured.candidate) for one in measured.plan.checks]
    return _verdict(results, measured.plan, REFERENCE)


def judge_check(
    planned: Planned, cases: Mapping[Draw, Case], outcomes: Mapping[Draw, Outcome]
) -> Result:
    """One check of a build, from the outcomes of its draws."""
    expected = {draw: cases[draw].expected[""] for draw in planned.draws}
    return _result(planned, cases, expected, outcomes)


def judge_fix(
    measured: Measured,
    *,
    touched: Collection[str],
    acceptable: Collection[str] = (),
    restored: bool = False,
) -> Verdict:
    """The fixed code against one target.

    touched: the broken component and those that use it; each of the others is measured by itself.
    acceptable: variants of the reference that count as right. restored: the code before the break
    is the only target; the reference is then needed only where that code raised.
    """
    plan = measured.plan
    inside = [planned for planned in plan.checks if planned.component in touched]
    targets = (BEFORE,) if restored else (BEFORE, REFERENCE)
    results, chosen = _nearest(inside, measured, targets if restored else (*targets, *acceptable))
    others = dict.fromkeys(p.component for p in plan.checks if p.component not in touched)
    for component in others:
        own = [planned for planned in plan.checks if planned.component == component]
        results += _nearest(own, measured, targets)[0]
    return _verdict(results, plan, chosen)


def _nearest(
    checks: Sequence[Planned], measured: Measured, targets: Sequence[str]
) -> tuple[list[Result], str]:
    """The results by the target with the fewest failures, the earlier one where there are as many."""
    best: list[Result] = []
    chosen = targets[0]
    for target in targets:
        found = [
            _result(one, measured.cases, target_outcomes(one, measured, target), measured.candidate)
            for one in checks
        ]
        if not best or _failures(found) < _failures(best):
            best, chosen = found, target
        if not _failures(found):
            break
    return best, chosen


def disagreeing(verdict: Verdict, measured: Measured) -> list[Draw]:
    """The draws in which some check tells the fixed code from the code before the break.

    verdict: the one by the code before the break alone.
    """
    failed = {(result.component, result.id) for result in verdict.results if not result.passed}
    differing = {
        draw
        for planned in measured.plan.checks
        if (planned.component, planned.check.id) in failed
        for draw in _differing(
            planned, measured.cases, target_outcomes(planned, measured, BEFORE), measured.candidate
        )
    }
    return [draw for draw in measured.plan.draws if draw in differing]


def with_extra(
    verdict: Verdict, extra: Extra, *, touched: Collection[str], acceptable: Collection[str] = ()
) -> Verdict:
    """A verdict that passed, after further measurements: they may take it back, and never give one."""
    verdict = msgspec.structs.replace(
        verdict,
        measurements=verdict.measurements + extra.compared,
        unmeasured=verdict.unmeasured + extra.unmeasured,
    )
    if not extra.differing.plan.draws:
        return verdict
    more = judge_fix(extra.differing, touched=touched, acceptable=acceptable)
    if more.passed:
        return verdict
    failing = {(r.component, r.id): r for r in more.results if not r.passed}
    results = [failing.pop((r.component, r.id), r) for r in verdict.results]
    results += failing.values()  # of checks that had no ordinary draw
    return msgspec.structs.replace(
        verdict, passed=False, results=tuple(results), target=more.target
    )


def failing_checks(measured: Measured) -> tuple[Result, ...]:
    """The checks of a plan that fail against the reference."""
    return tuple(r for r in judge_build(measured).results if not r.passed)


def _failures(results: Sequence[Result]) -> int:
    return sum(not result.passed for result in results)


def _result(
    planned: Planned,
    cases: Mapping[Draw, Case],
    expected: Mapping[Draw, Outcome],
    outcomes: Mapping[Draw, Outcome],
) -> Result:
    check = planned.check
    differing = _differing(planned, cases, expected, outcomes)
    if not differing:
        return Result(check.id, planned.component, check.shows, True, len(planned.draws))
    some = len(differing) < len(planned.draws)  # then the call_variant may be what matters
    told = min(differing, key=lambda draw: some and bool(draw.call_variant))
    raised = outcomes[told].raised
    frames = raised.frames if raised else ()
    return Result(
        check.id,
        planned.component,
        check.shows,
        False,
        len(planned.draws),
        told.regime,
        shapes(cases[told], call_variant=some),
        differing[told],
        pattern(differing[told], expected[told], outcomes[told]),
        tuple(f"{f.path}:{f.line} in {f.function}: {f.text}" for f in frames),
    )


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


def shapes(case: Case, *, call_variant: bool = True) -> str:
    """The input of a case in a few words: names with shapes, and plain values.

    call_variant: tell how it was given to the code, which is left out where it cannot be what matters.
    """
    parts = []
    for name, value in case.inputs.items():
        if isinstance(value, np.ndarray):
            parts.append(f"{name} {tuple(int(n) for n in value.shape)}")
        elif value is not None:
            parts.append(f"{name} = {value}")
    how, constraint = case.draw.call_variant, case.draw.constraint
    asked_for = constraint is not None and constraint.kind in ("calls", "caller")
    if how and (call_variant or asked_for):
        after = "after hundreds of calls" if how == LATE else f"after {how}()"
        parts.append(CALL_VARIANTS.get(how, after))
    if constraint is not None:
        steered = {
            "pattern": "numbers in a pattern",
            "settings": "inputs and settings that no regime brings together",
            SMALL: f"a size of {constraint.number:.0f}",
        }
        near = "near a number that the change mentions"
        parts.append(steered.get(constraint.name) or steered.get(constraint.kind, near))
    return ", ".join(parts)


def _verdict(results: Sequence[Result], plan: Plan, target: str) -> Verdict:
    measurements = sum(result.measurements for result in results)
    if not measurements:
        raise EngineError("Nothing was measured, so nothing can be judged.")
    passed = all(result.passed for result in results)
    return Verdict(passed, tuple(results), measurements, str(plan.seed), target)
