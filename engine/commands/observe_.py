"""`engine observe`: measure again, healthy beside broken beside what is there now."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.commands import pictures
from engine.commands.means import means_of
from engine.commands.naming import title
from engine.commands.session import Session
from engine.commands.warm import ahead
from engine.flows.answers import Answer
from engine.flows.hints import filled
from engine.flows.observe import Observed, ObserveReport
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
    ahead(session, attempt.exercise)
    id, bug, lang = attempt.exercise, attempt.injected, session.learner.lang
    spec = session.catalogue.story(id)
    predicted = attempt.last("predicted") or {"answers": []}
    answers = [msgspec.convert(one, Answer) for one in predicted["answers"]]
    with means_of(session) as means:
        observed = means.again(attempt, answers)
    if save is not None:
        pictures.save_curves(save, observed.observations)
    return ObserveReport(
        attempt.name,
        title(session, attempt),
        "" if attempt.blind else filled(spec.symptom, bug, lang),
        () if attempt.blind else tuple(filled(text, bug, lang) for text in spec.diagnostics),
        _frozen(attempt, observed),
        str(session.learner.practice(attempt.name)),
        str(save.resolve()) if save else "",
    )


def _frozen(attempt: Attempt, observed: Observed) -> Observed:
    """The same with the predictions as they were first scored, where they were."""
    first = next(iter(attempt.all("observed")), None)
    if first is None:
        return observed
    scored = tuple(msgspec.convert(one, Scored) for one in first["scored"])
    judged = [(one.confidence, one.right) for one in scored if one.right is not None]
    return msgspec.structs.replace(observed, scored=scored, brier=brier(judged))
