"""What the commands share: options, the learner they are about, and reports on their way out."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
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

All = Annotated[bool, typer.Option("--all", help="Every failing check in full.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Regimes, seeds and hashes as well.")
]
Who = Annotated[str | None, typer.Option("--learner", metavar="NAME", help="Which learner.")]
Exercise = Annotated[str, typer.Argument(metavar="ID", help="An exercise; `engine list` has them.")]
MaybeExercise = Annotated[str | None, typer.Argument(metavar="[ID]", help="An exercise.")]
Answers = Annotated[
    Path | None, typer.Option("--answers", metavar="FILE", help="Answers in YAML or JSON.")
]


def emit(report: Any, as_json: bool) -> None:
    """Show a report, or print it as JSON."""
    from engine.report.formats import emit as out

    out(report, as_json=as_json)


def show_more(everything: bool, verbose: bool) -> None:
    """How much of a verdict is shown."""
    from engine.report import detail

    detail.want(all=everything, verbose=verbose)


def session_of(name: str | None) -> Any:
    """The learner of this folder, or the one of this name. Raises UsageError."""
    from engine.commands.session import Session
    from engine.report.words import speak

    session = Session.here(name)
    speak(session.learner.lang)
    if not session.learner.private.is_dir():
        _say_what_is_missing()
    return session


def _say_what_is_missing() -> None:
    """A folder that was committed and cloned has no .engine, which git was told to ignore."""
    from engine.report.out import tell
    from engine.report.words import words

    told = words(
        "This folder has no .engine, where your progress is kept: it was copied or cloned without it. So "
        "every exercise counts as new. Copy .engine from the folder that you worked in."
    )
    tell(f"engine: {told}", sys.stderr)


def maybe_session(name: str | None) -> Any:
    """The learner where there is one; reading needs none."""
    from engine.errors import UsageError

    try:
        return session_of(name)
    except UsageError:
        if name is not None:
            raise
        return None


def level_of(strictness: Strictness) -> Level:
    """The level of that name. What level exam needs is imported only for that."""
    if strictness == Strictness.practice:
        from engine.judge.level import PRACTICE

        return PRACTICE
    from engine.exam.level import LEVELS

    return LEVELS[strictness]
