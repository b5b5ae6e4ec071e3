"""What a tree's side of a comparison is asked for, and what it answered, checked."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from engine.facts import experiments
from engine.facts.experiments import Candidate
from engine.facts.pack import FactPack
from engine.facts.trace import BadAnswer, Failure, blobs_of, converted

Regime = Literal["normal", "large", "tiny", "biased", "alike"]
REGIMES: tuple[Regime, ...] = ("normal", "large", "tiny", "biased", "alike")
MOST = 3  # texts of a draw
MAX_DRAWS, MAX_PARTS = 256, 4000
Shape = list[int]
Array = Any


class Drawn(msgspec.Struct, frozen=True):
    """One input: seeds of weights and tokens, how the weights are drawn, and sizes. more: whether the model
    is also called without targets, and after a step of gradient descent.
    """

    weights: int
    tokens: int
    regime: Regime
    batch: int
    length: int
    more: bool = False


class Part(msgspec.Struct, frozen=True, array_like=True):
    """An array of a draw; kind: output, loss, gradient or update."""

    kind: str
    name: str
    shape: Shape


class Done(msgspec.Struct, frozen=True):
    """What one draw gave: parts, one after the other in a row of float64."""

    failed: Failure | None
    parts: list[Part]
    blob: int


class Answered(msgspec.Struct, frozen=True):
    """A side's answer as it came. first: mean, standard deviation and count of each parameter."""

    parameters: list[tuple[list[str], Shape]]
    first: list[tuple[float, float, int]]
    draws: list[Done]
    noisy: bool
    train: list[int]
    likeliest: list[int]
    notes: list[str]


class Given(msgspec.Struct, frozen=True):
    """What a draw gave, by (kind, name)."""

    failed: Failure | None
    values: dict[tuple[str, str], Array]


class Side(msgspec.Struct, frozen=True):
    """A checked answer. train: a row for each run in train mode; likeliest: the same where chance gives the
    likelier outcome each time, by two medians.
    """

    parameters: list[tuple[list[str], Shape]]
    first: list[tuple[float, float, int]]
    draws: list[Given]
    noisy: bool
    train: list[Array]
    likeliest: list[Array]
    notes: list[str]


def drawn(seed: int, count: int, context: int, full: bool) -> list[Drawn]:
    """So many draws over all regimes, with the shortest and the longest text among them."""
    rng, found = random.Random(seed), []
    for number in range(count):
        length = rng.randint(2, context)
        length = {0: context, 1: 2}.get(number, length)
        found.append(
            Drawn(
                weights=rng.getrandbits(30),
                tokens=rng.getrandbits(30),
                regime=REGIMES[number % len(REGIMES)],
                batch=rng.randint(1, MOST),
                length=context if full else length,
                more=number % 3 == 0,
            )
        )
    return found


def job(
    pack: FactPack,
    candidate: Candidate,
    draws: Sequence[Drawn],
    *,
    dropout: float,
    double: bool = False,
    repeats: int = 0,
    rename: Mapping[str, str] | None = None,
    whole: bool = False,
) -> dict[str, Any]:
    """double: whether all is computed in float64. repeats: runs with other random numbers. rename: what
    parameters are called in the other tree. whole: whether long arrays travel as they are.
    """
    dropped = dropping(draws[0], experiments.sizes(pack, candidate)["context"])
    return {
        **experiments.job(pack, candidate, (), dropout),
        "kind": "compare",
        "draws": [msgspec.to_builtins(draw) for draw in draws],
        "dropping": msgspec.to_builtins(dropped),
        "double": double,
        "repeats": repeats,
        "rename": dict(rename or {}),
        "whole": whole,
    }


def dropping(first: Drawn, context: int) -> Drawn:
    """The input of runs in train mode, of these draws' first."""
    return Drawn(first.weights, first.tokens, "normal", MOST, context)


def side(data: Mapping[str, Any]) -> Side:
    """A side's answer. Raises BadAnswer."""
    blobs = blobs_of(data)
    found: Answered = converted({k: v for k, v in data.items() if k != "blobs"}, Answered)
    if max(len(found.draws), len(found.train), len(found.likeliest)) > MAX_DRAWS:
        raise BadAnswer("too many draws")
    if len(found.parameters) != len(found.first):
        raise BadAnswer("parameters without their spread")
    return Side(
        parameters=found.parameters,
        first=found.first,
        draws=[given(one, blobs) for one in found.draws],
        noisy=found.noisy,
        train=[row(place, blobs) for place in found.train],
        likeliest=[row(place, blobs) for place in found.likeliest],
        notes=found.notes,
    )


def row(place: int, blobs: Sequence[bytes]) -> Array:
    """A row of float64. Raises BadAnswer."""
    if not 0 <= place < len(blobs) or len(blobs[place]) % 8:
        raise BadAnswer("the number of a row's bytes")
    return np.frombuffer(blobs[place], "<f8")


def given(done: Done, blobs: Sequence[bytes]) -> Given:
    """The arrays of a draw. Raises BadAnswer."""
    if done.failed is not None:
        return Given(done.failed, {})
    if len(done.parts) > MAX_PARTS:
        raise BadAnswer("too many parts")
    numbers, values, start = row(done.blob, blobs), {}, 0
    for part in done.parts:
        if any(type(n) is not int or n < 0 for n in part.shape):
            raise BadAnswer("a shape")
        size = math.prod(part.shape)
        if start + size > len(numbers):
            raise BadAnswer("parts that do not fill a row")
        values[part.kind, part.name] = numbers[start : start + size].reshape(part.shape)
        start += size
    return Given(None, values)
