"""A sentence on its way through somebody's own model: what a walkthrough measures and shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from engine.errors import LearnerCodeError, Message, NotApplicable, Said, SpecError
from engine.flows.language import SEED, language, vocabulary
from engine.flows.measuring import component_probe
from engine.judge.compare import stopped
from engine.observe.diagnostics import traceback
from engine.observe.projection import Floats, nearest, pca
from engine.run.jobs import Job
from engine.run.servers import Servers
from engine.run.types import Tree, Values
from engine.spec.texts import said
from engine.spec.types import Part, Walkthrough

LIMIT = 120.0  # seconds: a training in number-by-number code takes a while
ALWAYS = ("table_before", "table_after", "rows", "positions", "logits_before", "logits_after")


class Shown(msgspec.Struct, frozen=True):
    """A value: lines of text; numbers with the words that their rows belong to; or a curve."""

    name: str
    lines: tuple[Said, ...] = ()
    rows: tuple[tuple[str, tuple[float, ...]], ...] = ()
    curve: tuple[float, ...] = ()


class Walked(msgspec.Struct, frozen=True):
    """One step on the way."""

    title: str
    say: str
    shown: tuple[Shown, ...]


class Point(msgspec.Struct, frozen=True):
    """A word in the plane."""

    word: str
    x: float
    y: float


class WalkReport(msgspec.Struct, frozen=True):
    """`engine observe embedding-walkthrough`."""

    title: str
    text: str
    steps: tuple[Walked, ...]
    before: tuple[Point, ...]
    after: tuple[Point, ...]
    saved: str


def walked(servers: Servers, spec: Walkthrough, tree: Tree, ids: Sequence[int]) -> Values:
    """All that a walkthrough can show of this code. Raises NotApplicable, LearnerCodeError where the
    code gives no such thing.
    """
    known = language(spec)
    inputs: dict[str, Any] = {
        "ids": np.array(ids),
        "stream": np.array(known.stream),
        "vocab": len(known.words),
        "one": np.array(known.one),
        "other": np.array(known.other),
        "at_one": known.at_one,
        "at_other": known.at_other,
        "steps": spec.steps_of_training,
        "seed": SEED,
    }
    component, probe = component_probe(spec.probe, "walkthroughs")
    outcome = servers.outcomes(tree, [Job(component, probe, inputs)], limit=LIMIT)[0]
    if outcome.stopped:
        raise no_answer(LIMIT, stopped(outcome))
    if outcome.raised is not None:
        raise LearnerCodeError(
            Message(
                "Your model raised {type}: {message}",
                type=outcome.raised.type,
                message=outcome.raised.message,
            ),
            frames=traceback(outcome.raised),
            next=Message(
                "The walkthrough needs parts that are not whole yet: `engine submit-build --all` "
                "says which."
            ),
        )
    return whole(completed({**dict.fromkeys(ALWAYS), **outcome.values}, spec, ids), spec)


def whole(values: Values, spec: Walkthrough) -> Values:
    """The same, with all that the walkthrough shows. Raises SpecError."""
    named = {name for part in _parts(spec, values) for name in part.show}
    for name in sorted(named - values.keys()):
        raise SpecError(
            Message("Nothing is called {name!r} in what the walkthrough measures.", name=name)
        )
    return values


def no_answer(limit: float, why: str) -> NotApplicable:
    """That a model was not done in time."""
    return NotApplicable(
        Message(
            "Your model gave no answer within {limit:.0f} seconds: {why}.", limit=limit, why=why
        ),
        next=Message("`engine next` says what is ready for you."),
    )


def completed(measured: Values, spec: Walkthrough, ids: Sequence[int]) -> Values:
    """What was measured, checked, and what follows from it. Raises LearnerCodeError."""
    words = list(vocabulary(spec))
    check_numbers(measured, len(words), len(ids))
    return {**measured, **_derived(measured, words, ids, spec)}


def _parts(spec: Walkthrough, values: Values) -> list[Part]:
    """The parts that speak of what this code has."""
    return [part for part in spec.parts if not part.when or part.when in values]


def check_numbers(measured: Values, words: int, length: int) -> None:
    """What a model's process says may be anything. Raises LearnerCodeError."""
    for name, rows in (
        ("table_before", words), ("table_after", words), ("rows", length), ("positions", length),
        ("logits_before", words), ("logits_after", words),
    ):  # fmt: skip
        value = measured.get(name)
        if name not in measured:
            continue
        if not isinstance(value, np.ndarray) or value.shape[:1] != (rows,):
            raise LearnerCodeError(
                Message(
                    "Your model gave no {name} of {rows} rows.",
                    name=name.replace("_", " "),
                    rows=rows,
                ),
                next=Message("`engine submit-build mini_gpt` shows what it should give."),
            )
        if not np.isfinite(value).all():
            raise LearnerCodeError(
                Message(
                    "Your model's {name} holds numbers that are not finite.",
                    name=name.replace("_", " "),
                ),
                next=Message("If it is so only after the training: `engine submit-build adamw`."),
            )


