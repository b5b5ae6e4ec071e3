"""What all views share: text that is safe to show, errors, progress."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable
from typing import TextIO

from engine.errors import EngineError, LearnerCodeError
from engine.report.formats import Line
from engine.report.layout import columns, wrapped
from engine.report.words import said

KEPT = "\n\t\u00a0"  # the last one stands between the thousands of a number


def emit_error(error: EngineError, *, as_json: bool) -> None:
    """Say what happened, where, and what to type next."""
    frames = error.frames if isinstance(error, LearnerCodeError) else ()
    if as_json:
        fields = {
            "error": {
                "kind": type(error).__name__,
                "what": error.what,
                "where": error.where,
                "next": error.next,
                "frames": list(frames),
                "exit_code": error.exit_code,
            }
        }
        from engine.report.json_lines import show

        show(fields)
        return
    what, where, next = map(said, error.messages)
    tell(f"engine: {what}", sys.stderr)
    for part in (where, *map(said, frames), next):
        if part:
            tell(part, sys.stderr, indent=2)


def tell(text: str, stream: TextIO, indent: int = 0) -> None:
    """Lines, escaped and wrapped at words to the terminal that the stream writes to."""
    width = columns(stream)
    for line in safe(text).splitlines() or [""]:
        for part in wrapped(line, None if width is None else width - indent):
            stream.write((" " * indent + part if part else "") + "\n")


def safe(text: str) -> str:
    """Text from learners and packs, without what would steer a terminal."""
    return "".join(c if c in KEPT or c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def reflowed(text: str) -> str:
    """Paragraphs as single lines, so that they can be wrapped anew; lists and code stay."""
    lines: list[str] = []
    for line in text.split("\n"):
        joins = lines and lines[-1].strip() and line.strip()
        if joins and not re.match(r" |-|\d+[.)] ", line):
            lines[-1] += " " + line
        else:
            lines.append(line)
    return "\n".join(lines)


def clear_screen() -> None:
    """Where there is one: what comes next begins at the top."""
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        sys.stdout.write("\x1b[2J\x1b[H")


class Progress:
    """Lines about work that takes a while, on standard error, when somebody watches.

    Nothing in the first second, then a line every few seconds at most, each twice as late as the one before.
    """

    FIRST, THEN = 1.0, 3.0  # seconds

    def __init__(self, first: float = FIRST) -> None:
        self._next, self._pause = time.monotonic() + first, self.THEN

    def __call__(self, text: str) -> None:
        if time.monotonic() >= self._next and sys.stderr.isatty():
            self._next, self._pause = time.monotonic() + self._pause, 2 * self._pause
            tell(f"{said(text)} ...", sys.stderr)


def bar(lines: Iterable[Line], total: int) -> Iterable[Line]:
    """The same lines, with a progress bar on standard error when that is a terminal."""
    if not sys.stderr.isatty():
        return lines
    from rich.console import Console
    from rich.progress import track

    return track(lines, "", total, console=Console(stderr=True), transient=True)
