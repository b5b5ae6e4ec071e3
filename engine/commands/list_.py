"""`engine list`: all exercises, and how far the learner is with each."""

from __future__ import annotations

from engine.commands.session import Session
from engine.flows.listing import Listed, ListReport, listed
from engine.spec.catalogue import Catalogue, packs


def run(session: Session | None, lang: str = "en") -> ListReport:
    """All exercises, with the learner's state where there is a learner."""
    if session is not None:
        known = session.states()
        return ListReport(listed(session.catalogue, session.learner.lang, known))
    found: list[Listed] = []
    for pack in sorted(packs()):
        found += listed(Catalogue.find(pack), lang, {})
    return ListReport(tuple(found))
