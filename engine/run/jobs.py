"""Probes to run on a tree, as the parent hands them to a server."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.run.types import Case, Draw, Values

BEYOND = 2  # calls more than a number that the code under test mentions


class Job(msgspec.Struct, frozen=True):
    """One probe to run on a tree."""

    component: str
    probe: str
    inputs: Values
    seed: int = 0
    call_variant: str = ""  # see types.Draw
    caller: str = (
        ""  # the name of the module that calls, in the call variant "inside"; "": one by turns
    )
    repeats: int = (
        0  # calls before the one that counts, in the call variant "late"; 0: as many as usual
    )
    turn: int = 0  # which mode follows on priming, and what others differ in: see call_variants.How


def repeats_of(draw: Draw) -> int:
    """How often a call is made before the one that counts: a little more often than the number that it
    leans towards, or as often as the draw says; 0 for as often as usual.
    """
    if draw.constraint is None or draw.constraint.kind != "calls":
        return draw.repeats
    return int(draw.constraint.number) + BEYOND


def jobs_of(cases: Sequence[Case]) -> list[Job]:
    """The learner's side of cases: inputs only."""
    return [
        Job(
            case.draw.component,
            case.draw.probe,
            case.inputs,
            case.draw.seed % (1 << 32),
            case.draw.call_variant,
            case.draw.constraint.name if case.draw.constraint else "",
            repeats_of(case.draw),
            case.draw.turn,
        )
        for case in cases
    ]
