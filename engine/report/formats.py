"""The formats in which reports leave: a name, and the module that writes it, loaded when asked for.

A format is one file. `show(report)` writes one report; `judged(lines, about)` writes the verdicts of
`engine dev judge` as they come, where `about` is the exercise that they are about.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Protocol, cast

Line = dict[str, Any]

FORMATS = {
    "text": "engine.report.text",
    "json": "engine.report.json_lines",
    "junit": "engine.report.junit",  # verdicts only
}


class Verdicts(Protocol):
    """A format that verdicts on candidates can leave in."""

    def judged(self, lines: Iterable[Line], about: str) -> None:
        """Write each as it comes, or all of them in the end."""


def emit(report: Any, *, as_json: bool) -> None:
    """Print a report on standard output. rich is loaded only for a person."""
    import_module(FORMATS["json" if as_json else "text"]).show(report)


def verdicts(format: str) -> Verdicts:
    """The format of this name."""
    return cast(Verdicts, import_module(FORMATS[format]))
