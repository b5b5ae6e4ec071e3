"""What the commands share: options, the learner they are about, and reports on their way out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]

Who = Annotated[str | None, typer.Option("--learner", metavar="NAME", help="Which learner.")]
Exercise = Annotated[str, typer.Argument(metavar="ID", help="An exercise; `engine list` has them.")]
MaybeExercise = Annotated[str | None, typer.Argument(metavar="[ID]", help="An exercise.")]
Answers = Annotated[
    Path | None, typer.Option("--answers", metavar="FILE", help="Answers in YAML or JSON.")
]


def emit(report: Any, as_json: bool) -> None:
    """Show a report, or print it as JSON."""
    from engine.report.out import emit as out

    out(report, as_json=as_json)


def session_of(name: str | None) -> Any:
    """The learner of this folder, or the one of this name. Raises UsageError."""
    from engine.commands.session import Session

    return Session.here(name)


def maybe_session(name: str | None) -> Any:
    """The learner where there is one; reading needs none."""
    from engine.errors import UsageError

    try:
        return session_of(name)
    except UsageError:
        if name is not None:
            raise
        return None
