"""Do two samplers draw from the same? Compared in float64. And what is compared of training scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Difference
from engine.judge.result import Result
from engine.judge.torch_compare import both
from engine.run.types import Draw

Array = Any
NEAR = 1e-4  # of a probability
SHOWS = {
    "runs": {"en": "the training script runs", "es": "el script de entrenamiento se ejecuta"},
    "rates": {"en": "learning rates", "es": "los learning rates"},
    "losses": {"en": "losses", "es": "las losses"},
    "targets": {"en": "the targets of each loss", "es": "los targets de cada loss"},
    "texts": {"en": "texts of the splits", "es": "los textos de los splits"},
    "modes": {"en": "train and eval mode", "es": "el modo train o eval"},
    "norms": {
        "en": "gradients at each step",
        "es": "los gradientes en cada paso",
    },
    "moved": {"en": "what a step moves", "es": "lo que mueve un paso"},
    "groups": {"en": "settings of the optimizer", "es": "los ajustes del optimizador"},
    "called": {"en": "the sampler runs", "es": "el sampler se ejecuta"},
    "read": {"en": "what the model is called with", "es": "con qué se llama al modelo"},
    "drawn": {"en": "what is drawn from", "es": "de qué se sortea"},
    "text": {"en": "what comes out", "es": "lo que sale"},
}


class Called(msgspec.Struct, frozen=True):
    """One call of a sampler, decoded. error: "" where it gave something. draw: what repeats it."""

    inputs: Said
    error: str
    draw: Draw
    tokens: Array
    drawn: Sequence[Array]
    read: Sequence[Array]
    output: Array


def check(kind: str, difference: Difference | None, count: int = 1, inputs: Said = "") -> Result:
    shows = SHOWS[kind]
    return Result(kind, "", shows, difference is None, count, inputs=inputs, difference=difference)


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
    """The distributions, as long as the same tokens came out: of each text at each draw, in any calls."""
    if bool(wanted.drawn) != bool(got.drawn):
        name = Message("what is drawn from")
        return Difference("missing", name, *both(source, wanted.drawn, got.drawn))
    texts = wanted.tokens.reshape(-1, wanted.tokens.shape[-1]).shape[0]
    first, second = rows(wanted.drawn), rows(got.drawn)
    count = texts * alike_before(wanted.output, got.output, texts, len(first) // texts)
    pairs = [*zip(first, second, strict=False)][:count]
    for number, (a, b) in enumerate(pairs):
        p, q = normal(a), normal(b)
        if alike(p, q):
            continue
        tops = [np.sort(one)[::-1] for one in (p, q)]
        size = max(p.size, q.size)
        if other_form(a, b) and alike(*(np.pad(one, (0, size - one.size)) for one in tops)):
            continue
        name = Message("the distribution of draw {number}", number=number // texts + 1)
        return Difference("value", name, *both(described, *tops))
    return None


def alike_before(wanted: Array, got: Array, texts: int, draws: int) -> int:
    """How many draws follow on the same tokens in all texts: one more than draws that gave the same."""
    if same(wanted, got):
        return draws
    if wanted is None or got is None or wanted.size != got.size or wanted.size % texts:
        return 1
    apart = (wanted.reshape(texts, -1) != got.reshape(texts, -1)).any(0)[-draws:]
    return int(apart.argmax()) + 1 if len(apart) == draws and apart.any() else 1


def rows(found: Sequence[Array]) -> list[Array]:
    """The distributions of one text each, of all draws."""
    return [row for one in found for row in one.reshape(-1, one.shape[-1])]


def alike(p: Array, q: Array) -> bool:
    return p.size == q.size and bool(np.abs(p - q).max(initial=0) <= NEAR)


def source(found: Sequence[Array]) -> Said:
    return Message("a distribution") if found else Message("nothing")


def other_form(a: Array, b: Array) -> bool:
    """Whether one is over the tokens that are kept, the other over all, or both in an order of their own."""
    return a.size != b.size or any(bool((np.diff(one) <= 0).all()) for one in (a, b))


def text(wanted: Called, got: Called) -> Difference | None:
    """What comes out: the same tokens where nothing is drawn or the same is, else as many."""
    name = Message("the tokens that come out")
    if (wanted.output is None) != (got.output is None):
        return Difference("missing", name, *both(listed, wanted.output, got.output))
    if wanted.output is None or same(wanted.output, got.output):
        return None
    one, other = rows(wanted.drawn), rows(got.drawn)
    drawn_alike = len(one) == len(other) and all(map(alike, map(normal, one), map(normal, other)))
    if drawn_alike or wanted.output.size != got.output.size:
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
