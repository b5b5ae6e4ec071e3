"""Experiments as data: what the learner's child is asked to run. It is told nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from engine.facts.pack import FactPack, Rule


class Change(msgspec.Struct, frozen=True):
    """One more run: these (sample, position) get another token; `reseed` is added to the seed."""

    tokens: tuple[tuple[int, int], ...] = ()
    reseed: int = 0


class Experiment(msgspec.Struct, frozen=True):
    """One run of a model. weights: a seed, None for those that it was made with."""

    name: str
    weights: int | None = 1
    regime: Literal["normal", "zero", "large"] = "normal"
    batch: int = 3
    length: int = 7
    tokens: int = 11  # the seed of tokens and targets
    seed: int = 5
    targets: bool = True
    mode: Literal["eval", "train"] = "eval"
    gradients: bool = False
    trace: bool = False
    changes: tuple[Change, ...] = ()


CHANGES = (Change(((0, 6),)), Change(((1, 3),)), Change(reseed=1))
FIRST = Experiment("first", trace=True)
MODEL = (
    FIRST,
    Experiment("second", weights=2, batch=5, length=9, tokens=12, trace=True),
    Experiment("bare", targets=False, trace=True),
    Experiment("zero", regime="zero", trace=True),
    Experiment("start", weights=None, batch=8, length=11, tokens=13, changes=(Change(),)),
    Experiment("gradients", batch=4, length=11, tokens=14, gradients=True, trace=True),
    Experiment("changed", changes=CHANGES),
    Experiment("changed bare", targets=False, changes=CHANGES),
    Experiment("train", mode="train", targets=False, changes=(Change(((0, 0),)),)),
)
DROPPING = (Experiment("dropping", trace=True, targets=False, changes=(Change(reseed=1),)),)
REPEATED = (Experiment("dropping-train", targets=False, mode="train", changes=(Change(reseed=1),)),)


class Candidate(msgspec.Struct, frozen=True):
    """Where a model may be: a class of a file, or a line that makes one."""

    path: str
    cls: str = ""
    expression: str = ""
    call: str = ""


def rules(pack: FactPack, dropout: float = 0.0) -> list[Rule]:
    """The pack's names, with the sizes' values and this much dropout."""
    found: list[Rule] = []
    for pattern, value, when in pack.names:
        if isinstance(value, str) and value.startswith("$"):
            value = dropout if value == "$dropout" else pack.sizes[value[1:]]
        found.append((pattern, value, when))
    return found


def job(
    pack: FactPack, candidate: Candidate, experiments: Sequence[Experiment], dropout: float = 0.0
) -> dict[str, Any]:
    """A model's experiments as the child takes them."""
    return {
        "kind": "model",
        **msgspec.structs.asdict(candidate),
        "rules": rules(pack, dropout),
        "words": msgspec.to_builtins(pack.words),
        "vocabulary": pack.sizes["vocabulary"],
        "seed": 3,
        "experiments": [msgspec.to_builtins(one) for one in experiments],
    }
