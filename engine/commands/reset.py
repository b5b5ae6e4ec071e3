"""`engine reset`: put a break aside; the practice copy is saved first."""

from __future__ import annotations

import shlex

from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.flows.reports import ResetReport
from engine.learner import entries, notes
from engine.learner.store import alone, opened


def run(session: Session, id: str | None = None) -> ResetReport:
    """Save the practice copy to the history, throw it away, close the attempt."""
    from engine.learner.history import read_all, throw_away
    from engine.learner.snapshots import History

    learner = session.learner
    with alone(learner.private):
        current = opened(session.attempts())
        wanted = session.catalogue.entry(id).id if id else None
        if current is None or wanted not in (None, current.exercise):
            raise NotApplicable(
                Message("{exercise} is not open.", exercise=wanted)
                if wanted
                else Message("No break is open."),
                next=Message("`engine status` shows what is."),
            )
        exercise = current.exercise
        folder = learner.practice(exercise)
        snapshot = History(learner.private).save(read_all(folder) if folder.is_dir() else {})
        file = learner.notes(session.catalogue.entry(exercise).phase_number)
        notes.check(file)
        event = session.store.append(exercise, current.number, "reset", {"snapshot": snapshot})
        notes.add(
            file, exercise, current.number, entries.reset(event.at[:10], snapshot, learner.lang)
        )
        throw_away(folder)
    history = learner.private / "history.git"
    place = shlex.quote(str(history))
    restore = f"mkdir saved && git --git-dir={place} archive {snapshot} | tar -x -C saved"
    return ResetReport(exercise, snapshot, restore)
