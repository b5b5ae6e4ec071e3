"""The command line of a break that is open, and what belongs to it: declarations, as in `learner.py`."""

# no `from __future__ import annotations`: typer would compile each of them anew, 20 ms

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.options import Answers, Json, MaybeExercise, Who, emit, maybe_session, session_of


def observe(
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="embedding-walkthrough, or tying.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="A sentence of your own, to walk through.")
    ] = None,
    method: Annotated[str, typer.Option(help="The picture's plane: pca, or tsne to save.")] = "pca",
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the picture, .png or .svg.")
    ] = None,
    learner: Who = None,
    json: Json = False,
) -> None:
    """Measure again, healthy beside broken.

    Example: engine observe embedding-walkthrough --text "I love dogs"
    """
    from engine.cli.submissions import observe as observed

    session = session_of(learner)
    emit(observed(session, topic, text=text, method=method, save=save), json)


def diagnose(answers: Answers = None, learner: Who = None, json: Json = False) -> None:
    """Say what the bug of a blind break is, and where.

    Example: engine diagnose
    """
    from engine.cli.blind import diagnosed

    emit(diagnosed(session_of(learner), answers, json), json)


def hint(
    id: MaybeExercise = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All of them, once the exercise is over.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Those that you have seen, and no new one.")
    ] = False,
    learner: Who = None,
    json: Json = False,
) -> None:
    """The next hint, one at a time.

    Example: engine hint
    """
    from engine.commands import hint as command

    emit(command.run(session_of(learner), id, everything=everything, again=again), json)


def run(
    command: Annotated[list[str], typer.Argument(help="Your command, after --.")],
    learner: Who = None,
) -> None:
    """Run a command of yours on the broken code.

    Example: engine run -- python -m pytest tests
    """
    from engine.commands.sources import practice_of, roots_of
    from engine.run.command import run as run_command

    session = session_of(learner)
    practice = practice_of(session)
    roots = roots_of(session)
    raise typer.Exit(run_command(command, Path.cwd(), practice, session.learner.model, roots))


def repro(
    check: Annotated[
        str | None, typer.Argument(metavar="[CHECK]", help="Which; the first that failed.")
    ] = None,
    learner: Who = None,
    json: Json = False,
) -> None:
    """Write the check that failed last as a script.

    Example: engine repro
    """
    from engine.commands import repro as command

    emit(command.run(session_of(learner), check), json)


def reset(
    id: MaybeExercise = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Bring back what was put aside, and open it again.")
    ] = False,
    learner: Who = None,
    json: Json = False,
) -> None:
    """Put the open break aside; the practice copy is saved first.

    Example: engine reset
    """
    from engine.commands import reset as command

    how = command.undo if undo else command.run
    emit(how(session_of(learner), id), json)


def notes(id: MaybeExercise = None, learner: Who = None, json: Json = False) -> None:
    """Your notes on breaks.

    Example: engine notes
    """
    from engine.commands import notes_

    emit(notes_.run(session_of(learner), id), json)


def doctor(learner: Who = None, json: Json = False) -> None:
    """What is installed, what the sandbox can do here, is your code importable.

    Example: engine doctor
    """
    from engine.commands import doctor as command

    report = command.run(maybe_session(learner))
    emit(report, json)
    raise typer.Exit(0 if report.healthy else 1)


def watch(id: MaybeExercise = None, learner: Who = None) -> None:
    """Judge whenever a file is saved; record nothing.

    Example: engine watch embedding
    """
    from engine.commands import watch as command
    from engine.commands.session import Session
    from engine.errors import EngineError
    from engine.flows.reports import WatchReport
    from engine.report.out import clear_screen, emit_error

    session = session_of(learner)
    exercise = command.watched(session, id)

    def tell(report: object) -> None:
        if isinstance(report, EngineError):
            emit_error(report, as_json=False)
            return
        if isinstance(report, WatchReport) and not report.right:
            clear_screen()
        emit(report, False)

    try:
        changes = command.saved(command.folders(session, exercise))
        command.run(lambda: Session(session.learner), exercise, changes, tell)
    except KeyboardInterrupt:  # how it is meant to end
        raise typer.Exit(0) from None
