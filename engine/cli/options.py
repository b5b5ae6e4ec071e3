"""What the commands of learners and of authors share: options, and reports on their way out."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from engine.judge.level import Level


class Strictness(StrEnum):
    """How strictly a fix or a build is judged: for your own use, or as graded work."""

    practice = "practice"
    exam = "exam"


How = Annotated[
    Strictness,
    typer.Option("--level", help="practice, or exam for graded work: slower and stricter."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


def emit(report: Any, as_json: bool) -> None:
    """Show a report, or print it as JSON."""
    from engine.report.out import emit as out

    out(report, as_json=as_json)


def level_of(strictness: Strictness) -> Level:
    """The level of that name. What level exam needs is imported only for that."""
    if strictness == Strictness.practice:
        from engine.judge.level import PRACTICE

        return PRACTICE
    from engine.exam.level import LEVELS

    return LEVELS[strictness]
