"""`engine next`: what to do now."""

from __future__ import annotations

from engine.commands.naming import title
from engine.commands.session import Session
from engine.flows.listing import NextReport, next_step
from engine.learner.store import opened


def run(session: Session) -> NextReport:
    """The open break, else the first exercise of the course that is not done and not blocked; of a model
    that was complete from the beginning the first break.
    """
    found = session.attempts()
    current = opened(found)
    if current is not None:
        head = title(session, current)
        return NextReport(current.name, "break", head, "open", "engine submit-fix")
    learner = session.learner
    return next_step(
        session.catalogue, learner.lang, session.states(found), learner.settings.complete
    )
