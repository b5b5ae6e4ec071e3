"""`engine break`: plan and verify in memory, ask, record, and only then write and observe."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from engine.commands.lay import check_same_code, lay, opened
from engine.commands.predict import Ask, check_none_open, predictions
from engine.commands.session import Session
from engine.commands.warm import TO_BREAK, servers_of
from engine.errors import Message, UsageError
from engine.flows import expectations
from engine.flows.answers import Answer
from engine.flows.measuring import Progress, fresh_seed, quiet
from engine.flows.predictions import BreakReport
from engine.learner import entries, notes
from engine.learner.store import alone
from engine.run.concurrent import Future, run_both
from engine.spec.catalogue import Entry

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
    learner, catalogue = session.learner, session.catalogue
    entry = _break_called(session, id)
    check_none_open(session)
    notes.check(learner.notes(entry.phase_number))
    with servers_of(session) as servers:
        files, tree = session.code
        servers.load_tree(tree, *TO_BREAK)  # as a rule they are
        begun = expectations.begin(servers, catalogue, entry.id, tree, fresh_seed())
        from engine.flows import break_ as flow  # brings numpy, while the reference is at work
        from engine.flows.observe import Versions, look, told

        Future(
            lambda: importlib.import_module("engine.learner.repositories")
        )  # which `_write` needs
        Future(meanwhile)
        planned = flow.plan_begun(servers, catalogue, begun, progress=progress)
        attempt, answers = predictions(session, entry.id, ask)
        subject = told(catalogue.break_(entry.id), answers)
        versions = Versions(tree, tree.replaced(planned.injection.files), planned.dtype)
        with alone(learner.private):
            check_none_open(session)
            check_same_code(session, files)
            laid, observed = run_both(
                lambda: lay(session, entry.id, files, planned),
                lambda: look(
                    servers, catalogue, entry.id, versions, subject, learner.lang, server="learner"
                ),
            )
            opened(session, entry.id, attempt, laid, planned.bug, observed)
            _record(session, entry, attempt, observed)
    return _report(session, entry, attempt, answers, observed)


def _break_called(session: Session, id: str) -> Entry:
    entry = session.catalogue.entry(id)
    if entry.kind != "break":
        raise UsageError(
            Message("{exercise} is a build exercise.", exercise=entry.id),
            next=Message("`engine submit-build {exercise}` checks it.", exercise=entry.id),
        )
    session.catalogue.break_(entry.id)  # what is wrong with it is said before anything is run
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
    spec, learner = session.catalogue.break_(entry.id), session.learner
    practice, notes_file = learner.practice(entry.id), learner.notes(entry.phase_number)
    return BreakReport(
        entry.id, session.text(spec.title), attempt, str(practice), str(notes_file), tuple(answers),
        observed, session.text(spec.symptom),
    )  # fmt: skip
