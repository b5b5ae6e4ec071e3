"""Did two training scripts do the same, and do two samplers draw from the same? Compared in float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Difference
from engine.judge.result import Result
from engine.judge.shown import show
from engine.judge.torch_compare import both
from engine.run.types import Draw

Event = Mapping[str, Any]
Array = Any
CLOSE, LOOSE = 2e-3, 1e-2  # relative, of what a script computes; of a norm
FIRST = 5e-5  # relative, of the first loss, before anything was learnt otherwise
SAME = 1e-6  # relative, of a rate
NEAR = 1e-4  # of a probability
SHOWS = {
    "runs": {"en": "the training script runs", "es": "el script de entrenamiento se ejecuta"},
    "rates": {"en": "learning rates", "es": "los learning rates"},
    "losses": {"en": "losses", "es": "las losses"},
    "targets": {"en": "the targets of each loss", "es": "los targets de cada loss"},
    "norms": {
        "en": "gradients at each step",
        "es": "los gradientes en cada paso",
    },
    "moved": {"en": "what a step moves", "es": "lo que mueve un paso"},
    "groups": {"en": "groups of the optimizer", "es": "los grupos del optimizador"},
    "called": {"en": "the sampler runs", "es": "el sampler se ejecuta"},
    "read": {"en": "what the model is called with", "es": "con qué se llama al modelo"},
    "drawn": {"en": "what is drawn from", "es": "de qué se sortea"},
    "text": {"en": "what comes out", "es": "lo que sale"},
}


class Trained(msgspec.Struct, frozen=True):
    """What a script did: a row for each optimizer step. targets: of each loss, also while it evaluates, in no
    order.
    """

    batches: list[Any]
    losses: list[float]
    targets: list[list[int]]
    norms: list[float]
    rates: list[tuple[float, ...]]
    moved: list[tuple[int, int]]
    groups: list[Any]


class Called(msgspec.Struct, frozen=True):
    """One call of a sampler, decoded. error: "" where it gave something. draw: what repeats it."""

    inputs: Said
    error: str
    draw: Draw
    tokens: Array
    drawn: Sequence[Array]
    read: Sequence[Array]
    output: Array


def trained(events: Sequence[Event]) -> Trained:
    """The part of what happened that does not depend on how a script is written."""
    steps = [event for event in events if event["kind"] == "S"]
    return Trained(
        batches=[event["x"] for event in events if event["kind"] == "F"],
        losses=[event["value"] for event in events if event["kind"] == "B"],
        targets=[sorted(flat(event["targets"] or [])) for event in events if event["kind"] == "L"],
        norms=[event["norm"] for event in steps],
        rates=[tuple(event["rates"]) for event in steps],
        moved=[(event["moved"], event["owned"]) for event in steps],
        groups=[
            sorted((g["matrices"], g["vectors"], str(g["decay"]), str(g["betas"])) for g in e["groups"])
            for e in steps
        ],
    )  # fmt: skip


def same_batches(wanted: Trained, got: Trained) -> bool:
    """Whether both read the same texts in the same order, so that their numbers can be compared."""
    return len(wanted.norms) == len(got.norms) and wanted.batches == got.batches


def trainings(wanted: Trained, got: Trained, alike: bool) -> list[Result]:
    """A result for each thing that a training script does. alike: whether it read the same texts."""
    found = [
        series("rates", Message("the learning rate"), wanted.rates, got.rates, SAME),
        pairs(wanted, got),
        groups(wanted, got),
    ]
    if alike:
        found.insert(0, losses(wanted, got))
        found.insert(1, targets(wanted, got))
        found.insert(
            2,
            series(
                "norms",
                Message("the norm of the gradient that a step uses"),
                wanted.norms,
                got.norms,
                LOOSE,
            ),
        )
    return found


def losses(wanted: Trained, got: Trained) -> Result:
    """What `backward` is called on, at each step; before the first step no rounding has added up."""
    name = Message("the loss")
    if len(got.losses) != len(wanted.losses):
        counts = both(several, np.array(wanted.losses), np.array(got.losses))
        return check("losses", Difference("value", name, *counts))
    first = series("losses", name, wanted.losses[:1], got.losses[:1], FIRST)
    return first if not first.passed else series("losses", name, wanted.losses, got.losses, CLOSE)


def targets(wanted: Trained, got: Trained) -> Result:
    """What is to be predicted, where as many losses were seen: one may be computed in another way."""
    alike = len(wanted.targets) == len(got.targets)
    for i, (a, b) in enumerate(zip(wanted.targets, got.targets, strict=True) if alike else ()):
        if a != b:
            told = both(listed, np.array(a), np.array(b))
            return check("targets", Difference("value", Message("the targets"), *told, index=(i,)))
    return check("targets", None, max(1, len(wanted.targets)))


def flat(tokens: Sequence[Any]) -> list[int]:
    """The numbers in nested lists."""
    return [n for one in tokens for n in (flat(one) if isinstance(one, list) else (one,))]


def check(kind: str, difference: Difference | None, count: int = 1, inputs: Said = "") -> Result:
    shows = SHOWS[kind]
    return Result(kind, "", shows, difference is None, count, inputs=inputs, difference=difference)


def series(kind: str, name: Said, wanted: Sequence[Any], got: Sequence[Any], near: float) -> Result:
    """Numbers at each step: the first that differs."""
    count = max(1, len(wanted))
    for i, (a, b) in enumerate(zip(wanted, got, strict=False)):
        one, other = np.atleast_1d(np.array(a, float)), np.atleast_1d(np.array(b, float))
        if one.shape != other.shape:
            return check(
                kind, Difference("value", name, *both(several, one, other), index=(i,)), count
            )
        size = np.abs(one).max(initial=1e-12)
        if not np.allclose(one, other, rtol=0, atol=near * size, equal_nan=True):
            place = int(np.abs(one - other).argmax())
            told = show(float(one[place])), show(float(other[place]))
            return check(kind, Difference("value", name, *told, index=(i,)), count)
    return check(kind, None, count)


def pairs(wanted: Trained, got: Trained) -> Result:
    for i, (a, b) in enumerate(zip(wanted.moved, got.moved, strict=False)):
        if a != b:
            difference = Difference(
                "value", Message("what a step moves"), *both(moved, a, b), index=(i,)
            )
            return check("moved", difference, len(wanted.moved))
    return check("moved", None, max(1, len(wanted.moved)))


def moved(found: tuple[int, int]) -> Said:
    return Message("{moved} of {owned} parameters", moved=found[0], owned=found[1])


def several(found: Array) -> Said:
    return Message("{count} of them", count=found.size)


def groups(wanted: Trained, got: Trained) -> Result:
    """What the optimizer holds, how it is decayed and averaged."""
    for i, (a, b) in enumerate(zip(wanted.groups, got.groups, strict=False)):
        if a != b:
            name = Message("the optimizer's groups (matrices, vectors, decay, betas)")
            difference = Difference("value", name, str(a)[:200], str(b)[:200], index=(i,))
            return check("groups", difference, len(wanted.groups))
    return check("groups", None, max(1, len(wanted.groups)))


def samplings(wanted: Sequence[Called], got: Sequence[Called]) -> list[Result]:
    """A result for each thing that a sampler does, over calls that count: those that did not fail before."""
    both = [(a, b) for a, b in zip(wanted, got, strict=True) if not a.error]
    results = []
    for kind, differs in (("called", failed), ("read", read), ("drawn", drawn), ("text", text)):
        found = ((a, differs(a, b)) for a, b in both)
        first = next(((a, found) for a, found in found if found is not None), None)
        if first is None:
            results.append(check(kind, None, max(1, len(both))))
            continue
        call, difference = first
        result = check(kind, difference, len(both), call.inputs)
        return [*results, msgspec.structs.replace(result, draw=call.draw)]
    return results


def failed(wanted: Called, got: Called) -> Difference | None:
    return Difference("raised", "", Message("no error"), got.error) if got.error else None


def read(wanted: Called, got: Called) -> Difference | None:
    """What the model is given first; later on, where the same tokens came out."""
    alike = same(wanted.output, got.output)
    pairs = [*zip(wanted.read, got.read, strict=False)][: None if alike else 1]
    for number, (a, b) in enumerate(pairs):
        if not same(a, b):
            name = Message("tokens of call {number}", number=number + 1)
            return Difference("value", name, listed(a), listed(b))
    return None


def drawn(wanted: Called, got: Called) -> Difference | None:
    """The distributions, as long as the same tokens came out."""
    if bool(wanted.drawn) != bool(got.drawn):
        name = Message("what is drawn from")
        return Difference("missing", name, *both(source, wanted.drawn, got.drawn))
    count = None if same(wanted.output, got.output) else 1
    for number, (a, b) in enumerate([*zip(wanted.drawn, got.drawn, strict=False)][:count]):
        p, q = (normal(one) for one in (a, b))
        if p.size == q.size and np.abs(p - q).max(initial=0) <= NEAR:
            continue
        p, q = np.sort(p)[::-1], np.sort(q)[::-1]
        size = max(p.size, q.size)
        long = [np.pad(one, (0, size - one.size)) for one in (p, q)]
        if other_form(a, b) and np.abs(long[0] - long[1]).max() <= NEAR:
            continue
        name = Message("the distribution of draw {number}", number=number + 1)
        return Difference("value", name, described(p), described(q))
    return None


def source(found: Sequence[Array]) -> Said:
    return Message("a distribution") if found else Message("nothing")


def other_form(a: Array, b: Array) -> bool:
    """Whether one is over the tokens that are kept, the other over all, or both in an order of their own."""
    ordered = any((np.diff(one.reshape(-1)) <= 0).all() for one in (a, b))
    return a.shape[-1] != b.shape[-1] or bool(ordered)


def text(wanted: Called, got: Called) -> Difference | None:
    """What comes out: the same tokens where nothing is drawn or the same is, else as many."""
    name = Message("the tokens that come out")
    if (wanted.output is None) != (got.output is None):
        return Difference("missing", name, *both(listed, wanted.output, got.output))
    if wanted.output is None or same(wanted.output, got.output):
        return None
    if not wanted.drawn or wanted.output.size != got.output.size:
        return Difference("value", name, listed(wanted.output), listed(got.output))
    return None


def same(a: Array, b: Array) -> bool:
    if a is None or b is None:
        return a is b
    return a.size == b.size and bool((a.reshape(-1) == b.reshape(-1)).all())


def normal(p: Array) -> Array:
    """Probabilities of the first row, that sum to 1."""
    row = p.reshape(-1, p.shape[-1])[0].astype(float)
    return row / row.sum() if row.sum() > 0 else row


def described(p: Array) -> Said:
    """How many tokens can come, and how likely the likeliest is."""
    return Message(
        "{count} tokens can come, the likeliest with {most:.3g}",
        count=int((p > 0).sum()),
        most=float(p[0]) if p.size else 0.0,
    )


def listed(tokens: Array) -> Said:
    if tokens is None:
        return Message("nothing")
    flat = [int(n) for n in tokens.reshape(-1)]
    return str(flat[:24])[:-1] + (", ...]" if len(flat) > 24 else "]")
