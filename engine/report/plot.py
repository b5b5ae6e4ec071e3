"""Curves of a few versions in one picture of characters, with axes, for a terminal as narrow as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from engine.report.words import words

DECADES = (
    3  # factors of ten from the smallest to the largest value: from here on a logarithmic axis
)
FEW = 8  # points, up to which a table says more than a picture


class Glyphs(NamedTuple):
    """What a picture is drawn with. marks: of the curves in their order; both: where two meet."""

    marks: str
    both: str
    side: str
    corner: str
    floor: str


UNICODE = Glyphs("•x+", "#", "│", "└", "─")
ASCII = Glyphs("ox+", "#", "|", "+", "-")


def glyphs(encoding: str | None) -> Glyphs:
    """What a stream of this encoding can show."""
    try:
        "".join(UNICODE).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def is_logarithmic(curves: Sequence[Sequence[float]]) -> bool:
    """Whether the values are positive and lie decades apart."""
    values = _finite(curves)
    return bool(values) and min(values) > 0 and max(values) >= 10**DECADES * min(values)


def picture(
    curves: Sequence[Sequence[float]], *, width: int, height: int, drawn_with: Glyphs, along: str
) -> list[str]:
    """The curves over their positions, which are counted from 0, as `height` lines and two of an axis, of
    at most `width` characters. along: what is counted. What is infinite stands at the edge; what is not a
    number is left out.
    """
    values = _finite(curves)
    if not values:
        return []
    log = is_logarithmic(curves)
    low, high = (_scaled(edge(values), log) for edge in (min, max))
    if high <= low:
        low, high = low - 0.5, high + 0.5
    ticks = {
        row: _label(high - (high - low) * row / (height - 1), log)
        for row in (0, height // 2, height - 1)
    }
    margin = max(map(len, ticks.values()))
    columns = max(8, width - margin - 2)
    last = max(1, max(map(len, curves)) - 1)
    grid = [[" "] * columns for _ in range(height)]
    for curve, mark in zip(curves, drawn_with.marks, strict=False):
        for column in range(columns):
            position = round(column * last / (columns - 1))
            if position >= len(curve) or curve[position] != curve[position]:
                continue
            row = _row(curve[position], low, high, height, log)
            free = grid[row][column] in (" ", mark)
            grid[row][column] = mark if free else drawn_with.both
    lines = [
        f"{ticks.get(row, ''):>{margin}} {drawn_with.side}" + "".join(cells)
        for row, cells in enumerate(grid)
    ]
    lines.append(" " * (margin + 1) + drawn_with.corner + drawn_with.floor * columns)
    end = str(last)
    ruler = "0" + along.center(max(0, columns - 1 - len(end))) + end
    lines.append(" " * (margin + 2) + ruler)
    return [line.rstrip() for line in lines]


def _finite(curves: Sequence[Sequence[float]]) -> list[float]:
    return [y for curve in curves for y in curve if math.isfinite(y)]


def _scaled(value: float, log: bool) -> float:
    return math.log10(value) if log else value


def _label(value: float, log: bool) -> str:
    return words("{number:.1e}", number=10**value) if log else words("{number:.4g}", number=value)


def _row(value: float, low: float, high: float, height: int, log: bool) -> int:
    """The line that a value stands on, from the top."""
    if math.isinf(value):
        return 0 if value > 0 else height - 1
    share = (_scaled(value, log) - low) / (high - low)
    return height - 1 - round(min(max(share, 0.0), 1.0) * (height - 1))
