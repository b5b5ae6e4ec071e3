"""Who answers what a command asks: a file, the learner's editor, a person at the terminal, or nobody."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli import ask
from engine.commands.session import Session
from engine.errors import Message, NotApplicable, UsageError
from engine.flows.answers import Answer, AnswerFile
from engine.flows.predictions import BreakReport, Opening
from engine.judge.level import PRACTICE, Level
from engine.report.out import Progress, tell

if TYPE_CHECKING:
    from engine.flows.build_report import BuildReport
    from engine.flows.comparison import ComparisonReport
    from engine.flows.fix_report import FixReport
    from engine.flows.observe import ObserveReport
    from engine.flows.walkthrough import WalkReport


def answer_file(file: Path) -> AnswerFile:
    """`--answers FILE`. Raises UsageError, SpecError."""
    try:
        return AnswerFile(file.read_bytes(), file)
    except OSError as error:
        raise UsageError(
            Message("Cannot be read: {error}.", error=error.strerror),
            where=str(file),
            next=Message("`--answers` takes a YAML file; README.md shows one."),
        ) from None


def break_(
    session: Session, id: str, answers: Path | None, *, editor: bool, json: bool
) -> BreakReport:
    """`engine break`. What shows the end is imported while the bug is looked for."""
    from engine.commands import break_ as command

    ask = _predictions(session, id, answers, editor=editor, json=json)

    def meanwhile() -> None:
        if not json:
            import_module("engine.report.breaks")

    return command.run(session, id, ask, progress=Progress(), meanwhile=meanwhile)


def _predictions(
    session: Session, id: str, answers: Path | None, *, editor: bool, json: bool
) -> Callable[[Opening], Iterable[Answer]]:
    """How a break's predictions are asked for."""
    if answers is not None and session.catalogue.entry(id).kind == "break":
        from engine.commands.predict import check_none_open

        check_none_open(session)
        file, spec = answer_file(answers), session.catalogue.story(id)
        given = file.predictions(
            spec.predictions, session.learner.lang
        )  # all of it, before the search
        file.cause(spec.cause)
        return lambda _: given
    if editor:
        from engine.commands import drafts

        return lambda opening: drafts.predictions(session, opening)
    if json or not ask.interactive():
        return _refuse
    return ask.predictions


def _refuse(opening: Opening) -> Iterable[Answer]:
    raise UsageError(
        Message(
            "{exercise} asks for predictions, and there is no terminal to ask at.",
            exercise=opening.exercise,
        ),
        next=Message("engine break {exercise} --answers FILE", exercise=opening.exercise),
    )


def submit_build(
    session: Session,
    id: str | None,
    answers: Path | None,
    json: bool,
    level: Level = PRACTICE,
    announced: bool = False,
) -> BuildReport:
    """`engine submit-build`: the verdict, then questions where it passed. announced: say which build it is,
    as it is said where none was named.
    """
    from engine.commands import submit_build as command
    from engine.flows.questions import nobody, written

    entry = command.chosen(session, id)
    if (announced or id is None) and not json:
        tell(f"engine submit-build {entry.id}", sys.stderr)
    session.part = entry.component  # others may be half written
    how = nobody if json or not ask.interactive() else ask.question(session.learner.lang)
    if answers is not None:
        how = written(
            answer_file(answers),
            session.catalogue.assignment(entry.id).questions,
            session.learner.lang,
        )
    return command.run(session, entry.id, how, level=level, progress=Progress())


def submit_fix(
    session: Session, answers: Path | None, json: bool, level: Level = PRACTICE
) -> FixReport:
    """`engine submit-fix`: the verdict, then the question about the cause."""
    from engine.commands import submit_fix as command

    if answers is not None:
        file = answer_file(answers)
        spec = session.catalogue.story(session.open_break().exercise)
        cause = file.cause(spec.cause)
        return command.run(session, lambda *_: cause, level=level, progress=Progress())
    how = command.no_answer if json or not ask.interactive() else ask.cause
    return command.run(session, how, level=level, progress=Progress())


def submit(session: Session, answers: Path | None, json: bool) -> BuildReport | FixReport:
    """`engine submit`: the fix of the break that is open, else the build that was refused last, else the one
    that `engine next` names. Raises NotApplicable where that names a break.
    """
    from engine.commands import next_
    from engine.learner.store import last_failed, opened

    found = session.attempts()
    if opened(found) is not None:
        return submit_fix(session, answers, json)
    refused = last_failed(found)
    if refused is not None:
        return submit_build(session, refused.name, answers, json, announced=True)
    step = next_.run(session)
    if step.kind == "break":
        raise NotApplicable(
            Message(
                "No break is open, and what is next is one: {exercise}.", exercise=step.exercise
            ),
            next=Message("`{command}` opens it.", command=step.command),
        )
    return submit_build(session, step.exercise or None, answers, json, announced=True)


def observe(
    session: Session, topic: str | None, *, text: str | None, method: str, save: Path | None
) -> ObserveReport | WalkReport | ComparisonReport:
    """`engine observe`: a walkthrough or a comparison by its name, else the break that is open."""
    if topic in session.catalogue.comparisons:
        if text is not None or method != "pca" or save is not None:
            raise UsageError(
                Message("{topic} takes no --text, --method or --save.", topic=topic),
                next=f"engine observe {topic}",
            )
        from engine.commands import comparison

        return comparison.run(session, topic, progress=Progress(first=0))
    if topic is not None:
        from engine.commands import walkthrough

        return walkthrough.run(
            session, topic, text=text, method=method, save=save, progress=Progress(first=0)
        )
    if text is not None or method != "pca":
        raise UsageError(
            Message("--text and --method belong to a walkthrough."),
            next=Message('engine observe embedding-walkthrough --text "I love dogs"'),
        )
    from engine.commands import observe_

    return observe_.run(session, save=save)
