"""What every text report is written with: paragraphs, headings, code, tables, on rich."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from engine.report.out import reflowed, safe


def console() -> Console:
    """Standard output, as wide and as colourful as it is."""
    return Console(highlight=False, soft_wrap=False, emoji=False)


def say(out: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Paragraphs, escaped and wrapped to the terminal."""
    shown = Text(safe(reflowed(text)), style=style)
    out.print(Padding(shown, (0, 0, 0, indent), expand=False))


def section(out: Console, title: str) -> None:
    """A heading with an empty line before it."""
    out.print()
    out.print(Text(safe(title), style="bold"))


def code(out: Console, text: str, indent: int = 2) -> None:
    """Lines that must not be wrapped at words."""
    for line in safe(text).splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        out.print(Text(" " * indent + line, style=style, no_wrap=False, overflow="fold"))


def table(*columns: str) -> Table:
    """A table without lines."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(Text(column, style="dim"), overflow="fold")
    return made
