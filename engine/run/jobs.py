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
    caller: str = ""  # in "inside", the name of the module that calls; "": one by turns
    repeats: int = 0  # in "late", calls before the one that counts; 0: as many as usual
    turn: int = 0  # how many came in this variant before: see child/calls.CallVariant


def repeats_of(draw: Draw) -> int:
    """How often a call is made before the one that counts: a little more often than the number that it
    comes near, or as often as the draw says; 0 for as often as usual.
    """
    if draw.constraint is None or draw.constraint.kind != "calls":
        return draw.repeats
    return int(draw.constraint.number) + BEYOND


def caller_of(draw: Draw) -> str:
    """The name of the module that calls, where the draw says one."""
    if draw.constraint is None or draw.constraint.kind != "caller":
        return ""
    return draw.constraint.name


def jobs_of(cases: Sequence[Case]) -> list[Job]:
    """The learner's side of cases: inputs only."""
    return [
        Job(
            case.draw.component,
            case.draw.probe,
            case.inputs,
            case.draw.seed % (1 << 32),
            case.draw.call_variant,
            caller_of(case.draw),
            repeats_of(case.draw),
            case.draw.turn,
        )
        for case in cases
    ]
