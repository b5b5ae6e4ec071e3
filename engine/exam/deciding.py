"""Which differences found by an attack count: none that rounding explains."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.exam.boundary_values import (
    apart,
    decides,
    only,
    plainly,
    rounded,
    steady,
    too_large,
    with_reference,
)
from engine.judge.measured import Extra, Measured
from engine.judge.sampling import Plan
from engine.run.types import UNRUN, Case, Outcome


class Pair(msgspec.Struct, frozen=True):
    """A case, with what the code that is right gave, and what the candidate did."""

    case: Case
    healthy: Outcome
    candidate: Outcome


def extra_of(
    made: Plan, decided: Sequence[Pair], compared: int, outcomes: Sequence[Outcome]
) -> Extra:
    differing = Measured(
        made.only({pair.case.draw for pair in decided}),
        {pair.case.draw: pair.case for pair in decided},
        {pair.case.draw: pair.candidate for pair in decided},
        {pair.case.draw: pair.healthy for pair in decided},
    )
    return Extra(differing, compared, sum(map(too_large, outcomes)))


def reference_of(case: Case) -> Outcome:
    return case.expected.get("", Outcome(stopped=UNRUN))


def decided_by(
    asked: Sequence[Pair],
    moved: Sequence[Outcome],
    again: Sequence[Outcome],
    *,
    dtype: str,
    coarse: str,
) -> list[Pair]:
    """Those in which a difference counts.

    moved: what the right code gives for inputs a hundred roundings away. again: what the candidate gives
    for all cases once more, then for the moved ones.
    """
    same, shaken = again[: len(asked)], again[len(asked) :]
    decided = []
    for pair, ours, one, other in zip(asked, moved, same, shaken, strict=True):
        names = steady(pair.healthy, ours, dtype)
        case, right, gave = pair.case, only(pair.healthy, names), only(pair.candidate, names)
        if names < pair.healthy.values.keys():
            if not apart(right, gave, dtype):
                continue
            ours = only(ours, names)
            told = {name: only(outcome, names) for name, outcome in case.expected.items()}
            case = msgspec.structs.replace(case, expected=told)
        if decides(case, right, ours, gave, coarse) and (
            plainly(case, right, gave, coarse) or not rounded(right, gave, one, other, dtype=dtype)
        ):
            decided.append(Pair(with_reference(case, right), right, gave))
    return decided