def _array(values: Values, name: str) -> Floats:
    return np.asarray(values[name], dtype=np.float64)


def _derived(
    values: Values, words: Sequence[str], ids: Sequence[int], spec: Walkthrough
) -> dict[str, Any]:
    """What is worked out on this side: likely next words, and neighbours by cosine."""
    found: dict[str, Any] = {
        "ids": [f"{words[i]}: {i}" for i in ids],
        "same_word": [f"{spec.same_word.word}: {spec.same_word.one} / {spec.same_word.other}"],
    }
    for when in ("before", "after"):
        if f"logits_{when}" in values:
            logits = _array(values, f"logits_{when}")
            odds = np.exp(logits - logits.max())
            odds /= odds.sum()
            likely = np.argsort(-odds, kind="stable")[:3]
            found[f"next_{when}"] = [", ".join(f"{words[i]} {odds[i]:.2f}" for i in likely)]
        table = _array(values, f"table_{when}")
        found[f"neighbours_{when}"] = [
            f"{words[i]}: " + ", ".join(f"{words[j]} {cos:.2f}" for j, cos in nearest(table, i))
            for i in dict.fromkeys(ids)
        ]
    return found


def _shown(name: str, values: Mapping[str, Any], sentence: Sequence[str]) -> Shown:
    value = values.get(name)
    if isinstance(value, dict):
        value = value.get("list")
    if isinstance(value, list) and value and isinstance(value[0], str):
        return Shown(name, lines=tuple(value))
    if isinstance(value, list):
        return Shown(name, lines=(f"({', '.join(map(str, value))})",))
    if isinstance(value, np.ndarray) and value.ndim == 2:
        pairs = zip(sentence, value, strict=True)
        return Shown(name, rows=tuple((word, tuple(map(float, row))) for word, row in pairs))
    if isinstance(value, np.ndarray):
        return Shown(name, curve=tuple(map(float, value)))
    told = Message("{number:.4g}", number=value) if isinstance(value, float) else str(value)
    return Shown(name, lines=(told,))


def steps(spec: Walkthrough, values: Values, ids: Sequence[int], lang: str) -> tuple[Walked, ...]:
    """What is said and shown on the way of a sentence, given as ids."""
    words = list(vocabulary(spec))
    sentence = [words[i] for i in ids]
    return tuple(
        Walked(
            said(part.title, lang),
            said(part.say, lang),
            tuple(_shown(name, values, sentence) for name in part.show if name in values),
        )
        for part in _parts(spec, values)
    )


def points(values: Values, name: str, words: Sequence[str], method: str) -> tuple[Point, ...]:
    """A table of vectors, one row a word, in the plane. method: pca, or tsne."""
    table = _array(values, name)
    plane = _tsne(table) if method == "tsne" else pca(table)
    return tuple(Point(word, float(x), float(y)) for word, (x, y) in zip(words, plane, strict=True))


def _tsne(table: Floats) -> Any:
    from sklearn.manifold import TSNE

    few = max(1, min(10, (len(table) - 1) // 3))
    return TSNE(2, perplexity=few, random_state=SEED, init="pca").fit_transform(table)
