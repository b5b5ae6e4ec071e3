"""Lines as wide as a terminal is. Without a terminal nothing is wrapped and nothing is padded: what is
piped can be searched, and a command can be copied.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import TextIO

NARROWEST = 20  # columns that are assumed, however narrow a terminal says it is
MARK = re.compile(r"\s*(?:[-*>] |\d+[.)] )?")  # what the lines below an item are indented by
CODE = re.compile(r"[-+]?\s*")  # the same of a line of code, or of a diff
COMMAND = re.compile(r"`[^`\n]+`")
SPREAD = 48  # columns that others are moved right by for a long cell, where there is no terminal
GLUED = "\0"  # a blank that no line is broken at


def columns(stream: TextIO) -> int | None:
    """The columns of the terminal that a stream writes to; None where there is no terminal."""
    if not stream.isatty():
        return None
    given = os.environ.get("COLUMNS", "")
    try:
        found = int(given) if given.isdigit() else os.get_terminal_size(stream.fileno()).columns
    except OSError:
        found = 0
    return max(NARROWEST, found or 80)


def cells(text: str) -> int:
    """The columns that a text takes: two for a character as wide as those of Chinese."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


def wrapped(text: str, width: int | None, mark: re.Pattern[str] = MARK) -> list[str]:
    """A line of text as lines of at most `width` columns, broken at blanks alone, and indented below its
    `mark`. What is wider than a line (a path) stays whole, and so does a command in backticks that fits
    one line.
    """
    if width is None or cells(text) <= width:
        return [text.rstrip()]
    found = mark.match(text)
    head = found[0] if found else ""
    body = text[len(head) :]
    head = head[: width // 2]

    def glued(command: re.Match[str]) -> str:
        fits = cells(command[0]) <= width - cells(head)
        return command[0].replace(" ", GLUED) if fits else command[0]

    lines: list[str] = []
    line, empty = head, True
    for word in filter(None, re.split(r"[ \t]", COMMAND.sub(glued, body))):
        if not empty and cells(line) + 1 + cells(word) > width:
            lines.append(line)
            line, empty = " " * cells(head), True
        line += word if empty else f" {word}"
        empty = False
    return [line.replace(GLUED, " ").rstrip() for line in [*lines, line]]


def aligned(rows: Sequence[Sequence[str]], width: int | None) -> list[tuple[int, list[str]]] | None:
    """Rows as lines of padded cells, each with the number of its row, wrapped within their columns; None
    where `width` columns do not hold the longest words beside each other. The last cell of a line that
    says something is not padded.
    """
    rows = [[cell.replace("\n", " ") for cell in row] for row in rows]
    count = len(rows[0])
    most = SPREAD if width is None else sys.maxsize
    sizes = [max(min(cells(row[i]), most) for row in rows) for i in range(count)]
    if width is not None:
        least = [
            max(cells(word) for row in rows for word in row[i].split() or [""])
            for i in range(count)
        ]
        room = width - 2 * (count - 1)
        if sum(least) > room:
            return None
        while sum(sizes) > room:
            spare = [i for i in range(count) if sizes[i] > least[i]]
            sizes[max(spare, key=lambda i: sizes[i])] -= 1
    lines = []
    for number, row in enumerate(rows):
        inside = [
            wrapped(cell, None if width is None else size)
            for cell, size in zip(row, sizes, strict=True)
        ]
        for i in range(max(map(len, inside))):
            parts = [cell[i] if i < len(cell) else "" for cell in inside]
            last = max((n for n, part in enumerate(parts) if part), default=-1)
            padded = [
                part + " " * max(2, sizes[n] - cells(part) + 2) if n < last else part
                for n, part in enumerate(parts)
            ]
            lines.append((number, padded))
    return lines
