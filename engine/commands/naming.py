"""What an attempt is called, and where its notes are: a blind break has a handle, and notes apart, as its
phase would tell where the bug is.
"""

from __future__ import annotations

from pathlib import Path

from engine.commands.session import Session
from engine.errors import Message
from engine.learner.store import Attempt
from engine.words import said


def called(session: Session, id: str) -> str:
    """The name that attempts at `id` are recorded by: a blind break's handle, else the exercise that begins
    so. Raises UsageError.
    """
    handles = {attempt.name for attempt in session.attempts() if attempt.blind}
    return id if id in handles else session.catalogue.entry(id).id


def title(session: Session, attempt: Attempt) -> str:
    """What the exercise is called in print."""
    if attempt.secret:
        return handle_title(attempt.name, session.learner.lang)
    return session.title(attempt.exercise)


def handle_title(name: str, lang: str) -> str:
    """The title of a blind break until its reveal."""
    return said(Message("Blind break {number}", number=name.rpartition("-")[2]), lang)


def notes_of(session: Session, attempt: Attempt) -> Path:
    """Where its notes are."""
    if attempt.blind:
        return session.learner.blind_notes
    return session.learner.notes(session.catalogue.entry(attempt.exercise).phase_number)
