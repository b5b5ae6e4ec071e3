"""The command line of learners: declarations; those of authors are in `cli_dev.py`.

Everything heavier than typer is imported inside the command that needs it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from engine import boundary
from engine.cli_dev import dev
from engine.options import Json, emit

app = typer.Typer(
    help="Break your own model code on purpose, and find out why.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(dev, name="dev")

Who = Annotated[str | None, typer.Option("--learner", metavar="NAME", help="Which learner.")]
Exercise = Annotated[str, typer.Argument(metavar="ID", help="An exercise; `engine list` has them.")]
MaybeExercise = Annotated[str | None, typer.Argument(metavar="[ID]", help="An exercise.")]
Answers = Annotated[
    Path | None, typer.Option("--answers", metavar="FILE", help="Answers in YAML or JSON.")
]


def _session(name: str | None) -> Any:
    from engine.commands.session import Session

    return Session.here(name)


def _maybe_session(name: str | None) -> Any:
    """The learner where there is one; reading needs none."""
    from engine.errors import UsageError

    try:
        return _session(name)
    except UsageError:
        if name is not None:
            raise
        return None


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
    from engine.commands import listing

    emit(listing.list_(_maybe_session(learner)), json)


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
    from engine.commands import listing

    emit(listing.show(_maybe_session(learner), id, lang), json)


@app.command()
def status(learner: Who = None, json: Json = False) -> None:
    """Where you are, and how well your confidence fits.

    Example: engine status
    """
    from engine.commands import listing

    emit(listing.status(_session(learner)), json)


@app.command("next")
def next_(learner: Who = None, json: Json = False) -> None:
    """What to do now.

    Example: engine next
    """
    from engine.commands import listing

    emit(listing.next_(_session(learner)), json)


@app.command("submit-build")
def submit_build(
    id: MaybeExercise = None, answers: Answers = None, learner: Who = None, json: Json = False
) -> None:
    """Check a part of the model that you built; then answer what you understood.

    Example: engine submit-build embedding
    """
    report = _submit_build(_session(learner), id, answers, json)
    emit(report, json)
    raise typer.Exit(0 if report.passed else 1)


def _submit_build(session: Any, id: str | None, answers: Path | None, json: bool) -> Any:
    if id is not None:
        from engine.commands import warm

        warm.begin(session, id, "learner")
    from engine.commands import submit_build as command
    from engine.commands.questions import nobody, written
    from engine.view import ask
    from engine.view.out import Live, Progress

    entry = command.chosen(session, id)
    how = nobody if json or not ask.interactive() else ask.question(session.learner.lang)
    if answers is not None:
        from engine.commands.answers import AnswerFile

        how = written(AnswerFile(answers), session.catalogue.build(entry.id).questions)
    told = (lambda _: None) if json else Live()
    return command.run(session, entry.id, how, told=told, progress=Progress())


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

    session = _session(learner)
    warm.begin(session, id, *warm.TO_BREAK)
    from engine.commands import break_ as command
    from engine.view.out import Progress

    ask = _how_to_ask(session, answers, editor, json)

    def meanwhile() -> None:
        """What the end needs is imported while the bug is looked for."""
        if not json:
            import_module("engine.view.breaks")

    emit(command.run(session, id, ask, progress=Progress(), meanwhile=meanwhile), json)


def _how_to_ask(session: Any, answers: Path | None, editor: bool, json: bool) -> Any:
    from engine.errors import UsageError
    from engine.view import ask

    if answers is not None:
        from engine.commands.answers import AnswerFile

        file = AnswerFile(answers)
        return lambda opening: file.predictions(opening.predictions)
    if editor:
        from engine.commands import drafts

        return lambda opening: drafts.predictions(session, opening)
    if json or not ask.interactive():

        def refuse(opening: Any) -> Any:
            raise UsageError(
                f"{opening.exercise} asks for predictions, and there is no terminal to ask at.",
                next=f"engine break {opening.exercise} --answers FILE",
            )

        return refuse
    return ask.predictions


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
    from engine.errors import UsageError

    if topic is None:
        from engine.commands import observe_

        if text is not None or save is not None or method != "pca":
            raise UsageError(
                "--text, --method and --save belong to a walkthrough.",
                next='engine observe embedding-walkthrough --text "I love dogs"',
            )
        emit(observe_.run(_session(learner)), json)
        return
    from engine.commands import walkthrough
    from engine.view.out import Progress

    session = _session(learner)
    report = walkthrough.run(
        session, topic, text=text, method=method, save=save, progress=Progress(first=0)
    )
    emit(report, json)


@app.command()
def hint(
    id: MaybeExercise = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All of them, once the exercise is over.")
    ] = False,
    learner: Who = None,
    json: Json = False,
) -> None:
    """The next hint, one at a time.

    Example: engine hint
    """
    from engine.commands import hint as command

    emit(command.run(_session(learner), id, everything=everything), json)


@app.command("submit-fix")
def submit_fix(answers: Answers = None, learner: Who = None, json: Json = False) -> None:
    """Have the practice copy judged on inputs nobody has seen.

    Example: engine submit-fix
    """
    report = _submit_fix(_session(learner), answers, json)
    emit(report, json)
    raise typer.Exit(0 if report.passed else 1)


def _submit_fix(session: Any, answers: Path | None, json: bool) -> Any:
    from engine.commands import submit_fix as command
    from engine.view import ask
    from engine.view.out import Progress

    if answers is not None:
        from engine.commands.answers import AnswerFile

        file = AnswerFile(answers)
        spec = session.catalogue.break_(session.open_break().exercise)
        return command.run(session, lambda *_: file.cause(spec.cause), progress=Progress())
    how = command.no_answer if json or not ask.interactive() else ask.cause
    return command.run(session, how, progress=Progress())


@app.command()
def submit(answers: Answers = None, learner: Who = None, json: Json = False) -> None:
    """Submit whatever is open: the fix of a break, else the next build.

    Example: engine submit
    """
    from engine.practice.store import opened

    session = _session(learner)
    if opened(session.attempts()) is not None:
        report = _submit_fix(session, answers, json)
    else:
        report = _submit_build(session, None, answers, json)
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

    session = _session(learner)
    open_break = session.open_break()
    practice = session.learner.practice(open_break.exercise)
    roots = session.catalogue.contract.roots
    raise typer.Exit(run_command(command, Path.cwd(), practice, session.learner.model, roots))


@app.command()
def reset(id: MaybeExercise = None, learner: Who = None, json: Json = False) -> None:
    """Put the open break aside; the practice copy is saved first.

    Example: engine reset
    """
    from engine.commands import reset as command

    emit(command.run(_session(learner), id), json)


@app.command()
def notes(id: MaybeExercise = None, learner: Who = None, json: Json = False) -> None:
    """Your notes on breaks.

    Example: engine notes
    """
    from engine.commands import notes_

    emit(notes_.run(_session(learner), id), json)


@app.command()
def doctor(learner: Who = None, json: Json = False) -> None:
    """What is installed, what the sandbox can do here, is your code importable.

    Example: engine doctor
    """
    from engine.commands import doctor as command

    report = command.run(_maybe_session(learner))
    emit(report, json)
    raise typer.Exit(0 if report.healthy else 1)


@app.command()
def check(
    path: Annotated[Path, typer.Argument(metavar="[PATH]", help="A folder or a file.")] = Path("."),
    select: Annotated[
        list[str] | None, typer.Option(metavar="FACT", help="Only this fact; may be repeated.")
    ] = None,
    explain: Annotated[
        str | None, typer.Option(metavar="FACT", help="What a fact is, and measure nothing.")
    ] = None,
    model: Annotated[str, typer.Option(help='"file.py:Class" or "file.py:expression".')] = "",
    call: Annotated[str, typer.Option(help='How to call it: "model(tokens, 0)".')] = "",
    train: Annotated[
        str, typer.Option(help='The training script, with arguments: "train.py".')
    ] = "",
    python: Annotated[str | None, typer.Option(help="The interpreter that has your torch.")] = None,
    json: Json = False,
) -> None:
    """What is wrong with a PyTorch GPT that nobody described. Nothing of it is written.

    Example: engine check ~/nanoGPT
    """
    from engine.commands import check as command

    if explain is not None:
        typer.echo(command.explain(explain))
        return
    raise typer.Exit(
        command.shown(
            path, command.Asked(model, call, train), python=python, select=select or [], json=json
        )
    )


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the folder, and say where.")] = False,
    json: Json = False,
) -> None:
    """One break from beginning to end, on a made-up learner, in a temporary folder.

    Example: engine demo --keep
    """
    from engine.commands import demo as command

    report = command.run(
        keep=keep, tell=(lambda _: None) if json else (lambda r: emit(r, as_json=False))
    )
    if json:
        emit(report, True)


def main() -> None:
    """Run the command that was typed."""
    boundary.run(app)
