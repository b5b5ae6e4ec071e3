"""`engine show`: the text of an exercise."""

from __future__ import annotations

from engine.commands.naming import title
from engine.commands.session import Session
from engine.flows.show import ShowReport, show_blind, show_break, show_build
from engine.learner.store import latest, states
from engine.spec.catalogue import Catalogue
from engine.spec.packs import DEFAULT


def run(session: Session | None, id: str, lang: str = "en") -> ShowReport:
    """The text of an exercise; of a break only what does not give it away, until it is closed."""
    if session is not None:
        catalogue, lang = session.catalogue, session.learner.lang
    else:
        pack, slash, _ = id.partition("/")
        catalogue = Catalogue.find(pack if slash else DEFAULT)
    taken = latest(session.attempts(), id) if session else None
    if session and taken and taken.secret:
        return show_blind(catalogue, taken.exercise, id, title(session, taken), lang)
    entry = catalogue.entry(taken.exercise if taken else id)
    if entry.kind == "build":
        return show_build(catalogue, entry.id, lang)
    known = states(session.attempts()) if session else {}
    last = session.latest(entry.id) if session else None
    bug = last.injected if last else {}
    return show_break(catalogue, entry.id, lang, known.get(entry.id, "new"), bug)
