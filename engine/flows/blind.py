"""A blind break: what is told of it, and what must not be."""

from __future__ import annotations

import msgspec

from engine.errors import Message
from engine.flows.observe import Observed
from engine.judge.compare import Difference
from engine.judge.findings import told_in_order
from engine.judge.result import FACT, Result, Verdict


class BlindReport(msgspec.Struct, frozen=True):
    """`engine break --blind`: the situation, what was measured, and where the practice copy is."""

    exercise: str  # its handle
    title: str
    story: str
    observed: Observed
    practice: str
    notes: str


ELSEWISE = Difference(
    "value", Message("what is measured of your code"), Message("as it was before the break"),
    Message("something else"),
)  # fmt: skip


def without_names(verdict: Verdict) -> Verdict:
    """A verdict on a fix of a blind break: the checks by number alone, as a name or a pattern would say what
    is broken. Failing ones come in the order in which their names would have put them.
    """
    numbers = {id(result): number for number, result in enumerate(verdict.results, 1)}
    failing = told_in_order(verdict.results)
    ordered = (*failing, *(one for one in verdict.results if one.passed))
    return msgspec.structs.replace(
        verdict, results=tuple(_without_names(one, numbers[id(one)]) for one in ordered)
    )


def _without_names(result: Result, number: int) -> Result:
    known = result.difference
    if known is not None and result.id.startswith(FACT):  # whose value names the bug
        known = ELSEWISE
    return msgspec.structs.replace(
        result,
        id=str(number),
        component="",
        shows={},
        pattern="",
        regime="",
        draw=None,
        difference=known,
    )
