"""The input of a measurement in a few words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.errors import Message, Said
from engine.judge.shown import quoted, shape_text
from engine.run.types import CALL_VARIANTS, LATE, SMALL, Case


def shapes(case: Case, *, call_variant: bool = True) -> Said:
    """The input of a case in a few words: names with shapes, and plain values.

    call_variant: tell how it was given to the code, which is left out where it cannot be what matters.
    """
    parts = []
    for name, value in case.inputs.items():
        if isinstance(value, np.ndarray):
            parts.append(f"{name} {shape_text(value.shape)}")
        elif value is not None:
            parts.append(f"{name} = {quoted(value)}")
    told: Said = ", ".join(parts)
    for how in _how(case, call_variant):
        told = Message("{inputs}, {how}", inputs=told, how=how)
    return told


def _how(case: Case, call_variant: bool) -> Iterator[Said]:
    """How the input was given to the code, and what it was steered to."""
    how, constraint = case.draw.call_variant, case.draw.constraint
    asked_for = constraint is not None and constraint.kind in ("calls", "caller")
    if how and (call_variant or asked_for):
        yield CALL_VARIANTS.get(how) or (
            Message("after hundreds of calls")
            if how == LATE
            else Message("after {mode}()", mode=how)
        )
    if constraint is None:
        return
    if constraint.name == SMALL:
        yield Message("a size of {size:.0f}", size=constraint.number)
    elif constraint.kind == "pattern":
        yield Message("numbers in a pattern")
    elif constraint.kind == "settings":
        yield Message("inputs and settings that no regime brings together")
    else:
        yield Message("near a number that the change mentions")
