"""`engine notes`: where the notes are, and what stands in them."""

from __future__ import annotations

from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.flows.reports import NotesReport
from engine.learner import notes


def run(session: Session, id: str | None = None) -> NotesReport:
    """The notes of the phase of `id`, else of the latest break, else of the first there is."""
    catalogue = session.catalogue
    breaks = [entry for entry in catalogue.entries.values() if entry.kind == "break"]
    if id:
        wanted = catalogue.entry(id)
    else:
        tried = [a.exercise for a in session.attempts()]
        recent = [entry for name in reversed(tried) for entry in breaks if entry.id == name]
        if not breaks:
            raise NotApplicable(Message("This pack has no breaks."))
        wanted = (recent or breaks)[0]
    file = session.learner.notes(wanted.phase_number)
    return NotesReport(str(file), notes.read(file).decode("utf-8", "replace"))
