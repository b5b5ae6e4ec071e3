"""A curve in braille: two dots a column, four a row, for a terminal that is as narrow as it is."""

from __future__ import annotations

from collections.abc import Sequence

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # row, column -> bit
BLANK = 0x2800


def braille(
    series: Sequence[float], *, width: int, height: int, low: float, high: float
) -> list[str]:
    """The series as `height` lines of `width` characters; values run from `low` to `high`."""
    cells = [[BLANK] * width for _ in range(height)]
    finite = [y for y in series if y == y and abs(y) != float("inf")]
    if not finite or high <= low:
        return ["".join(map(chr, row)) for row in cells]
    columns, rows = 2 * width, 4 * height
    last = max(1, len(series) - 1)
    for x in range(columns):
        y = series[min(len(series) - 1, round(x * last / max(1, columns - 1)))]
        if y != y:
            continue
        place = (min(max(y, low), high) - low) / (high - low)
        row = rows - 1 - round(place * (rows - 1))
        cells[row // 4][x // 2] |= DOTS[row % 4][x % 2]
    return ["".join(map(chr, row)) for row in cells]
