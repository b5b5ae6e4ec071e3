"""What a fix is held against: the learner's own code before the break, the reference, or a variant of it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine.judge.compare import difference
from engine.judge.measured import Measured
from engine.judge.sampling import Planned
from engine.run.types import Case, Draw, Outcome

BEFORE, REFERENCE = "before", "reference"


def target_outcomes(planned: Planned, measured: Measured, target: str) -> Mapping[Draw, Outcome]:
    """What each draw of a check must give for this target: BEFORE, REFERENCE, or a variant's name."""
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
