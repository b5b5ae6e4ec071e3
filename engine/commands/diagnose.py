"""`engine diagnose`: where the bug of the open blind break is, and what it is; every version is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from engine.commands.blind import begin_notes
from engine.commands.naming import notes_of
from engine.commands.predict import keeping
from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.flows.answers import Answer
from engine.flows.diagnosis import (
    Diagnosis,
    DiagnosisReport,
    Hypotheses,
    answered,
    hypotheses,
    places_of,
    whole,
)
from engine.learner import entries, notes
from engine.learner.snapshots import History
from engine.learner.store import Attempt, alone, opened

Ask = Callable[[Hypotheses], Iterable[Answer]]


def run(session: Session, ask: Ask) -> DiagnosisReport:
    """Ask for a diagnosis and record it, where it is whole. Raises NotApplicable where no blind break is
    open, and what `ask` raises.
    """
    attempt = _open(session)
    file = notes_of(session, attempt)
    notes.check(file)
    asked = questions(session, attempt)
    known = {one.id: one for one in asked.known}
    found = whole(keeping(session, attempt.name, attempt.number, ask(asked), known))
    if found is None:
        return DiagnosisReport(attempt.name, "", "", 0, str(file))
    texts = dict(asked.options)
    what = texts.get(found.what, found.what)
    with alone(session.learner.private):
        attempt = _open(session)
        begin_notes(session, attempt.exercise, attempt.name, attempt.events[0].at[:10])
        version = len(attempt.all("diagnosed")) + 1
        session.store.append(attempt.name, 1, "diagnosed", msgspec.to_builtins(found))
        lines = (found.where, found.sure_where), (what, found.sure_what)
        notes.add(file, attempt.name, 1, entries.diagnosis(version, lines, session.learner.lang))
    return DiagnosisReport(attempt.name, found.where, what, version, str(file))


def questions(session: Session, attempt: Attempt) -> Hypotheses:
    """What is asked of a blind break."""
    before = History(session.learner.private).load(attempt.injected["before"])
    return hypotheses(
        session.catalogue, attempt.exercise, attempt.name, places_of(before), session.learner.lang,
        _said(attempt),
        f"{attempt.events[0].at} {attempt.injected['before']}",
    )  # fmt: skip


def _said(attempt: Attempt) -> tuple[Answer, ...]:
    """The last diagnosis, with what was said since."""
    known: dict[str, Answer] = {}
    for event in attempt.events:
        if event.kind == "diagnosed":
            known = {one.id: one for one in answered(msgspec.convert(event.data, Diagnosis))}
        elif event.kind == "drafted":
            one = msgspec.convert(event.data["answer"], Answer)
            known[one.id] = one
    return tuple(known.values())


def _open(session: Session) -> Attempt:
    found = opened(session.attempts())
    if found is None or not found.blind:
        raise NotApplicable(
            Message("No blind break is open."), next=Message("`engine break --blind` opens one.")
        )
    return found
