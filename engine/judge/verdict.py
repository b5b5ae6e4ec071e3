"""Verdicts: a build against the reference, a fix against one whole target.

A fix is right when every measurement of the parts that the break may touch agrees with the learner's
own code before the break, or with the reference, or with a variant that the spec accepts: one of
them throughout, never a mixture. Every other component must be as it was, or as the reference is.

What the contract leaves open is not among the measurements, or is measured against the learner's
own choice, so each reading of it agrees with the reference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from engine.errors import EngineError, Message, Said
from engine.judge.compare import AGAIN_DIFFERS, Difference, difference
from engine.judge.decide import Compared, Decided, compared, decide
from engine.judge.explain import telling, weak
from engine.judge.inputs import shapes
from engine.judge.measured import Extra, Measured
from engine.judge.result import Result, Verdict
from engine.judge.sampling import USUAL_REGIME as USUAL
from engine.judge.sampling import Plan, Planned
from engine.judge.shown import in_units
from engine.judge.targets import REFERENCE
from engine.run.types import Case, Draw, Outcome
from engine.spec.types import Check

TRIED = 12  # regimes of a failed check in which a telling pattern is looked for


def judge_build(measured: Measured) -> Verdict:
    """The learner's code against the reference, check by check; all of them are judged."""
    found = [
        compared(one, measured.cases, _references(one, measured.cases), measured.candidate)
        for one in measured.plan.checks
    ]
    results = _results(found, measured.cases, measured.candidate)
    return _verdict(results, measured.plan, REFERENCE)


def judge_check(
    planned: Planned, cases: Mapping[Draw, Case], outcomes: Mapping[Draw, Outcome]
) -> Result:
    """One check of a build, from the outcomes of its draws."""
    return _result(compared(planned, cases, _references(planned, cases), outcomes), cases, outcomes)


def _references(planned: Planned, cases: Mapping[Draw, Case]) -> Mapping[Draw, Outcome]:
    """What the reference gives in each draw of a check."""
    return {draw: cases[draw].expected[""] for draw in planned.draws}


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
    decided = decide(measured, touched=touched, acceptable=acceptable, restored=restored)
    return explained(decided, measured)


def explained(decided: Decided, measured: Measured) -> Verdict:
    """The verdict that was decided, with what its failing checks have to tell."""
    results = _results(decided.checks, measured.cases, measured.candidate)
    return _verdict(results, measured.plan, decided.target)


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


def told_again(verdict: Verdict, repeated: Sequence[Outcome]) -> Verdict:
    """The verdict; where equal measurements (`repeated`) differ, the first failing check is told as that."""
    first = verdict.failing
    if first is None or first.draw is None or not repeated:
        return verdict
    if any(one.stopped or one.raised for one in repeated):
        return verdict
    one, *others = repeated
    if all(difference(one, other, dtype=first.draw.dtype) is None for other in others):
        return verdict
    again = msgspec.structs.replace(first, difference=AGAIN_DIFFERS, pattern="")
    results = tuple(again if result is first else result for result in verdict.results)
    return msgspec.structs.replace(verdict, results=results)


def _results(
    found: Sequence[Compared], cases: Mapping[Draw, Case], outcomes: Mapping[Draw, Outcome]
) -> list[Result]:
    """Each check; a telling pattern is looked for in all regimes of the first that fails of a component."""
    seen: set[str] = set()
    results = []
    for one in found:
        component = one.planned.component
        results.append(_result(one, cases, outcomes, tried=1 if component in seen else TRIED))
        if one.differing:
            seen.add(component)
    return results


def _result(
    found: Compared,
    cases: Mapping[Draw, Case],
    outcomes: Mapping[Draw, Outcome],
    tried: int = TRIED,
) -> Result:
    planned, expected, differing = found
    check = planned.check
    held = Result(
        check.id, planned.component, check.shows, not differing, len(planned.draws), advice=check.advice
    )  # fmt: skip
    if not differing:
        agree = (outcomes[draw] for draw in planned.draws)
        return msgspec.structs.replace(held, unwritten=all(one.unwritten for one in agree))
    some = len(differing) < len(planned.draws)  # then the call_variant may be what matters
    told, what = _told(found, cases, outcomes, some, tried)
    outcome = outcomes[told]
    frames = outcome.raised.frames if outcome.raised else outcome.running
    return msgspec.structs.replace(
        held,
        regime=told.regime,
        inputs=shapes(cases[told], call_variant=some),
        difference=_in_units(differing[told], check, expected[told], outcome),
        pattern=what,
        traceback=tuple(frame.told for frame in frames),
        frames=frames,
        output=outcome.output,
        draw=told,
    )


def _told(
    found: Compared,
    cases: Mapping[Draw, Case],
    outcomes: Mapping[Draw, Outcome],
    some: bool,
    tried: int,
) -> tuple[Draw, Said]:
    """The simplest measurement that differs, or of so many regimes (`tried`) in which the same value does the
    first in which something tells what is wrong; and what is systematic about it.
    """
    order = sorted(found.differing, key=lambda draw: _strangeness(draw, some))
    first = found.differing[order[0]]
    by_regime: dict[str, Draw] = {}
    for draw in order:
        one = found.differing[draw]
        if (one.aspect, one.value) == (first.aspect, first.value):
            by_regime.setdefault(draw.regime, draw)
    alike = [*by_regime.values()][:tried]
    seen = [(found.expected[draw], outcomes[draw], _known(cases[draw])) for draw in alike]
    for i, draw in enumerate(alike):
        rest = [*seen[i:], *seen[:i]]
        what = telling(found.differing[draw], rest, draw.dtype)
        if what:
            return draw, what
    expected, got, known = seen[0]
    return order[0], weak(first, expected, got, order[0].dtype, known)


def _known(case: Case) -> Mapping[str, Any]:
    """What is known of a measurement beside its results: the inputs, and what the reference names."""
    given = {name: value for name, value in case.inputs.items() if value is not None}
    return {**given, **{name: value for name, value in case.named.items() if name not in given}}


def _in_units(found: Difference, check: Check, expected: Outcome, got: Outcome) -> Difference:
    """The difference in the units that the check declares for its value."""
    unit = check.units.get(found.value)
    if unit is None or found.value not in got.values:
        return found
    told = in_units(expected.values[found.value], got.values[found.value], unit)
    return msgspec.structs.replace(found, expected=told[0], got=told[1])


def _strangeness(draw: Draw, some: bool) -> tuple[bool, bool, bool]:
    """The simplest measurement is told: the usual regime, called as one calls it; some: whether not all
    differ, so that the call variant may be what matters.
    """
    return some and bool(draw.call_variant), draw.constraint is not None, draw.regime != USUAL


def _verdict(results: Sequence[Result], plan: Plan, target: str) -> Verdict:
    count = sum(result.measurements for result in results)
    if not count:
        raise EngineError(Message("Nothing was measured, so nothing can be judged."))
    return Verdict(
        all(r.passed or r.advice for r in results), tuple(results), count, str(plan.seed), target
    )
