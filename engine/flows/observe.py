"""Healthy beside broken, as an exercise shows them, and the predictions beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from engine.errors import Message
from engine.flows.answers import Answer, shown
from engine.flows.measuring import component_probe, dtype_of
from engine.judge.sampling import derive
from engine.observe import diagnostics
from engine.observe.diagnostics import Observation
from engine.observe.score import Scored, brier, is_right
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Draw, Outcome, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.texts import said
from engine.spec.types import Break, Measured, Observe, Prediction
from engine.words import said as in_words

SHOWN_SEED = 0  # what a learner is shown is the same each time; what judges them never is
UNMEASURED = Message("not measured")
Outcomes = Mapping[tuple[str, str], Outcome]  # by (component.probe, regime)


class Observed(msgspec.Struct, frozen=True):
    """Observations of both versions, and the predictions beside them."""

    observations: tuple[Observation, ...]
    scored: tuple[Scored, ...]
    brier: float | None


def values_of(observed: Observed) -> dict[str, dict[str, str]]:
    """The numbers that were measured, by name, healthy and broken: hints speak of them."""
    return {
        row.name: {"healthy": str(row.healthy), "broken": str(row.broken)}
        for one in observed.observations
        for row in one.numbers
    }


class ObserveReport(msgspec.Struct, frozen=True):
    """`engine observe`."""

    exercise: str
    title: str
    symptom: str
    diagnostics: tuple[str, ...]
    observed: Observed
    practice: str
    saved: str = ""


class Versions(NamedTuple):
    """The code before and after the bug. dtype: of the arrays of both, where it is known. now: what became
    of the broken code, where it was edited.
    """

    healthy: Tree
    broken: Tree
    dtype: str = ""
    now: Tree | None = None


class Subject(NamedTuple):
    """What of a break is looked at: what it observes, and its predictions with the learner's answers."""

    observe: tuple[Observe, ...]
    predictions: tuple[Prediction, ...] = ()
    answers: Sequence[Answer] = ()


def told(spec: Break, answers: Sequence[Answer]) -> Subject:
    """What somebody sees who has predicted."""
    return Subject(spec.observe, spec.predictions, answers)


def blind(spec: Break, *, later: bool = False) -> Subject:
    """What somebody sees who does not know the bug. later: with what only hints speak of, at the end."""
    assert spec.blind is not None  # it was taken blind
    shown = spec.blind.observe or spec.observe
    return Subject((*shown, *spec.blind.later) if later else shown)


def look(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    versions: Versions,
    subject: Subject,
    lang: str,
    *,
    server: str = "shown",
) -> Observed:
    """Run what the exercise observes on all versions; score the answers by what came out of the broken one.

    server: one that has compiled most of the code.
    """
    file = catalogue.entry(id).file
    dtype = versions.dtype or dtype_of(servers, catalogue, versions.healthy)
    wanted = {(o.probe, o.regime) for o in subject.observe}
    wanted |= {(p.measured.probe, p.measured.regime) for p in subject.predictions if p.measured}
    work = jobs_of(servers.cases(shown_draws(sorted(wanted), file, dtype)))
    two = [(tree, work, servers.limit) for tree in (versions.healthy, versions.broken)]
    found = servers.several(two, server=server)
    if versions.now is not None:
        found.append(servers.outcomes(versions.now, work, server="now"))
    by_probe = [dict(zip(sorted(wanted), outcomes, strict=True)) for outcomes in found]
    now = by_probe[1]
    ended = "; ".join(sorted({_end(outcome) for outcome in now.values()} - {""}))

    def measured(one: Measured) -> str | float | None:
        return diagnostics.measured(now[one.probe, one.regime], one.value)

    told, score = scored(subject.predictions, subject.answers, measured, lang, ended or "-")
    return Observed(_side_by_side(subject.observe, by_probe, lang), told, score)


def scored(
    asked: Sequence[Prediction],
    answers: Sequence[Answer],
    measured: Callable[[Measured], str | float | None],
    lang: str,
    ended: str = "-",
) -> tuple[tuple[Scored, ...], float | None]:
    """Answers beside what was measured, and the Brier score. ended: the errors, beside answers in words."""
    told = []
    for prediction, answer in zip(asked, answers, strict=False):
        found = measured(prediction.measured) if prediction.measured else None
        text = in_words(UNMEASURED, lang) if found is None else shown(prediction, found, lang)
        told.append(
            Scored(
                prediction.id,
                said(prediction.ask, lang),
                shown(prediction, answer.answer, lang),
                ended if prediction.kind == "text" else text,
                answer.confidence,
                is_right(prediction, answer.answer, found),
            )
        )
    judged = [(one.confidence, one.right) for one in told if one.right is not None]
    return tuple(told), brier(judged)


def _side_by_side(
    observe: Sequence[Observe], versions: Sequence[Outcomes], lang: str
) -> tuple[Observation, ...]:
    return tuple(
        diagnostics.observe(
            said(o.title, lang),
            *(outcomes[o.probe, o.regime] for outcomes in versions),
            curve=o.curve,
            axes=(o.unit, said(o.along, lang)),
            orientation=o.orientation,
        )
        for o in observe
    )


def shown_draws(wanted: Sequence[tuple[str, str]], file: str, dtype: str) -> list[Draw]:
    """What a learner is shown of each (component.probe, regime)."""
    draws = []
    for name, regime in wanted:
        component, probe = component_probe(name, file)
        seed = derive(SHOWN_SEED, component, probe, regime)
        draws.append(Draw(component, probe, regime, seed, dtype))
    return draws


def _end(outcome: Outcome) -> str:
    return f"{outcome.raised.type}: {outcome.raised.message}" if outcome.raised else ""
