"""Recorded values in a few words, as a verdict shows what was expected and what came."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.errors import Message, Said

LONGEST = 80  # characters of a text


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as NumPy writes it."""
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def apart(expected: Any, got: Any) -> tuple[Said, Said]:
    """Two numbers that differ, with as many digits as it takes to see it."""
    wanted, given = show(expected), show(got)
    if wanted != given:
        return wanted, given
    return f"{float(expected):.17g}", f"{float(got):.17g}"


def in_units(expected: Any, got: Any, unit: float) -> tuple[Said, Said]:
    """A statistic and what it should be, in the learner's own units: bounds as a value and how far it may lie
    from it.
    """
    if not (isinstance(expected, dict) and "within" in expected and isinstance(got, (int, float))):
        return show(expected), show(got)
    low, high = (unit * end for end in expected["within"])
    middle, most = (low + high) / 2, (high - low) / 2
    if most < middle:
        share = f"{100 * most / middle:.2g}%"
        return Message(
            "{value} (± {share})", value=f"{middle:.4g}", share=share
        ), f"{unit * got:.4g}"
    return Message(
        "{value} (± {most})", value=f"{middle:.4g}", most=f"{most:.2g}"
    ), f"{unit * got:.4g}"


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
        return f"{value:.6g}" if value else "0"
    if isinstance(value, dict):
        if "odd" in value:
            return str(value["odd"])
        if "list" in value:
            return "[" + ", ".join(str(quoted(item)) for item in value["list"]) + "]"
        if "offered" in value:
            return show(value["offered"])
        if "within" in value:
            low, high = (f"{end:.4g}" for end in value["within"])
            return Message("between {low} and {high}", low=low, high=high)
    return str(value)[:200]
