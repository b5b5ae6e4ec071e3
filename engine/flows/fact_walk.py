"""A sentence on its way through anybody's PyTorch model: the walk of a contract, with the parts by facts.

The model is built at a small size, and shown three sentences at once, all as long as the longest: the
learner's, and two that share a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.errors import LearnerCodeError, Message, UsageError
from engine.facts import experiments, trace, trained
from engine.facts.experiments import Candidate
from engine.flows import language as small
from engine.flows import walkthrough
from engine.flows.check import LIMIT, BadFacts, Bench, told, why_not
from engine.flows.fact_observe import TRACED
from engine.flows.measuring import component_probe
from engine.run.types import Values
from engine.spec.types import Walkthrough

EXPERIMENTS = ("first", "start", "end")
RATE, BATCH = 1e-2, 16
NEXT = Message("`engine check PATH` says what is wrong with it, and what was taken for the model.")


class Sentences(NamedTuple):
    """What is shown to a model: rows of one length, and what is asked of each."""

    rows: list[list[int]]
    length: int  # of the learner's own sentence
    language: small.Language


def walked(bench: Bench, found: Candidate, spec: Walkthrough, ids: Sequence[int]) -> Values:
    """All that a walkthrough can show of this model. Raises UsageError for a sentence that is longer than its
    context; NotApplicable, LearnerCodeError.
    """
    sizes = experiments.sizes(bench.pack, found)
    language = small.language(spec)
    context = sizes["context"]
    if len(ids) > context:
        raise UsageError(
            Message("At most {longest} words, not {count}.", longest=context, count=len(ids))
        )
    lengths = [context] if found.full else range(1, context + 1)
    shown = sentences(language, ids, [n for n in lengths if found.full or n not in sizes.values()])
    job = {
        **experiments.job(bench.pack, found, ()),
        "kind": "walk",
        "experiment": msgspec.to_builtins(TRACED),
        "context": context,
        "asked": shown.rows,
        "text": list(language.stream),
        "steps": spec.steps_of_training,
        "rate": RATE,
        "batch": BATCH,
    }
    answer = bench.learner.run(bench.server, [job], LIMIT)[0]
    if why := why_not(answer):
        raise walkthrough.no_answer(LIMIT, why)
    try:
        model, blobs = trace.measured(answer.data)
        losses = trained.lesson(answer.data).losses
        data = told(bench, found, trace.recorded(model, blobs), EXPERIMENTS)
        module, function = component_probe(spec.probe, "walkthroughs")
        measured = bench.ask(function, data, module)
    except (trace.BadAnswer, BadFacts) as error:
        raise walkthrough.no_answer(LIMIT, str(error)) from None
    return walkthrough.completed(_values(measured, shown, losses), spec, ids)


def sentences(language: small.Language, ids: Sequence[int], lengths: Sequence[int]) -> Sentences:
    """The three, made equally long by the end of a sentence: what comes later changes nothing. lengths: those
    that no other axis has, as parts are known by their shapes.
    """
    three = [list(ids), list(language.one), list(language.other)]
    least = max(map(len, three))
    longest = next((n for n in lengths if n >= least), least)
    end = language.words.index(small.END)
    rows = [one + [end] * (longest - len(one)) for one in three]
    return Sentences(rows, len(ids), language)


def _values(found: Any, shown: Sentences, losses: Sequence[float]) -> Values:
    """The pack's numbers by the names of a walkthrough. Raises LearnerCodeError."""
    if not isinstance(found, Mapping) or "table_before" not in found:
        raise LearnerCodeError(
            Message("No embedding was found on the way of a sentence through your model."),
            next=NEXT,
        )
    arrays = {name: np.asarray(v, float) for name, v in found.items() if isinstance(v, list)}
    n, words = shown.length, len(shown.language.words)
    values: dict[str, Any] = {name: v for name, v in found.items() if not isinstance(v, list)}
    for name in ("table_before", "table_after"):
        values[name] = arrays[name][:words]
    values["table_shape"] = list(arrays["table_before"].shape)
    if "rows" in arrays:
        values["rows"] = arrays["rows"][0, :n]
        values["shape"] = list(values["rows"].shape)
        values["batch_shape"] = [1, *values["shape"]]
    for name in ("logits_before", "logits_after"):
        if name in arrays:
            values["logits_shape"] = [1, n, arrays[name].shape[-1]]
            values[name] = arrays[name][0, n - 1, :words]
    for name in ("position_rows", "turned_query"):
        if name in arrays:
            values[name] = arrays[name][:n]
    values["losses"] = np.asarray(losses)
    values["first_loss"] = losses[0]
    values["last_loss"] = float(np.mean(losses[-10:]))
    if "hidden_after" in arrays:
        values.update(_apart(arrays, shown))
    return values


def _apart(arrays: Mapping[str, Any], shown: Sentences) -> Values:
    """How far the word that two sentences share is from itself, below and above."""
    language = shown.language
    row = arrays["table_after"][language.one[language.at_one]]
    other = arrays["table_after"][language.other[language.at_other]]
    a = arrays["hidden_after"][1, language.at_one]
    b = arrays["hidden_after"][2, language.at_other]
    return {
        "rows_apart": float(np.abs(row - other).max()),
        "hidden_apart": float(np.abs(a - b).max()),
        "hidden_cosine": float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))),
    }
