"""`engine break`: plan and verify in memory, ask, record, and only then write and observe."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from engine.commands.lay import check_same_code, lay, opened
from engine.commands.means import means_of
from engine.commands.predict import Ask, check_none_open, predictions
from engine.commands.session import Session
from engine.errors import Message, UsageError
from engine.flows.answers import Answer
from engine.flows.hints import filled
from engine.flows.measuring import Progress, quiet
from engine.flows.predictions import BreakReport
from engine.learner import entries, notes
from engine.learner.store import alone
from engine.run.concurrent import Future, run_both
from engine.spec.entry import Entry

if TYPE_CHECKING:
    from engine.flows.observe import Observed


def run(
    session: Session,
    id: str,
    ask: Ask,
    *,
    progress: Progress = quiet,
    meanwhile: Callable[[], object] = lambda: None,
) -> BreakReport:
    """Break a practice copy of the learner's code.

    meanwhile: what else is to be done while the bug is looked for.

    Raises NotApplicable when an exercise is open or the code is not healthy where this one needs
    it, and whatever the files, the specs or the learner's answers are at fault for.
    """
    learner = session.learner
    entry = _break_called(session, id)
    check_none_open(session)
    notes.check(learner.notes(entry.phase_number))
    with means_of(session) as means:
        files, _ = session.code
        means.begin(entry.id)
        Future(lambda: importlib.import_module("engine.learner.repositories"))  # which `lay` needs
        Future(meanwhile)
        placed = means.plan(progress)
        attempt, answers = predictions(session, entry.id, ask)
        with alone(learner.private):
            check_none_open(session)
            check_same_code(session, files)
            laid, observed = run_both(
                lambda: lay(session, entry.id, files, placed.files),
                lambda: means.observed(placed, answers),
            )
            opened(session, entry.id, attempt, laid, placed.bug, observed)
            _record(session, entry, attempt, observed)
    return _report(session, entry, attempt, answers, observed)


def _break_called(session: Session, id: str) -> Entry:
    entry = session.catalogue.entry(id)
    if entry.kind != "break":
        raise UsageError(
            Message("{exercise} is a build exercise.", exercise=entry.id),
            next=Message("`engine submit-build {exercise}` checks it.", exercise=entry.id),
        )
    session.catalogue.story(entry.id)  # what is wrong with it is said before anything is run
    return entry


def _record(session: Session, entry: Entry, attempt: int, observed: Observed) -> None:
    scored = {"scored": msgspec.to_builtins(observed.scored)}
    session.store.append(entry.id, attempt, "observed", scored)
    error = next((o.error for o in observed.observations if o.error), "")
    text = entries.measured(observed.scored, error, observed.brier, session.learner.lang)
    notes.add(session.learner.notes(entry.phase_number), entry.id, attempt, text)


def _report(
    session: Session, entry: Entry, attempt: int, answers: list[Answer], observed: Observed
) -> BreakReport:
    from engine.flows.observe import values_of

    spec, learner = session.catalogue.story(entry.id), session.learner
    practice, notes_file = learner.practice(entry.id), learner.notes(entry.phase_number)
    bug = {"values": values_of(observed)}
    return BreakReport(
        entry.id, session.text(spec.title), attempt, str(practice), str(notes_file), tuple(answers),
        observed, filled(spec.symptom, bug, learner.lang),
    )  # fmt: skip
