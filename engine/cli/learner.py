"""The command line of learners: declarations. What is heavier than typer is imported where it is needed."""

# no `from __future__ import annotations`: typer would compile each of them anew, 20 ms

from pathlib import Path
from typing import Annotated

import typer

from engine import __version__
from engine.cli import boundary, practice
from engine.cli.author import dev
from engine.cli.model import check
from engine.cli.options import (
    All,
    Answers,
    Exercise,
    How,
    Json,
    MaybeExercise,
    Strictness,
    Verbose,
    Who,
    emit,
    level_of,
    maybe_session,
    session_of,
    show_more,
)  # fmt: skip

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(dev, name="dev")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"engine {__version__}")
        raise typer.Exit


@app.callback()
def engine(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="The version, and no more."
        ),
    ] = False,
) -> None:
    """Break your own model code on purpose, and find out why."""


@app.command()
def init(
    name: Annotated[str, typer.Argument(help="Your name; the folder is learners/NAME.")],
    pack: Annotated[
        str | None, typer.Option(help="The pack of exercises; as a rule your code tells which.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Your own code, anywhere; it is never written to.")
    ] = None,
    complete: Annotated[
        bool,
        typer.Option(
            "--complete", help="Begin with a finished model, which can be broken at once."
        ),
    ] = False,
    lang: Annotated[str, typer.Option(help="Language of the exercises: en or es.")] = "en",
    json: Json = False,
) -> None:
    """Make a learner, from the template or around your code.

    Example: engine init ada --model ~/code/minigpt --lang en
    """
    from engine.commands import init as command
    from engine.report.out import Progress
    from engine.report.words import speak

    speak(lang)
    report = command.run(
        name, pack=pack, model=model, complete=complete, lang=lang, progress=Progress()
    )
    emit(report, json)


@app.command("list")
def list_(learner: Who = None, json: Json = False) -> None:
    """All exercises and how far you are.

    Example: engine list
    """
    from engine.commands import list_ as command

    emit(command.run(maybe_session(learner)), json)


@app.command()
def show(
    id: Exercise,
    learner: Who = None,
    lang: Annotated[str, typer.Option(help="Language, outside a learner's folder.")] = "en",
    json: Json = False,
) -> None:
    """The text of an exercise.

    Example: engine show tied-vocab-mismatch
    """
    from engine.commands import show as command

    emit(command.run(maybe_session(learner), id, lang), json)


@app.command()
def status(learner: Who = None, json: Json = False) -> None:
    """Where you are, and how well your confidence fits.

    Example: engine status
    """
    from engine.commands import status as command

    emit(command.run(session_of(learner)), json)


@app.command("next")
def next_(learner: Who = None, json: Json = False) -> None:
    """What to do now.

    Example: engine next
    """
    from engine.commands import next_ as command

    emit(command.run(session_of(learner)), json)


@app.command("submit-build")
def submit_build(
    id: MaybeExercise = None,
    answers: Answers = None,
    level: How = Strictness.practice,
    everything: Annotated[
        bool, typer.Option("--all", help="Every failing check in full; without an ID, every part.")
    ] = False,
    verbose: Verbose = False,
    learner: Who = None,
    json: Json = False,
) -> None:
    """Check a part of the model that you built.

    Example: engine submit-build embedding
    """
    session = session_of(learner)
    show_more(everything, verbose)
    if id is None and everything:
        from engine.commands import submit_all

        parts = submit_all.run(session, level_of(level))
        emit(parts, json)
        raise typer.Exit(0 if parts.passed else 1)
    if id is not None:
        from engine.commands import warm

        session.part = session.catalogue.entry(id).component  # others may be half written
        warm.begin(session, id, "learner")
    from engine.cli.submissions import submit_build as submitted

    report = submitted(session, id, answers, json, level_of(level))
    emit(report, json)
    raise typer.Exit(0 if report.passed else 1)


@app.command("break")
def break_(
    id: MaybeExercise = None,
    answers: Answers = None,
    editor: Annotated[
        bool, typer.Option("--editor", help="Predict in $EDITOR, on your notes.")
    ] = False,
    blind: Annotated[
        bool, typer.Option("--blind", help="By lot, and you are not told what is broken.")
    ] = False,
    phase: Annotated[
        str | None, typer.Option(metavar="N", help="With --blind: of this phase only.")
    ] = None,
    area: Annotated[
        str | None, typer.Option(help="With --blind: attention, training, ... only.")
    ] = None,
    learner: Who = None,
    json: Json = False,
) -> None:
    """Have a practice copy of your code broken.

    Example: engine break tied-vocab-mismatch
    """
    from engine.cli import blind as blinded
    from engine.commands import warm

    session = session_of(learner)
    if blind:
        ids = blinded.chosen(session, id, phase, area)
        warm.begin(session, ids[0], *warm.TO_BREAK)
        blinded.break_blind(session, ids, answers, json)
        return
    id = blinded.only_named(id, phase, area)
    warm.begin(session, id, *warm.TO_BREAK)
    from engine.cli.submissions import break_ as broken

    emit(broken(session, id, answers, editor=editor, json=json), json)


app.command()(practice.observe)
app.command()(practice.diagnose)
app.command()(practice.hint)


@app.command("submit-fix")
def submit_fix(
    answers: Answers = None,
    level: How = Strictness.practice,
    everything: All = False,
    verbose: Verbose = False,
    learner: Who = None,
    json: Json = False,
) -> None:
    """Have the practice copy judged on inputs nobody has seen.

    Example: engine submit-fix
    """
    from engine.cli.submissions import submit_fix as submitted

    show_more(everything, verbose)
    report = submitted(session_of(learner), answers, json, level_of(level))
    emit(report, json)
    raise typer.Exit(0 if report.passed else 1)


@app.command()
def submit(answers: Answers = None, learner: Who = None, json: Json = False) -> None:
    """Submit what is open: the fix of a break, else a build.

    Example: engine submit
    """
    from engine.cli.submissions import submit as submitted

    report = submitted(session_of(learner), answers, json)
    emit(report, json)
    raise typer.Exit(0 if report.passed else 1)


app.command()(practice.watch)
app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(
    practice.run
)
app.command()(practice.repro)
app.command()(practice.reset)
app.command()(practice.notes)
app.command()(practice.doctor)
app.command()(check)


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the folder, and say where.")] = False,
    no_pause: Annotated[
        bool, typer.Option("--no-pause", help="Do not wait for Enter between the steps.")
    ] = False,
    json: Json = False,
) -> None:
    """One break from beginning to end, on a made-up learner.

    Example: engine demo --keep
    """
    from engine.cli.ask import pausing
    from engine.commands import demo as command

    tell = (lambda _: None) if json else pausing(lambda report: emit(report, False), not no_pause)
    report = command.run(keep=keep, tell=tell)
    if json:
        emit(report, True)


def main() -> None:
    """Run the command that was typed."""
    boundary.run(app)
