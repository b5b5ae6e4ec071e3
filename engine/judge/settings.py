"""A single number that came where another belongs: a setting, or the next one of a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Tolerance, within
from engine.judge.factors import FEWEST, Pair
from engine.run.types import Outcome


def early(name: str, expected: Outcome, got: Outcome, tolerance: Tolerance) -> Said:
    """Numbers that were recorded in a row, of which each is what is expected of the next."""
    row = [one for one, value in expected.values.items() if isinstance(value, float)]
    if name not in row or any(not isinstance(got.values.get(one), float) for one in row):
        return ""
    wanted, given = (np.array([one.values[key] for key in row]) for one in (expected, got))
    at = row.index(name)
    for step in (1, -1):
        here = [i for i in (at, at + 1) if 0 <= i + step < len(row) and i < len(row)]
        there = [i + step for i in here]
        if len(here) < 2 or within(wanted[here], wanted[there], tolerance).any():
            continue
        if within(wanted[there], given[here], tolerance).all():
            return Message("That is what is expected of {other}.", other=row[at + step])
    return ""


def a_setting(pair: Pair, others: Sequence[float], tolerance: Tolerance) -> Said:
    """A single number that is one of the settings, as it was given. others: all that were recorded."""
    for name, value in pair.known.items():
        if value.ndim or value.dtype.kind != "f" or float(value).is_integer():
            continue
        if within(value, pair.given, tolerance) and not within(pair.wanted, value, tolerance):
            count = sum(bool(within(value, np.asarray(other), tolerance)) for other in others)
            if count < FEWEST:
                return Message("That is {name}, unchanged.", name=name)
            return Message(
                "That is {name}, unchanged, and so are {count} of your {total} results here.",
                name=name, count=count, total=len(others),
            )  # fmt: skip
    return ""
