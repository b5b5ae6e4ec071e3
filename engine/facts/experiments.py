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
    Experiment(
        "start", weights=None, batch=8, length=11, tokens=13, trace=True, changes=(Change(),)
    ),
    Experiment("gradients", batch=4, length=11, tokens=14, gradients=True, trace=True),
    Experiment("changed", changes=CHANGES),
    Experiment("changed bare", targets=False, changes=CHANGES),
    Experiment("train", mode="train", targets=False, changes=(Change(((0, 0),)),)),
)
DROPPING = (Experiment("dropping", trace=True, targets=False, changes=(Change(reseed=1),)),)
REPEATED = (Experiment("dropping-train", targets=False, mode="train", changes=(Change(reseed=1),)),)
DROPPED = (Experiment("dropping-train", trace=True, targets=False, mode="train"),)

OWN = ("$width", "$heads", "$kv_heads", "$head_size", "$hidden")
PROBE = 5  # tokens of the first call


class Candidate(msgspec.Struct, frozen=True):
    """Where a model may be: a class of a file, or a line that makes one."""

    path: str
    cls: str = ""
    expression: str = ""
    call: str = ""
    larger: bool = False  # whether the pack's larger sizes are taken
    other: bool = (
        False  # whether its other sizes are: what happens to be right for one model is not for two
    )
    full: bool = False  # whether texts must be as long as the context
    bare: bool = False  # whether no targets are given: a loss may need more than targets
    likely: bool = True  # by its text; others are tried only where none of these is built
    own: bool = False  # whether widths and heads keep the sizes that the tree gives them
    inner: bool = False  # whether sizes that stand inside constructors are small, too


def sizes(pack: FactPack, candidate: Candidate | None = None) -> dict[str, int]:
    """The sizes that a candidate is built with."""
    if candidate is not None and candidate.other:
        return pack.other
    return pack.larger if candidate is not None and candidate.larger else pack.sizes


def rules(pack: FactPack, dropout: float = 0.0, candidate: Candidate | None = None) -> list[Rule]:
    """The pack's names, with the sizes' values and this much dropout."""
    known = sizes(pack, candidate)
    found: list[Rule] = []
    for pattern, value, when in pack.names:
        if candidate is not None and candidate.own and value in OWN:
            when = "none"
        if isinstance(value, str) and value.startswith("$"):
            value = dropout if value == "$dropout" else known[value[1:]]
        found.append((pattern, value, when))
    return found


def job(
    pack: FactPack, candidate: Candidate, experiments: Sequence[Experiment], dropout: float = 0.0
) -> dict[str, Any]:
    """A model's experiments as the child takes them."""
    known = sizes(pack, candidate)
    if candidate.full:
        experiments = [full_length(one, known["context"]) for one in experiments]
    return {
        "kind": "model",
        **msgspec.structs.asdict(candidate),
        "rules": rules(pack, dropout, candidate),
        "words": msgspec.to_builtins(pack.words),
        "vocabulary": known["vocabulary"],
        "probe": known["context"] if candidate.full else PROBE,
        "seed": 3,
        "experiments": [msgspec.to_builtins(one) for one in experiments],
    }


def full_length(experiment: Experiment, context: int) -> Experiment:
    """The same with texts as long as the context; the last token changes where the last one did."""
    last = experiment.length - 1
    changes = tuple(
        msgspec.structs.replace(
            change,
            tokens=tuple((b, context - 1 if t == last else t) for b, t in change.tokens),
        )
        for change in experiment.changes
    )
    return msgspec.structs.replace(experiment, length=context, changes=changes)
