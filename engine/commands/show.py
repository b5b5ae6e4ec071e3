"""`engine show`: the text of an exercise."""

from __future__ import annotations

from engine.commands.session import Session
from engine.flows.show import ShowReport, show_break, show_build
from engine.learner.store import states
from engine.spec.catalogue import Catalogue, packs


def run(session: Session | None, id: str, lang: str = "en") -> ShowReport:
    """The text of an exercise; of a break only what does not give it away, until it is closed."""
    if session is not None:
        catalogue, lang = session.catalogue, session.learner.lang
    else:
        pack, slash, _ = id.partition("/")
        catalogue = Catalogue.find(pack if slash else next(iter(sorted(packs())), ""))
    entry = catalogue.entry(id)
    if entry.kind == "build":
        return show_build(catalogue, entry.id, lang)
    known = states(session.attempts()) if session else {}
    return show_break(catalogue, entry.id, lang, known.get(entry.id, "new"))
