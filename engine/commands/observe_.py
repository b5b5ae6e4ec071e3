"""`engine observe`: measure again, healthy beside broken, and score the predictions."""

from __future__ import annotations

import msgspec

from engine.commands.session import Session
from engine.commands.warm import servers_of
from engine.flows import observe as flow
from engine.flows.answers import Answer
from engine.flows.observe import ObserveReport, Versions


def run(session: Session) -> ObserveReport:
    """Measure the practice copy as it is now beside the healthy code."""
    attempt = session.open_break()
    id, lang = attempt.exercise, session.learner.lang
    spec = session.catalogue.break_(id)
    versions = Versions(*session.trees(attempt))
    predicted = attempt.last("predicted") or {"answers": []}
    answers = [msgspec.convert(one, Answer) for one in predicted["answers"]]
    with servers_of(session) as servers:
        observed = flow.look(servers, session.catalogue, id, versions, answers, lang)
    return ObserveReport(
        id,
        session.text(spec.title),
        session.text(spec.symptom),
        tuple(session.text(text) for text in spec.diagnostics),
        observed,
        str(session.learner.practice(id)),
    )
