"""`engine list`: all exercises, and how far the learner is with each."""

from __future__ import annotations

from engine.commands.session import Session
from engine.flows.listing import Listed, ListReport, listed
from engine.learner.store import taken
from engine.spec.catalogue import Catalogue
from engine.spec.packs import packs


def run(session: Session | None, lang: str = "en") -> ListReport:
    """All exercises, with the learner's state where there is a learner."""
    if session is not None:
        found = session.attempts()
        known, lang = session.states(found), session.learner.lang
        unfit = {}
        if session.catalogue.factual is not None:
            from engine.commands import found as finding

            unfit = finding.unfit(session)
        return ListReport(listed(session.catalogue, lang, known, taken(found), unfit))
    every: list[Listed] = []
    for pack, folder in sorted(packs().items()):
        every += listed(Catalogue(pack, folder), lang, {})
    return ListReport(tuple(every))
