"""What every text report is written with: paragraphs, headings, code, tables, on rich."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from engine.report.layout import CODE, aligned, columns, wrapped
from engine.report.out import reflowed, safe


def console() -> Console:
    """Standard output, as wide and as colourful as it is; what is no terminal has no width."""
    width = columns(sys.stdout)
    return Console(highlight=False, emoji=False, width=width, height=25, soft_wrap=width is None)


def width_of(out: Console) -> int | None:
    """The columns of a terminal; None where there is none, as nothing is wrapped there."""
    return None if out.soft_wrap else out.width


def put(out: Console, text: str | Text, style: str = "") -> None:
    """A line as it is."""
    out.print(text if isinstance(text, Text) else Text(text, style), soft_wrap=True)


def say(out: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Paragraphs, escaped and wrapped at words to the terminal."""
    width = width_of(out)
    for paragraph in reflowed(safe(text)).split("\n"):
        for part in wrapped(paragraph, None if width is None else width - indent):
            put(out, " " * indent + part if part else "", style)


def marked(out: Console, mark: tuple[str, str], text: str) -> None:
    """A paragraph with a mark before it, (text, style); what is wrapped stands below the paragraph."""
    room = len(mark[0])
    width = width_of(out)
    first, *rest = wrapped(safe(text), None if width is None else width - room)
    put(out, Text.assemble(mark, first))
    for part in rest:
        put(out, " " * room + part)


def section(out: Console, title: str) -> None:
    """A heading with an empty line before it."""
    out.print()
    say(out, title, "bold")


def code(out: Console, text: str, indent: int = 2) -> None:
    """Lines of code or of a diff: wrapped only where a terminal is too narrow for them."""
    width = width_of(out)
    for row in safe(text).splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(row[:1], "")
        for part in wrapped(row, None if width is None else width - indent, CODE):
            put(out, " " * indent + part if part else "", style)


def table(
    out: Console, head: Sequence[str], rows: Sequence[Sequence[str | Text]], *, indent: int = 2
) -> None:
    """Rows in columns below their heads; one below the other where a terminal is too narrow for that.
    A cell's style is that of its Text.
    """
    width = width_of(out)
    texts = [[safe(str(cell)) for cell in row] for row in (head, *rows)]
    styles = [["dim"] * len(head)]
    styles += [[str(cell.style) if isinstance(cell, Text) else "" for cell in row] for row in rows]
    found = aligned(texts, None if width is None else width - indent)
    if found is None:
        for row in texts:
            say(out, ", ".join(cell for cell in row if cell), indent=indent)
        return
    for number, parts in found:
        shown = zip(parts, styles[number], strict=True)
        put(out, Text.assemble(" " * indent, *shown))
