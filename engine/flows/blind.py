"""A blind break: what is told of it, and what must not be."""

from __future__ import annotations

import msgspec

from engine.flows.observe import Observed
from engine.judge.result import Result, Verdict


class BlindReport(msgspec.Struct, frozen=True):
    """`engine break --blind`: the situation, what was measured, and where the practice copy is."""

    exercise: str  # its handle
    title: str
    story: str
    observed: Observed
    practice: str
    notes: str


def without_names(verdict: Verdict) -> Verdict:
    """A verdict on a fix of a blind break: the checks by number alone, as a name or a pattern would say what
    is broken.
    """
    results = enumerate(verdict.results, 1)
    return msgspec.structs.replace(
        verdict, results=tuple(_without_names(result, number) for number, result in results)
    )


def _without_names(result: Result, number: int) -> Result:
    return msgspec.structs.replace(
        result, id=str(number), component="", shows={}, pattern="", regime="", draw=None
    )
