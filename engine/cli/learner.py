"""The command line of learners: declarations. What is heavier than typer is imported where it is needed."""

# no `from __future__ import annotations`: typer would compile each of them anew, 20 ms

from pathlib import Path
from typing import Annotated

import typer

from engine.cli import boundary
from engine.cli.author import dev
from engine.cli.model import check
from engine.cli.options import (
    Answers,
    Exercise,
    How,
    Json,
    MaybeExercise,
    Strictness,
    Who,
    emit,
    level_of,
    maybe_session,
    session_of,
)  # fmt: skip

app = typer.Typer(
    help="Break your own model code on purpose, and find out why.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(dev, name="dev")


@app.command()
def init(
    name: Annotated[str, typer.Argument(help="Your name; the folder is learners/NAME.")],
    pack: Annotated[str, typer.Option(help="The pack of exercises.")] = "minimodel",
    model: Annotated[
        Path | None, typer.Option(help="Your own code, anywhere; it is never written to.")
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the exercises: en or es.")] = "en",
    json: Json = False,
) -> None:
    """Make a learner, from the template or around your code.

    Example: engine init ada --model ~/code/minigpt --lang en
    """
    from engine.commands import init as command

    emit(command.run(name, pack=pack, model=model, lang=lang), json)


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
    """The text of an exercise; of a break only what does not give it away.

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
    learner: Who = None,
    json: Json = False,
) -> None:
    """Check a part of the model that you built; then answer what you understood.

    Example: engine submit-build embedding
    """
    session = session_of(learner)
    if id is not None:
        from engine.commands import warm

        warm.begin(session, id, "learner")
    from engine.cli.submissions import submit_build as submitted

    report = submitted(session, id, answers, json, level_of(level))
    emit(report, json)
    raise typer.Exit(0 if report.passed else 1)


@app.command("break")
def break_(
    id: Exercise,
    answers: Answers = None,
    editor: Annotated[
        bool, typer.Option("--editor", help="Predict in $EDITOR, on your notes.")
    ] = False,
    learner: Who = None,
    json: Json = False,
) -> None:
    """Predict, then have a practice copy of your code broken.

    Example: engine break tied-vocab-mismatch
    """
    from engine.commands import warm

    session = session_of(learner)
    warm.begin(session, id, *warm.TO_BREAK)
    from engine.cli.submissions import break_ as broken

    emit(broken(session, id, answers, editor=editor, json=json), json)


@app.command()
def observe(
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="A walkthrough, embedding-walkthrough.")
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
    """Measure the practice copy again, healthy beside broken; or walk a sentence through your model.

    Example: engine observe embedding-walkthrough --text "I love dogs"
    """
    from engine.cli.submissions import observe as observed

    session = session_of(learner)
    emit(observed(session, topic, text=text, method=method, save=save), json)


@app.command()
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
    """The next hint, one at a time; after the last one all of them again.

    Example: engine hint
    """
    from engine.commands import hint as command

    emit(command.run(session_of(learner), id, everything=everything, again=again), json)


@app.command("submit-fix")
def submit_fix(
    answers: Answers = None,
    level: How = Strictness.practice,
    learner: Who = None,
    json: Json = False,
) -> None:
    """Have the practice copy judged on inputs nobody has seen.

    Example: engine submit-fix
    """
    from engine.cli.submissions import submit_fix as submitted

    report = submitted(session_of(learner), answers, json, level_of(level))
    emit(report, json)
    raise typer.Exit(0 if report.passed else 1)


@app.command()
def submit(answers: Answers = None, learner: Who = None, json: Json = False) -> None:
    """Submit whatever is open: the fix of a break, else the next build.

    Example: engine submit
    """
    from engine.cli.submissions import submit as submitted

    report = submitted(session_of(learner), answers, json)
    emit(report, json)
    raise typer.Exit(0 if report.passed else 1)


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def run(
    command: Annotated[list[str], typer.Argument(help="Your command, after --.")],
    learner: Who = None,
) -> None:
    """Run a command of yours in the practice copy, its sources first on the import path.

    Example: engine run -- python -m pytest tests
    """
    from engine.run.command import run as run_command

    session = session_of(learner)
    practice = session.learner.practice(session.open_break().exercise)
    roots = session.catalogue.contract.roots
    raise typer.Exit(run_command(command, Path.cwd(), practice, session.learner.model, roots))


@app.command()
def reset(id: MaybeExercise = None, learner: Who = None, json: Json = False) -> None:
    """Put the open break aside; the practice copy is saved first.

    Example: engine reset
    """
    from engine.commands import reset as command

    emit(command.run(session_of(learner), id), json)


@app.command()
def notes(id: MaybeExercise = None, learner: Who = None, json: Json = False) -> None:
    """Your notes on breaks.

    Example: engine notes
    """
    from engine.commands import notes_

    emit(notes_.run(session_of(learner), id), json)


@app.command()
def doctor(learner: Who = None, json: Json = False) -> None:
    """What is installed, what the sandbox can do here, is your code importable.

    Example: engine doctor
    """
    from engine.commands import doctor as command

    report = command.run(maybe_session(learner))
    emit(report, json)
    raise typer.Exit(0 if report.healthy else 1)


app.command()(check)


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the folder, and say where.")] = False,
    json: Json = False,
) -> None:
    """One break from beginning to end, on a made-up learner, in a temporary folder.

    Example: engine demo --keep
    """
    from engine.commands import demo as command

    tell = (lambda _: None) if json else (lambda report: emit(report, as_json=False))
    report = command.run(keep=keep, tell=tell)
    if json:
        emit(report, True)


def main() -> None:
    """Run the command that was typed."""
    boundary.run(app)
