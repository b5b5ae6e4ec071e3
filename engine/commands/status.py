"""`engine status`: where the learner stands, and how well their confidence fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.commands.session import Session
from engine.flows.listing import StatusReport, stated
from engine.learner.store import Attempt, opened
from engine.observe.score import brier, calibration


def run(session: Session) -> StatusReport:
    """Every exercise with its state, what is open, and how sure answers were: predictions, and causes."""
    found = session.attempts()
    scored = [
        (one["confidence"], bool(one["right"]))
        for attempt in found
        for kind in ("observed", "closed")  # predictions, and the diagnosis of a blind break
        for one in (attempt.last(kind) or {}).get("scored", ())
        if one["right"] is not None
    ]
    causes = filter(None, (attempt.last("caused") for attempt in found))
    scored += [(one["confidence"], bool(one["right"])) for one in causes]
    current = opened(found)
    return StatusReport(
        session.learner.settings.name,
        str(session.learner.home),
        str(session.learner.model),
        stated(session.catalogue, session.states(found)),
        tuple(_open_questions(session, found)),
        current.name if current else "",
        str(session.learner.practice(current.name)) if current else "",
        len(current.all("hinted")) if current else 0,
        calibration(scored),
        len(scored),
        brier(scored),
    )


def _open_questions(session: Session, found: Sequence[Attempt]) -> Iterator[tuple[str, int]]:
    catalogue = session.catalogue
    for attempt in found:
        entry = catalogue.entries.get(attempt.exercise)
        if entry is not None and entry.kind == "build" and attempt.state == "passed":
            waiting = {*catalogue.summaries[entry.id].questions} - attempt.answered
            if waiting:
                yield entry.id, len(waiting)
