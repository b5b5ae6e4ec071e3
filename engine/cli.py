"""The command line: declarations, and the one boundary where errors become words and exit codes.

Everything heavier than typer is imported inside the command that needs it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from engine.errors import INTERRUPTED

# typer brings its own click since 0.26; this is the base of its usage errors in either case
ClickException: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    help="Break your own model code on purpose, and find out why.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
dev = typer.Typer(help="For authors of exercises.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(dev, name="dev")

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
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


def _emit(report: Any, as_json: bool) -> None:
    from engine.view.out import emit

    emit(report, as_json=as_json)


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

    _emit(command.run(name, pack=pack, model=model, lang=lang), json)


@app.command("list")
def list_(learner: Who = None, json: Json = False) -> None:
    """All exercises and how far you are.

    Example: engine list
    """
    from engine.commands import listing

    _emit(listing.list_(_maybe_session(learner)), json)


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

    _emit(listing.show(_maybe_session(learner), id, lang), json)


@app.command()
def status(learner: Who = None, json: Json = False) -> None:
    """Where you are, and how well your confidence fits.

    Example: engine status
    """
    from engine.commands import listing

    _emit(listing.status(_session(learner)), json)


@app.command("next")
def next_(learner: Who = None, json: Json = False) -> None:
    """What to do now.

    Example: engine next
    """
    from engine.commands import listing

    _emit(listing.next_(_session(learner)), json)


@app.command("submit-build")
def submit_build(
    id: MaybeExercise = None, answers: Answers = None, learner: Who = None, json: Json = False
) -> None:
    """Check a part of the model that you built; then answer what you understood.

    Example: engine submit-build embedding
    """
    report = _submit_build(_session(learner), id, answers, json)
    _emit(report, json)
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

    _emit(command.run(session, id, ask, progress=Progress(), meanwhile=meanwhile), json)


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
        _emit(observe_.run(_session(learner)), json)
        return
    from engine.commands import walkthrough
    from engine.view.out import Progress

    session = _session(learner)
    report = walkthrough.run(
        session, topic, text=text, method=method, save=save, progress=Progress(first=0)
    )
    _emit(report, json)


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

    _emit(command.run(_session(learner), id, everything=everything), json)


@app.command("submit-fix")
def submit_fix(answers: Answers = None, learner: Who = None, json: Json = False) -> None:
    """Have the practice copy judged on inputs nobody has seen.

    Example: engine submit-fix
    """
    report = _submit_fix(_session(learner), answers, json)
    _emit(report, json)
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
    _emit(report, json)
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

    _emit(command.run(_session(learner), id), json)


@app.command()
def notes(id: MaybeExercise = None, learner: Who = None, json: Json = False) -> None:
    """Your notes on breaks.

    Example: engine notes
    """
    from engine.commands import notes_

    _emit(notes_.run(_session(learner), id), json)


@app.command()
def doctor(learner: Who = None, json: Json = False) -> None:
    """What is installed, what the sandbox can do here, is your code importable.

    Example: engine doctor
    """
    from engine.commands import doctor as command

    report = command.run(_maybe_session(learner))
    _emit(report, json)
    raise typer.Exit(0 if report.healthy else 1)


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the folder, and say where.")] = False,
    json: Json = False,
) -> None:
    """One break from beginning to end, on a made-up learner, in a temporary folder.

    Example: engine demo --keep
    """
    from engine.commands import demo as command
    from engine.view.out import emit

    report = command.run(
        keep=keep, tell=(lambda _: None) if json else (lambda r: emit(r, as_json=False))
    )
    if json:
        _emit(report, True)


@dev.command("check")
def dev_check(
    path: Annotated[Path | None, typer.Argument(help="A pack's folder, or a file in it.")] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Only N silencers and N near misses of each break."),
    ] = None,
    json: Json = False,
) -> None:
    """Prove every exercise: specs, healthy models, the bug bites, the fix passes, silencers
    and near misses do not.

    Example: engine dev check exercises/minimodel
    """
    from engine.commands import dev_check as command
    from engine.view.out import Progress

    report = command.run(path, sample=sample, progress=Progress())
    _emit(report, json)
    raise typer.Exit(0 if report.passed else 3)


@dev.command("reach")
def dev_reach(
    model: Annotated[list[Path], typer.Option("--model", metavar="PATH", help="A model's folder.")],
    pack: Annotated[str, typer.Option(help="The pack of exercises.")] = "minimodel",
    exercise: Annotated[
        list[str] | None, typer.Option("--exercise", metavar="ID", help="Only this break.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store each broken tree there.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this proposer: pattern, role, graft.")
    ] = None,
    json: Json = False,
) -> None:
    """Into how much code do the breaks go? One line for each exercise and model (JSON Lines).

    Example: engine dev reach --model tests/corpus/loops --exercise tied-vocab-mismatch --json
    """
    from engine.commands import dev_reach as command
    from engine.view.out import bar, emit_line

    total, lines = command.run(
        model, pack=pack, exercises=exercise or (), write=write, only=only or ()
    )
    for line in bar(lines, total):
        if json:
            emit_line(line)
        else:
            from engine.view.author import reached

            reached(line)


@dev.command("judge")
def dev_judge(
    candidate: Annotated[
        list[str], typer.Option("--candidate", metavar="PATH", help="A folder to be judged.")
    ],
    exercise: Annotated[
        str | None, typer.Option("--exercise", metavar="ID", help="A break: candidates are fixes.")
    ] = None,
    build: Annotated[
        str | None,
        typer.Option("--build", metavar="COMPONENT", help="A build: candidates are builds of it."),
    ] = None,
    healthy: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The code as it was before the break.")
    ] = None,
    broken: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The code with the bug, for explanations.")
    ] = None,
    pack: Annotated[str, typer.Option(help="The pack of exercises.")] = "minimodel",
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Repeat the verdict that had this seed.")
    ] = None,
    json: Json = False,
) -> None:
    """Judge fixes or builds of other people's code. One line for each candidate (JSON Lines).

    Example: engine dev judge --build embedding --candidate tests/corpus/loops --json
    """
    from engine.commands import dev_judge as command
    from engine.view.out import bar, emit_line

    lines = command.run(
        candidate, exercise=exercise, build=build, healthy=healthy, broken=broken, pack=pack,
        seed=seed,
    )  # fmt: skip
    errors = 0
    for line in bar(lines, len(candidate)):
        errors += line["verdict"] == "error"
        if json:
            emit_line(line)
        else:
            from engine.view.author import judged

            judged(line)
    if errors:
        raise typer.Exit(3)


@dev.command("schema")
def dev_schema() -> None:
    """The JSON Schema of everything an author writes.

    Example: engine dev schema > exercises/schema.json
    """
    from engine.spec.schema import schema_text

    sys.stdout.write(schema_text())


def main() -> None:
    """Run the command; every error leaves as words and an exit code."""
    words = sys.argv[1:]
    as_json = "--json" in (words[: words.index("--")] if "--" in words else words)
    _safe_streams()
    try:
        code = app(standalone_mode=False, prog_name="engine")
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except ClickException as error:
        _usage(error, as_json)
    except (KeyboardInterrupt, typer.Abort):
        _interrupted()
    except SystemExit as left:
        if left.code == INTERRUPTED:  # typer leaves this way on Ctrl-C
            _interrupted()
        raise
    except BrokenPipeError:
        _close_quietly()
        sys.exit(0)
    except Exception as error:
        _boundary(error, as_json)


def _safe_streams() -> None:
    """Streams that take any text, also where they are closed or know little of Unicode."""
    import os

    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or stream.closed:
            setattr(sys, name, open(os.devnull, "w"))
        else:
            stream.reconfigure(errors="backslashreplace")


def _usage(error: Any, as_json: bool) -> None:
    from engine.errors import UsageError
    from engine.view.out import emit_error

    context = getattr(error, "ctx", None)
    path = context.command_path if context else "engine"
    emit_error(UsageError(error.format_message(), next=f"{path} --help"), as_json=as_json)
    sys.exit(2)


def _boundary(error: Exception, as_json: bool) -> None:
    from engine.errors import BUG, EngineError
    from engine.view.out import emit_error

    if isinstance(error, EngineError):
        emit_error(error, as_json=as_json)
        sys.exit(error.exit_code)
    if isinstance(error, OSError):
        from engine.practice.files import refused

        told = refused(error)
        if told is not None:
            emit_error(told, as_json=as_json)
            sys.exit(told.exit_code)
    from engine.practice.log import write_log

    log = write_log(error)
    bug = EngineError(
        f"This is a bug in the engine ({type(error).__name__}: {error}).",
        where=f"log: {log}",
        next="Please report it with the log; your own code was not touched.",
    )
    bug.exit_code = BUG
    emit_error(bug, as_json=as_json)
    sys.exit(BUG)


def _interrupted() -> NoReturn:
    sys.stderr.write("\nengine: interrupted; nothing half done was left behind.\n")
    sys.exit(INTERRUPTED)


def _close_quietly() -> None:
    """Whoever read our output has gone: stop without a traceback."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
