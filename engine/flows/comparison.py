"""Somebody's model trained as it is, and with tensors exchanged: what a comparison measures, and what holds.

A sentence is said only of what came out the same way in every run, and by more than a little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

import msgspec

from engine.errors import Message, NotApplicable
from engine.facts import experiments, trace, trained
from engine.facts.experiments import Candidate
from engine.facts.trained import Lesson
from engine.flows.check import BadFacts, Bench, told, why_not
from engine.flows.fact_observe import BATCH, LETTERS, SAME
from engine.flows.measuring import component_probe
from engine.spec.texts import said
from engine.spec.types import Comparison

LIMIT = 60.0  # seconds of a processor for all trainings
LAST = 10  # steps whose mean is the last loss
MEASURED: dict[str, Callable[[Lesson], float | None]] = {
    "first_loss": lambda one: one.losses[0],
    "last_loss": lambda one: fmean(one.losses[-LAST:]),
    "other_loss": lambda one: one.other,
    "first_norm": lambda one: one.norms[0],
    "largest_norm": lambda one: max(one.norms),
}
Holds = Literal["higher", "lower", "same"]


class Compared(msgspec.Struct, frozen=True):
    """A number of both versions: the mean over the runs, with the smallest and the largest; what is said."""

    name: str
    title: str
    first: tuple[float, float, float]
    second: tuple[float, float, float]
    holds: Holds
    says: str


class ComparisonReport(msgspec.Struct, frozen=True):
    """`engine observe TOPIC`. losses, norms: of the first run of each version, step by step."""

    id: str
    title: str
    text: str
    versions: tuple[str, str]
    own: str  # the version that the learner's model is
    drawn: str
    rows: tuple[Compared, ...]
    losses: tuple[tuple[float, ...], tuple[float, ...]]
    norms: tuple[tuple[float, ...], tuple[float, ...]]
    note: str


class Exchange(msgspec.Struct, frozen=True):
    """What the pack says of a model: the version that it is, and what is read for it to be the other one."""

    version: str = ""
    read: str = ""
    but: str = ""
    by: str = ""
    why: str = ""


class Versions(NamedTuple):
    """The trainings of the first version and of the second."""

    first: Sequence[Lesson]
    second: Sequence[Lesson]


def compare(bench: Bench, found: Candidate, id: str, spec: Comparison) -> ComparisonReport:
    """Raises NotApplicable where a model cannot be had in both versions."""
    exchange = _exchange(bench, found, spec)
    context = experiments.sizes(bench.pack, found)["context"]
    job = {
        **experiments.job(bench.pack, found, ()),
        "kind": "sharing",
        "exchange": {"read": exchange.read, "but": exchange.but, "by": exchange.by},
        "context": context,
        "steps": spec.steps,
        "runs": spec.runs,
        "rate": spec.rate,
        "batch": max(BATCH, LETTERS // context),
    }
    answer = bench.learner.run(bench.server, [job], LIMIT)[0]
    if why := why_not(answer):
        raise _impossible(why)
    try:
        lessons = trained.lessons(answer.data, spec.runs)
    except trace.BadAnswer as error:
        raise _impossible(str(error)) from None
    names = list(spec.versions)
    both = [lessons.as_it_is, lessons.exchanged]
    if names[0] != exchange.version:
        both.reverse()
    return _report(id, spec, exchange, Versions(*both), bench.lang)


def _exchange(bench: Bench, found: Candidate, spec: Comparison) -> Exchange:
    """What the pack's function says of the model. Raises NotApplicable."""
    job = experiments.job(bench.pack, found, (experiments.FIRST,))
    answer = bench.learner.run(bench.server, [job], LIMIT)[0]
    if why := why_not(answer):
        raise _impossible(why)
    try:
        data = told(bench, found, trace.recorded(*trace.measured(answer.data)), ["first"])
        module, function = component_probe(spec.exchange, "comparisons")
        exchange = msgspec.convert(bench.ask(function, data, module), Exchange)
    except (trace.BadAnswer, BadFacts, msgspec.ValidationError) as error:
        raise _impossible(str(error)) from None
    if exchange.why or exchange.version not in spec.versions:
        raise _impossible(bench.why(exchange.why) or "no version was named")
    return exchange


def _impossible(why: str) -> NotApplicable:
    return NotApplicable(
        Message("Your model cannot be had in both versions: {why}.", why=why),
        next=Message("`engine check PATH` says what was taken for the model."),
    )


def _report(
    id: str, spec: Comparison, exchange: Exchange, versions: Versions, lang: str
) -> ComparisonReport:
    names = [said(text, lang) for text in spec.versions.values()]
    rows = []
    for name, row in spec.rows.items():
        first, second = (_numbers(name, lessons) for lessons in versions)
        if first and second:
            held = holds(first, second)
            text = said(getattr(row, held), lang)
            title = said(row.title, lang)
            rows.append(Compared(name, title, _range(first), _range(second), held, text))
    return ComparisonReport(
        id,
        said(spec.title, lang),
        said(spec.text, lang),
        (names[0], names[1]),
        said(spec.versions[exchange.version], lang),
        "" if exchange.by else said(spec.drawn, lang),
        tuple(rows),
        (tuple(versions.first[0].losses), tuple(versions.second[0].losses)),
        (tuple(versions.first[0].norms), tuple(versions.second[0].norms)),
        said(spec.note, lang),
    )


def _numbers(name: str, lessons: Sequence[Lesson]) -> list[float]:
    """One for each lesson; none where a lesson shows none."""
    found = [MEASURED[name](one) for one in lessons]
    known = [number for number in found if number is not None]
    return known if len(known) == len(found) else []


def _range(numbers: Sequence[float]) -> tuple[float, float, float]:
    return fmean(numbers), min(numbers), max(numbers)


def holds(first: Sequence[float], second: Sequence[float]) -> Holds:
    """Whether the first is higher, or lower, in every run, and in the mean by more than a little."""
    means = fmean(first), fmean(second)
    if abs(means[0] - means[1]) <= SAME * abs(means[1]):
        return "same"
    pairs = list(zip(first, second, strict=True))
    if all(one > other for one, other in pairs):
        return "higher"
    return "lower" if all(one < other for one, other in pairs) else "same"
