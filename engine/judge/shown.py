"""Recorded values in a few words, as a verdict shows what was expected and what came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.errors import Message, Said

LONGEST = 80  # characters of a text
TOLD_WHOLE = 8  # numbers of a list that is told whole


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as NumPy writes it."""
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def apart(expected: Any, got: Any) -> tuple[Said, Said]:
    """Two numbers that differ, with as many digits as it takes to see it."""
    wanted, given = show(expected), show(got)
    if wanted != given:
        return wanted, given
    many = (Message("{number:.17g}", number=float(number)) for number in (expected, got))
    return next(many), next(many)


def short(items: Sequence[Any]) -> bool:
    """Whether a list of numbers is read faster than told of: a shape, say."""
    return len(items) <= TOLD_WHOLE and all(type(item) in (int, bool) for item in items)


def apart_in_shape(expected: np.ndarray, got: np.ndarray) -> tuple[Said, Said]:
    """Two shapes; of a few integers in a row, the integers."""
    both = expected, got
    if all(a.ndim == 1 and a.size <= TOLD_WHOLE and a.dtype.kind in "iu" for a in both):
        return show({"list": expected.tolist()}), show({"list": got.tolist()})
    return shape_text(expected.shape), shape_text(got.shape)


def in_units(expected: Any, got: Any, unit: float) -> tuple[Said, Said]:
    """A statistic and what it should be, in the learner's own units: bounds as a value and how far it may lie
    from it.
    """
    if not (isinstance(expected, dict) and "within" in expected and isinstance(got, (int, float))):
        return show(expected), show(got)
    low, high = (unit * end for end in expected["within"])
    middle, most = (low + high) / 2, (high - low) / 2
    if most < middle:
        bounds = Message("{value:.4g} (± {share:.2g}%)", value=middle, share=100 * most / middle)
    else:
        bounds = Message("{value:.4g} (± {most:.2g})", value=middle, most=most)
    return bounds, Message("{number:.4g}", number=unit * got)


def quoted(value: Any) -> Said:
    """A recorded value in a few words, a text in quotes."""
    if not isinstance(value, str):
        return show(value)
    return repr(value if len(value) <= LONGEST else value[:LONGEST] + "...")


def show(value: Any) -> Said:
    """A recorded value in a few words; texts in lists stand in quotes."""
    if isinstance(value, np.ndarray) and value.ndim:
        return Message("an array {shape}", shape=shape_text(value.shape))
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item()
    if isinstance(value, float):
        return Message("{number:.6g}", number=value) if value else "0"
    if isinstance(value, dict):
        if "odd" in value:
            return _odd(str(value["odd"]))
        if "list" in value:
            return (
                "[" + ", ".join(str(quoted(item)) for item in value["list"]) + "]"
            )  # as in Python
        if "offered" in value:
            return show(value["offered"])
        if "within" in value:
            low, high = value["within"]
            return Message("between {low:.4g} and {high:.4g}", low=low, high=high)
    return str(value)[:200]


def _odd(text: str) -> Said:
    """What came in the place of a value, as run/child/values.py tells of it."""
    if text.startswith("an object of type "):
        return Message("an object of type {type}", type=text.split()[-1])
    if text.startswith("an array of dtype "):
        return Message("an array of dtype {dtype}", dtype=text.split()[-1])
    if text.startswith("an integer of "):
        return Message("an integer of {bits} bits", bits=text.split()[3])
    return text
