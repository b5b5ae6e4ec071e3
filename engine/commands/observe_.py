"""`engine observe`: measure again, healthy beside broken beside what is there now."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.commands import pictures
from engine.commands.naming import title
from engine.commands.session import Session
from engine.commands.warm import servers_of
from engine.flows import observe as flow
from engine.flows.answers import Answer
from engine.flows.observe import Observed, ObserveReport, Versions
from engine.learner.store import Attempt
from engine.observe.score import Scored, brier


def run(session: Session, *, save: Path | None = None) -> ObserveReport:
    """Measure the practice copy as it is now beside the healthy and the broken code. Predictions are
    about the broken code: they stay as they were scored then. Writes nothing but `save`.
    """
    if save is not None:
        pictures.check_file(save)
        pictures.check_plots()
    attempt = session.open_break()
    id, lang = attempt.exercise, session.learner.lang
    spec = session.catalogue.break_(id)
    predicted = attempt.last("predicted") or {"answers": []}
    answers = [msgspec.convert(one, Answer) for one in predicted["answers"]]
    subject = flow.blind(spec) if attempt.blind else flow.told(spec, answers)
    with servers_of(session) as servers:
        versions = _versions(session, attempt)
        observed = flow.look(servers, session.catalogue, id, versions, subject, lang)
    if save is not None:
        pictures.save_curves(save, observed.observations)
    return ObserveReport(
        attempt.name,
        title(session, attempt),
        "" if attempt.blind else session.text(spec.symptom),
        () if attempt.blind else tuple(session.text(text) for text in spec.diagnostics),
        _frozen(attempt, observed),
        str(session.learner.practice(attempt.name)),
        str(save.resolve()) if save else "",
    )


def _versions(session: Session, attempt: Attempt) -> Versions:
    from engine.learner.snapshots import History

    healthy, now = session.trees(attempt)
    data = attempt.last("injected") or {}
    files = History(session.learner.private).load(data["broken"])
    if files == now.files:
        return Versions(healthy, now)
    broken = session.learner.tree(session.catalogue, files, session.learner.practice(attempt.name))
    return Versions(healthy, broken, now=now)


def _frozen(attempt: Attempt, observed: Observed) -> Observed:
    """The same with the predictions as they were first scored, where they were."""
    first = next(iter(attempt.all("observed")), None)
    if first is None:
        return observed
    scored = tuple(msgspec.convert(one, Scored) for one in first["scored"])
    judged = [(one.confidence, one.right) for one in scored if one.right is not None]
    return msgspec.structs.replace(observed, scored=scored, brier=brier(judged))
