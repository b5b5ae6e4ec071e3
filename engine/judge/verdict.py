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
from engine.judge.sampling import Plan, Planned
from engine.run.types import LATE, MANNERS, SMALL, Case, Draw, Outcome
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


class Measured(msgspec.Struct, frozen=True):
    """The draws of a judgement, with what was measured in each.

    cases: the inputs, and the reference's answers as far as it was asked. healthy: what the code before the
    break gave; empty for a build, which has the reference alone.
    """

    plan: Plan
    cases: Mapping[Draw, Case]
    candidate: Mapping[Draw, Outcome]
    healthy: Mapping[Draw, Outcome] = {}

    def only(self, kept: Collection[Draw]) -> Measured:
        """The same with these draws alone."""
        return msgspec.structs.replace(self, plan=self.plan.only(kept))

    def asked(self, cases: Sequence[Case]) -> Measured:
        """The same, with further answers of the reference."""
        more = {case.draw: case for case in cases}
        return msgspec.structs.replace(self, cases={**self.cases, **more})


class Extra(msgspec.Struct, frozen=True):
    """Further measurements: those draws in which the candidate differs and a difference counts.

    compared: how many draws were compared. unmeasured: how many were left, as some code ran out of time,
    memory or stack.
    """

    differing: Measured
    compared: int
    unmeasured: int = 0


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
            _result(one, measured.cases, _targets(one, measured, target), measured.candidate)
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
            planned, measured.cases, _targets(planned, measured, BEFORE), measured.candidate
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


def _targets(planned: Planned, measured: Measured, target: str) -> Mapping[Draw, Outcome]:
    cases, healthy = measured.cases, measured.healthy
    if target == BEFORE:
        return {
            draw: _bounded(_as_promised(healthy[draw], cases[draw].expected.get("")), cases[draw])
            for draw in planned.draws
        }
    name = "" if target == REFERENCE else target
    return {
        draw: cases[draw].expected.get(name, cases[draw].expected[""]) for draw in planned.draws
    }


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
    cases: Mapping[Draw, Case],
    expected: Mapping[Draw, Outcome],
    outcomes: Mapping[Draw, Outcome],
) -> Result:
    check = planned.check
    differing = _differing(planned, cases, expected, outcomes)
    if not differing:
        return Result(check.id, planned.component, check.shows, True, len(planned.draws))
    some = len(differing) < len(planned.draws)  # then the manner may be what matters
    told = min(differing, key=lambda draw: some and bool(draw.manner))
    raised = outcomes[told].raised
    frames = raised.frames if raised else ()
    return Result(
        check.id,
        planned.component,
        check.shows,
        False,
        len(planned.draws),
        told.regime,
        shapes(cases[told], manner=some),
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


def shapes(case: Case, *, manner: bool = True) -> str:
    """The input of a case in a few words: names with shapes, and plain values.

    manner: tell how it was given to the code, which is left out where it cannot be what matters.
    """
    parts = []
    for name, value in case.inputs.items():
        if isinstance(value, np.ndarray):
            parts.append(f"{name} {tuple(int(n) for n in value.shape)}")
        elif value is not None:
            parts.append(f"{name} = {value}")
    how, lean = case.draw.manner, case.draw.lean
    asked_for = lean is not None and lean.kind in ("calls", "caller")
    if how and (manner or asked_for):
        after = "after hundreds of calls" if how == LATE else f"after {how}()"
        parts.append(MANNERS.get(how, after))
    if lean is not None:
        steered = {
            "pattern": "numbers in a pattern",
            "settings": "inputs and settings that no regime brings together",
            SMALL: f"a size of {lean.number:.0f}",
        }
        near = "near a number that the change mentions"
        parts.append(steered.get(lean.name) or steered.get(lean.kind, near))
    return ", ".join(parts)


def _verdict(results: Sequence[Result], plan: Plan, target: str) -> Verdict:
    measurements = sum(result.measurements for result in results)
    if not measurements:
        raise EngineError("Nothing was measured, so nothing can be judged.")
    passed = all(result.passed for result in results)
    return Verdict(passed, tuple(results), measurements, str(plan.seed), target)
