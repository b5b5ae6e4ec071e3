"""`engine notes`: where the notes are, and what stands in them."""

from __future__ import annotations

from engine.commands.naming import called, notes_of
from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.flows.reports import NotesReport
from engine.learner import notes


def run(session: Session, id: str | None = None) -> NotesReport:
    """The notes on `id`, else on the latest break, else on the first there is."""
    catalogue = session.catalogue
    breaks = [entry for entry in catalogue.entries.values() if entry.kind == "break"]
    tried = [a for a in session.attempts() if a.exercise in {entry.id for entry in breaks}]
    wanted = called(session, id) if id else tried[-1].name if tried else None
    attempt = next((a for a in reversed(tried) if a.name == wanted), None)
    if attempt is not None:
        file = notes_of(session, attempt)
    elif wanted or breaks:
        entry = catalogue.entry(wanted) if wanted else breaks[0]
        file = session.learner.notes(entry.phase_number)
    else:
        raise NotApplicable(Message("This pack has no breaks."))
    return NotesReport(str(file), notes.read(file).decode("utf-8", "replace"))
