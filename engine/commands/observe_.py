"""`engine observe`: measure again, healthy beside broken, and score the predictions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.commands.session import Session
from engine.commands.warm import servers_of
from engine.flows import measuring
from engine.flows.answers import Answer, shown
from engine.judge.sampling import derive
from engine.learner import entries
from engine.observe import diagnostics
from engine.observe.diagnostics import Observation
from engine.observe.score import Scored, brier, is_right
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Draw, Outcome, Tree
from engine.spec.types import Prediction

SHOWN_SEED = 0  # what a learner is shown is the same each time; what judges them never is


class Observed(msgspec.Struct, frozen=True):
    """Observations of both versions, and the predictions beside them."""

    observations: tuple[Observation, ...]
    scored: tuple[Scored, ...]
    brier: float | None


class ObserveReport(msgspec.Struct, frozen=True):
    """`engine observe`."""

    exercise: str
    title: str
    symptom: str
    diagnostics: tuple[str, ...]
    observed: Observed
    practice: str


def run(session: Session) -> ObserveReport:
    """Measure the practice copy as it is now beside the healthy code."""
    attempt = session.open_break()
    learner, catalogue = session.learner, session.catalogue
    spec = catalogue.break_(attempt.exercise)
    healthy, now = session.trees(attempt)
    predicted = attempt.last("predicted") or {"answers": []}
    answers = [msgspec.convert(one, Answer) for one in predicted["answers"]]
    with servers_of(session) as servers:
        observed = look(servers, session, attempt.exercise, healthy, now, answers)
    return ObserveReport(
        attempt.exercise,
        session.text(spec.title),
        session.text(spec.symptom),
        tuple(session.text(text) for text in spec.diagnostics),
        observed,
        str(learner.practice(attempt.exercise)),
    )


def look(
    servers: Servers,
    session: Session,
    id: str,
    healthy: Tree,
    broken: Tree,
    answers: Sequence[Answer],
    *,
    dtype: str = "",
    server: str = "shown",
) -> Observed:
    """Run what the exercise observes on both trees; score the answers by what came out.

    dtype: of the healthy tree's arrays, where it is known. server: one that has compiled most of it.
    """
    spec, file = session.catalogue.break_(id), session.catalogue.entry(id).file
    dtype = dtype or measuring.dtype_of(servers, session.catalogue, healthy)
    wanted = {(o.probe, o.regime) for o in spec.observe}
    wanted |= {(p.measured.probe, p.measured.regime) for p in spec.predictions if p.measured}
    cases = servers.cases(shown_draws(sorted(wanted), file, dtype))
    work = jobs_of(cases)
    before, after = servers.several(
        [(healthy, work, servers.limit), (broken, work, servers.limit)], server=server
    )
    own = dict(zip(sorted(wanted), before, strict=True))
    now = dict(zip(sorted(wanted), after, strict=True))
    observations = tuple(
        diagnostics.observe(
            session.text(o.title),
            own[o.probe, o.regime],
            now[o.probe, o.regime],
            curve=o.curve,
            orientation=o.orientation,
        )
        for o in spec.observe
    )
    scored = tuple(
        _score(session, prediction, answer, now)
        for prediction, answer in zip(spec.predictions, answers, strict=False)
    )
    judged = [(one.confidence, one.right) for one in scored if one.right is not None]
    return Observed(observations, scored, brier(judged))


def shown_draws(wanted: Sequence[tuple[str, str]], file: str, dtype: str) -> list[Draw]:
    """What a learner is shown of each (component.probe, regime)."""
    draws = []
    for name, regime in wanted:
        component, probe = measuring.component_probe(name, file)
        seed = derive(SHOWN_SEED, component, probe, regime)
        draws.append(Draw(component, probe, regime, seed, dtype))
    return draws


def _score(
    session: Session,
    prediction: Prediction,
    answer: Answer,
    now: dict[tuple[str, str], Outcome],
) -> Scored:
    lang = session.learner.lang
    found: str | float | None = None
    if prediction.measured:
        outcome = now[prediction.measured.probe, prediction.measured.regime]
        found = diagnostics.measured(outcome, prediction.measured.value)
    text = entries.words(lang)["none"] if found is None else shown(prediction, found, lang)
    if prediction.kind == "text":
        text = "; ".join(sorted({_end(o) for o in now.values()} - {""})) or "-"
    return Scored(
        prediction.id,
        session.text(prediction.ask),
        shown(prediction, answer.answer, lang),
        text,
        answer.confidence,
        is_right(prediction, answer.answer, found),
    )


def _end(outcome: Outcome) -> str:
    return f"{outcome.raised.type}: {outcome.raised.message}" if outcome.raised else ""


def notes_text(observed: Observed, lang: str) -> str:
    """The table for the notes."""
    error = next((o.error for o in observed.observations if o.error), "")
    return entries.measured(observed.scored, error, observed.brier, lang)
