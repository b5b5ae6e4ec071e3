"""What a training script or a sampler was seen to do, checked. Raises BadAnswer for anything else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from engine.facts.trace import BadAnswer, Failure, Value, array, blobs_of, converted

MAX_EVENTS, MAX_RUNS, MAX_DRAWS = 4000, 32, 64
Span = tuple[str, str, int, int, int, int]
Tokens = list[Any]


class Group(msgspec.Struct, frozen=True):
    """A group of an optimizer: its decay, None where it shows none, and what is in it."""

    decay: float | None
    betas: list[float]
    matrices: int
    vectors: int


class Parameter(msgspec.Struct, frozen=True):
    """A parameter at a step of its optimizer: name in the model, or "", the norm of the gradient that the
    step used, and its settings, None where the optimizer shows none.
    """

    name: str
    size: int
    gradient: float
    rate: float | None
    decay: float | None
    betas: list[float]
    eps: float | None


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happened; which fields there are depends on its kind."""

    kind: str
    at: list[Span]
    dirty: float = 0.0
    value: float = 0.0
    norm: float = 0.0
    count: int = 0
    before: float = 0.0
    most: float = 0.0
    how: str = ""
    optimizer: str = ""
    rates: list[float] = []
    moved: int = 0
    owned: int = 0
    model: int = 0
    covered: list[int] = []
    x: Tokens = []
    y: Tokens | None = None
    train: bool = False  # whether any dropout is in train mode
    mixed: bool = False  # and another is not
    grad: bool = False
    drops: bool = False
    targets: Tokens | None = None
    name: str = ""
    probabilities: bool = False
    given: int = 0
    ignored: int = -100
    weighted: bool = False
    batch: int = -1
    groups: list[Group] = []
    parameters: list[Parameter] = []
    loader: int = -1
    source: int = -1
    beginning: int = -1
    memory: list[int] = []
    holds: list[str] = []


class Seen(msgspec.Struct, frozen=True):
    """What a training script did, how it ended, what was made up, and which files it did not find."""

    events: list[Event]
    ended: str
    error: Failure | None
    made_up: list[str]
    absent: list[str] = []


class SamplerRun(msgspec.Struct, frozen=True):
    """One call of a sampler."""

    failed: Failure | None
    tokens: Value | None
    logits: Value | None
    output: Value | None
    drawn: list[Value]
    read: list[Value]
    at: dict[str, Span]
    whole: Value | None = None
    again: Value | None = None


class Sampled(msgspec.Struct, frozen=True):
    """What a sampler's job answered."""

    what: str
    takes: dict[str, str]
    runs: list[SamplerRun]


def seen(data: Mapping[str, Any]) -> Seen:
    """A script's answer. Raises BadAnswer."""
    found: Seen = converted(data, Seen)
    if len(found.events) > MAX_EVENTS:
        raise BadAnswer("too many events")
    for event in found.events:
        for tokens in (event.x, event.y or [], event.targets or []):
            numbers(tokens)
        values = (event.dirty, event.value, event.norm, event.before, *event.rates)
        if any(math.isnan(value) for value in values):
            continue
    return found


def numbers(tokens: Sequence[Any], depth: int = 3) -> None:
    """Lists of whole numbers, nested no deeper than a batch. Raises BadAnswer."""
    for one in tokens:
        if isinstance(one, list) and depth:
            numbers(one, depth - 1)
        elif type(one) is not int:
            raise BadAnswer("tokens that are no whole numbers")


def plain_events(found: Seen) -> list[dict[str, Any]]:
    """Events as the pack's functions take them."""
    nested = ("groups", "parameters")
    return [
        {
            **msgspec.structs.asdict(event),
            **{name: msgspec.to_builtins(getattr(event, name)) for name in nested},
        }
        for event in found.events
    ]


def sampled(data: Mapping[str, Any]) -> tuple[Sampled, list[bytes]]:
    """A sampler's answer. Raises BadAnswer."""
    blobs = blobs_of(data)
    found: Sampled = converted({k: v for k, v in data.items() if k != "blobs"}, Sampled)
    if len(found.runs) > MAX_RUNS or any(len(r.drawn) > MAX_DRAWS for r in found.runs):
        raise BadAnswer("too many draws")
    return found, blobs


def plain_runs(found: Sampled, blobs: Sequence[bytes]) -> dict[str, Any]:
    """Runs of a sampler as the pack's functions take them. Raises BadAnswer."""
    arrays: list[Any] = []

    def plain(value: Value | None) -> dict[str, int] | None:
        made = None if value is None else array(value, blobs)
        if made is None:
            return None
        arrays.append(made)
        return {"array": len(arrays) - 1}

    runs = [
        {
            "failed": run.failed is not None,
            "tokens": plain(run.tokens),
            "logits": plain(run.logits),
            "output": plain(run.output),
            "whole": plain(run.whole),
            "again": plain(run.again),
            "drawn": [plain(one) for one in run.drawn],
            "read": [plain(one) for one in run.read],
            "at": {name: list(span) for name, span in run.at.items()},
        }
        for run in found.runs
    ]
    return {"runs": runs, "arrays": arrays}
