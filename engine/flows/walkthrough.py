"""A sentence on its way through somebody's own model: what a walkthrough measures and shows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from engine.errors import LearnerCodeError, Message, NotApplicable, SpecError, UsageError
from engine.flows.measuring import component_probe
from engine.judge.compare import stopped
from engine.observe.diagnostics import traceback
from engine.observe.projection import Floats, nearest, pca
from engine.run.jobs import Job
from engine.run.servers import Servers
from engine.run.types import Tree, Values
from engine.spec.texts import said
from engine.spec.types import Walkthrough

LIMIT = 120.0  # seconds: a training in number-by-number code takes a while
SEED = 0
END = "."
LONGEST = 16  # tokens of a sentence: the context of the walkthrough's model


class Shown(msgspec.Struct, frozen=True):
    """A value: lines of text; numbers with the words that their rows belong to; or a curve."""

    name: str
    lines: tuple[str, ...] = ()
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


def spoken(spec: Walkthrough) -> list[str]:
    """Every sentence of the little language."""
    found = []
    for template in spec.grammar:
        slots = re.findall(r"\{(\w+)\}", template)
        for choice in itertools.product(*(spec.groups[slot] for slot in slots)):
            sentence = template
            for slot, word in zip(slots, choice, strict=True):
                sentence = sentence.replace(f"{{{slot}}}", word, 1)
            found.append(sentence)
    return found


def vocabulary(spec: Walkthrough) -> dict[str, int]:
    """The words of the little language, and the end of a sentence, with their ids."""
    words = {word for sentence in spoken(spec) for word in sentence.split()}
    return {word: i for i, word in enumerate(sorted(words | {END}))}


def ids_of(number: Mapping[str, int], text: str) -> list[int]:
    """The words of a text as ids. Raises UsageError that lists the words there are."""
    given = re.findall(r"[^\s.,;!?]+", text)
    known = {word.lower(): i for word, i in number.items()}
    strange = [word for word in given if word.lower() not in known]
    if strange or not given:
        raise UsageError(
            Message("The little language has no word {word!r}.", word=strange[0])
            if strange
            else Message("There is no word in it."),
            where=repr(text),
            next=Message("Its words: {words}", words=", ".join(sorted(number))),
        )
    if len(given) > LONGEST:
        raise UsageError(
            Message("At most {longest} words, not {count}.", longest=LONGEST, count=len(given)),
            where=repr(text),
        )
    return [known[word.lower()] for word in given]


def walked(servers: Servers, spec: Walkthrough, tree: Tree, ids: Sequence[int]) -> Values:
    """All that a walkthrough can show of this code. Raises NotApplicable, LearnerCodeError where the
    code gives no such thing.
    """
    number, sentences, same = vocabulary(spec), spoken(spec), spec.same_word
    mixed = np.random.default_rng(SEED).permutation(len(sentences))
    stream = [number[word] for i in mixed for word in (*sentences[i].split(), END)]
    one, other = (sentence.split() for sentence in (same.one, same.other))
    inputs: dict[str, Any] = {
        "ids": np.array(ids),
        "stream": np.array(stream),
        "vocab": len(number),
        "one": np.array([number[word] for word in one]),
        "other": np.array([number[word] for word in other]),
        "at_one": one.index(same.word),
        "at_other": other.index(same.word),
        "steps": spec.steps_of_training,
        "seed": SEED,
    }
    component, probe = component_probe(spec.probe, "walkthroughs")
    outcome = servers.outcomes(tree, [Job(component, probe, inputs)], limit=LIMIT)[0]
    if outcome.stopped:
        raise NotApplicable(
            Message(
                "Your model gave no answer within {limit:.0f} seconds: {why}.",
                limit=LIMIT,
                why=stopped(outcome),
            ),
            next=Message("`engine next` says what is ready for you."),
        )
    if outcome.raised is not None:
        raise LearnerCodeError(
            Message(
                "Your model raised {type}: {message}",
                type=outcome.raised.type,
                message=outcome.raised.message,
            ),
            frames=traceback(outcome.raised),
            next=Message(
                "The walkthrough needs a whole model, from the embedding to AdamW: `engine "
                "next` says which part is to be built now."
            ),
        )
    check_numbers(outcome.values, len(number), len(ids))
    values = {**outcome.values, **_derived(outcome.values, list(number), ids, spec)}
    for name in sorted({name for part in spec.parts for name in part.show} - values.keys()):
        raise SpecError(
            Message("Nothing is called {name!r} in what the walkthrough measures.", name=name)
        )
    return values


def check_numbers(measured: Values, words: int, length: int) -> None:
    """What a model's process says may be anything. Raises LearnerCodeError."""
    for name, rows in (
        ("table_before", words), ("table_after", words), ("rows", length), ("positions", length),
        ("logits_before", words), ("logits_after", words),
    ):  # fmt: skip
        value = measured.get(name)
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
    return Shown(name, lines=(f"{value:.4g}" if isinstance(value, float) else str(value),))


def steps(spec: Walkthrough, values: Values, ids: Sequence[int], lang: str) -> tuple[Walked, ...]:
    """What is said and shown on the way of a sentence, given as ids."""
    words = list(vocabulary(spec))
    sentence = [words[i] for i in ids]
    return tuple(
        Walked(
            said(part.title, lang),
            said(part.say, lang),
            tuple(_shown(name, values, sentence) for name in part.show),
        )
        for part in spec.parts
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
