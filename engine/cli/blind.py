"""Blind breaks at the terminal: the evidence first, then the hypotheses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli import ask
from engine.cli.options import emit
from engine.commands.session import Session
from engine.errors import Message, UsageError
from engine.report.out import Progress, tell
from engine.report.words import words

if TYPE_CHECKING:
    from engine.flows.answers import Answer
    from engine.flows.diagnosis import DiagnosisReport, Hypotheses


def chosen(session: Session, id: str | None, phase: str | None, area: str | None) -> list[str]:
    """The breaks that may come, the first first. Raises UsageError."""
    from engine.flows.lot import draw, takeable
    from engine.learner.store import taken

    if id is not None:
        return [takeable(session.catalogue, id)]
    done = {*taken(session.attempts())}
    if session.catalogue.factual is not None:
        from engine.commands.found import unfit

        done |= unfit(session).keys()
    return draw(session.catalogue, done, phase, area)


def only_named(id: str | None, phase: str | None, area: str | None) -> str:
    """The ID of a break that is told. Raises UsageError where there is none, or what only --blind takes."""
    if phase is not None or area is not None:
        raise UsageError(
            Message("--phase and --area belong to --blind."),
            next="engine break --blind --area attention",
        )
    if id is None:
        raise UsageError(
            Message("Which break?"),
            next=Message("`engine list` shows them; `engine break --blind` chooses one for you."),
        )
    return id


def break_blind(session: Session, ids: Sequence[str], answers: Path | None, json: bool) -> None:
    """`engine break --blind`: show what happens, then ask for hypotheses where somebody can answer."""
    from engine.commands import blind as command

    def meanwhile() -> None:
        if not json:
            import_module("engine.report.breaks")

    emit(command.run(session, ids, progress=Progress(), meanwhile=meanwhile), json)
    if answers is not None or (ask.interactive() and not json):
        report = diagnosed(session, answers, json)
        if not json:
            emit(report, json)


def diagnosed(session: Session, answers: Path | None, json: bool) -> DiagnosisReport:
    """`engine diagnose`. Raises UsageError where nobody can be asked."""
    from engine.commands import diagnose

    try:
        return diagnose.run(session, _asking(answers, json))
    except KeyboardInterrupt:
        tell("\n" + words("It is open: `engine diagnose` goes on where you stopped."), sys.stderr)
        raise


def _asking(answers: Path | None, json: bool) -> Callable[[Hypotheses], Iterable[Answer]]:
    if answers is not None:
        from engine.cli.submissions import answer_file
        from engine.flows.diagnosis import given

        file = answer_file(answers)
        return lambda asked: given(file.diagnosis, asked, str(answers))
    if json or not ask.interactive():
        raise UsageError(
            Message("A diagnosis needs a terminal to ask at, or a file."),
            next="engine diagnose --answers FILE",
        )
    return ask.diagnosis
