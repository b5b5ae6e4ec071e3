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
from engine.exam.boundary_values import Nearby
from engine.judge.compare import ASPECTS, Difference, difference
from engine.judge.explain import pattern
from engine.judge.sampling import Plan, Planned
from engine.run.types import CALL_VARIANTS, LATE, SMALL, Case, Outcome
from engine.spec.types import Text

BEFORE, REFERENCE = "before", "reference"


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


def judge_build(plan: Plan, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
    """The learner's code against the reference, check by check; all of them are judged."""
    found = dict(enumerate(outcomes))
    results = [judge_check(planned, cases, found) for planned in plan.checks]
    return _verdict(results, plan, REFERENCE)


def judge_check(planned: Planned, cases: Sequence[Case], outcomes: Mapping[int, Outcome]) -> Result:
    """One check of a build, from the outcomes of its draws."""
    expected = {i: cases[i].expected[""] for i in planned.draws}
    return _result(planned, cases, expected, outcomes)


def judge_fix(
    plan: Plan,
    cases: Sequence[Case],
    before: Sequence[Outcome],
    candidate: Sequence[Outcome],
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

    def nearest(checks: Sequence[Planned], targets: Sequence[str]) -> tuple[list[Result], str]:
        best: list[Result] = []
        chosen = targets[0]
        for target in targets:
            found = [_result(p, cases, _targets(p, cases, before, target), theirs) for p in checks]
            if not best or _failures(found) < _failures(best):
                best, chosen = found, target
            if not _failures(found):
                break
        return best, chosen

    theirs = dict(enumerate(candidate))
    inside = [planned for planned in plan.checks if planned.component in touched]
    targets = (BEFORE,) if restored else (BEFORE, REFERENCE)
    results, chosen = nearest(inside, targets if restored else (*targets, *acceptable))
    others = dict.fromkeys(p.component for p in plan.checks if p.component not in touched)
    for component in others:
        own = [planned for planned in plan.checks if planned.component == component]
        results += nearest(own, targets)[0]
    return _verdict(results, plan, chosen)


def disagreeing(
    verdict: Verdict,
    plan: Plan,
    cases: Sequence[Case],
    before: Sequence[Outcome],
    candidate: Sequence[Outcome],
) -> list[int]:
    """The draws in which some check tells the fixed code from the code before the break.

    verdict: the one by the code before the break alone.
    """
    failed = {(result.component, result.id) for result in verdict.results if not result.passed}
    theirs = dict(enumerate(candidate))
    differing = [
        _differing(planned, cases, _targets(planned, cases, before, BEFORE), theirs)
        for planned in plan.checks
        if (planned.component, planned.check.id) in failed
    ]
    return sorted({i for found in differing for i in found})


def also(
    verdict: Verdict, nearby: Nearby, *, touched: Collection[str], acceptable: Collection[str] = ()
) -> Verdict:
    """A verdict that passed, after further measurements."""
    verdict = msgspec.structs.replace(
        verdict,
        measurements=verdict.measurements + nearby.compared,
        unmeasured=nearby.unmeasured,
    )
    if not nearby.plan.draws:
        return verdict
    more = judge_fix(
        nearby.plan, nearby.cases, nearby.before, nearby.candidate,
        touched=touched, acceptable=acceptable,
    )  # fmt: skip
    if more.passed:
        return verdict
    failing = {(r.component, r.id): r for r in more.results if not r.passed}
    results = [failing.pop((r.component, r.id), r) for r in verdict.results]
    results += failing.values()  # of checks that had no ordinary draw
    return msgspec.structs.replace(
        verdict, passed=False, results=tuple(results), target=more.target
    )


def healthy(plan: Plan, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> tuple[Result, ...]:
    """The checks of a plan that fail against the reference."""
    return tuple(r for r in judge_build(plan, cases, outcomes).results if not r.passed)


def _failures(results: Sequence[Result]) -> int:
    return sum(not result.passed for result in results)


def _targets(
    planned: Planned, cases: Sequence[Case], before: Sequence[Outcome], target: str
) -> Mapping[int, Outcome]:
    if target == BEFORE:
        return {
            i: _bounded(_as_promised(before[i], cases[i].expected.get("")), cases[i])
            for i in planned.draws
        }
    name = "" if target == REFERENCE else target
    return {i: cases[i].expected.get(name, cases[i].expected[""]) for i in planned.draws}


def _as_promised(before: Outcome, reference: Outcome | None) -> Outcome:
    """The learner's own outcome; an error must go on naming what the contract wants named."""
    if before.raised is None or reference is None or reference.raised is None:
        return before
    if difference(reference, before, aspects=("raised",)) is not None:
        return before
    raised = msgspec.structs.replace(reference.raised, type=reference.raised.type)
    return msgspec.structs.replace(before, raised=raised)


def _bounded(before: Outcome, case: Case) -> Outcome:
    """The learner's own outcome, where a statistic that lies within its bounds stands for those: another
    sample of the same distribution is as it was, and which bound it leaves tells what is wrong.
    """
    reference = case.expected.get("")
    if reference is None:
        return before
    bounds = {
        name: value
        for name, value in reference.values.items()
        if isinstance(value, dict) and "within" in value and name in before.values
    }
    kept = {
        name: bound
        for name, bound in bounds.items()
        if difference(Outcome(values={name: bound}), Outcome(values={name: before.values[name]}))
        is None
    }
    return msgspec.structs.replace(before, values={**before.values, **kept}) if kept else before


def _result(
    planned: Planned,
    cases: Sequence[Case],
    expected: Mapping[int, Outcome],
    outcomes: Mapping[int, Outcome],
) -> Result:
    check = planned.check
    differing = _differing(planned, cases, expected, outcomes)
    if not differing:
        return Result(check.id, planned.component, check.shows, True, len(planned.draws))
    some = len(differing) < len(planned.draws)  # then the call variant may be what matters
    told = min(differing, key=lambda i: some and bool(cases[i].draw.call_variant))
    raised = outcomes[told].raised
    frames = raised.frames if raised else ()
    return Result(
        check.id,
        planned.component,
        check.shows,
        False,
        len(planned.draws),
        cases[told].draw.regime,
        shapes(cases[told], call_variant=some),
        differing[told],
        pattern(differing[told], expected[told], outcomes[told]),
        tuple(f"{f.path}:{f.line} in {f.function}: {f.text}" for f in frames),
    )


def _differing(
    planned: Planned,
    cases: Sequence[Case],
    expected: Mapping[int, Outcome],
    outcomes: Mapping[int, Outcome],
) -> dict[int, Difference]:
    """The first difference in each draw that has one."""
    check = planned.check
    found = {
        i: difference(
            expected[i],
            outcomes[i],
            dtype=cases[i].draw.dtype,
            values=check.values,
            aspects=check.aspects or ASPECTS,
            times=check.rounding.get(cases[i].draw.dtype, {}).get(cases[i].draw.regime, 1.0),
        )
        for i in planned.draws
    }
    return {i: one for i, one in found.items() if one is not None}


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
