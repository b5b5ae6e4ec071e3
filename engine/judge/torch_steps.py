"""Did two training scripts do the same? What counts is what their steps use: the gradients, and how the
optimizer treats each parameter. How a loss came to those gradients may differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Difference
from engine.judge.result import Result
from engine.judge.shown import apart, show
from engine.judge.torch_compare import both
from engine.judge.torch_runs import Array, check, listed

Event = Mapping[str, Any]
Parameters = Sequence[Mapping[str, Any]]
CLOSE, LOOSE = 2e-3, 1e-2  # relative, of a loss; of a gradient
FIRST = 5e-5  # relative, of both at the first step, before rounding adds up
SAME = 1e-6  # relative, of a setting of the optimizer


USES = {
    "training": Message("the text that batches for training are drawn from"),
    "evaluation": Message("the text that batches for evaluation are drawn from"),
    "train": Message("the text of the training split"),
    "validation": Message("the text of the validation split"),
}


class Trained(msgspec.Struct, frozen=True):
    """What a script did. texts: by their content, for each use of the batches drawn from them; modes:
    (train, mixed) of each forward; losses: what `backward` was called on, for each step; targets: of
    each loss, also while it evaluates, in no order; moved, parameters: of each optimizer step.
    """

    batches: list[Any]
    texts: Mapping[str, set[int]]
    modes: list[tuple[bool, bool]]
    losses: list[list[float]]
    targets: list[list[int]]
    moved: list[tuple[int, int]]
    parameters: list[Parameters]


def trained(events: Sequence[Event]) -> Trained:
    """The part of what happened that does not depend on how a script is written."""
    steps = [event for event in events if event["kind"] == "S"]
    losses: list[list[float]] = [[]]
    for event in events:
        if event["kind"] == "B":
            losses[-1].append(event["value"])
        elif event["kind"] == "S":
            losses.append([])
    return Trained(
        batches=[event["x"] for event in events if event["kind"] == "F"],
        texts=texts_of(events),
        modes=[(event["train"], event["mixed"]) for event in events if event["kind"] == "F"],
        losses=losses[:-1],
        targets=[sorted(flat(event["targets"] or [])) for event in events if event["kind"] == "L"],
        moved=[(event["moved"], event["owned"]) for event in steps],
        parameters=[event["parameters"] for event in steps],
    )


def texts_of(events: Sequence[Event]) -> dict[str, set[int]]:
    """The texts that batches are drawn from, by their content: for each split that is asked for, and for
    training and evaluation. Only what was followed to its text.
    """
    found: dict[str, set[int]] = {use: set() for use in USES}
    drawn: dict[tuple[int, ...], int] = {}
    training: int | None = None
    for event in events:
        rows = tuple(flat(event["x"])) if event["kind"] in "DTF" else ()
        if event["kind"] == "D":
            found.setdefault(event["name"], set()).add(event["source"])
            drawn[rows] = event["source"]
        elif event["kind"] == "T":
            drawn.setdefault(rows, event["source"])
        elif event["kind"] == "F" and event["grad"]:
            training = drawn.get(rows)
        elif event["kind"] == "F" and rows in drawn:
            found["evaluation"].add(drawn[rows])
        elif event["kind"] == "B" and training is not None:
            found["training"].add(training)
    return found


def same_batches(wanted: Trained, got: Trained) -> bool:
    """Whether both read the same texts in the same order, so that their numbers can be compared."""
    return len(wanted.moved) == len(got.moved) and wanted.batches == got.batches


def trainings(wanted: Trained, got: Trained, alike: bool) -> list[Result]:
    """A result for each thing that a training script does. alike: whether it read the same texts."""
    found = [
        settings("rates", {"rate": Message("the learning rate")}, wanted, got),
        moving(wanted, got),
        texts(wanted, got),
        settings("groups", GROUPS, wanted, got),
    ]
    if not alike:
        return found
    used = gradients(wanted, got)
    return [
        losses(wanted, got, used.passed),
        targets(wanted, got),
        modes(wanted, got),
        used,
        *found,
    ]


def losses(wanted: Trained, got: Trained, scaled: bool) -> Result:
    """What `backward` is called on at each step. scaled: where steps use the same gradients, a script may add
    losses up, or divide gradients instead; then only how the sum changes from step to step is compared.
    """
    if scaled:
        a, b = ([sum(step) for step in one.losses] for one in (wanted, got))
        first = next((i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x and y), None)
        scale = 1.0 if first is None else a[first] / b[first]
        name = partial(at, Message("the loss"))
        return series("losses", name, a, [scale * loss for loss in b], CLOSE)
    a, b = ([loss for step in one.losses for loss in step] for one in (wanted, got))
    if len(a) != len(b):
        told = both(several, np.array(a), np.array(b))
        return check("losses", Difference("value", Message("the loss"), *told))
    early = series("losses", backward, a[:1], b[:1], FIRST)
    return early if not early.passed else series("losses", backward, a, b, CLOSE)


def backward(number: int) -> Said:
    return Message("the loss of backward {number}", number=number + 1)


def texts(wanted: Trained, got: Trained) -> Result:
    """Whether batches are drawn from the texts they were, where all of those are known."""
    known = set[int]().union(*wanted.texts.values())
    for use, name in USES.items():
        before, after = wanted.texts[use], got.texts[use]
        if before and after and after <= known and before != after:
            told = Message("the same as before the break"), Message("another text")
            return check("texts", Difference("value", name, *told))
    return check("texts", None)


def modes(wanted: Trained, got: Trained) -> Result:
    """Whether the model trains and evaluates in the mode it did, with all its parts."""
    for i, (a, b) in enumerate(zip(wanted.modes, got.modes, strict=True)):
        if a != b:
            told = both(mode, a, b)
            name = Message("the mode of the model in forward {number}", number=i + 1)
            return check("modes", Difference("value", name, *told), len(wanted.modes))
    return check("modes", None, max(1, len(wanted.modes)))


def mode(found: tuple[bool, bool]) -> Said:
    train, mixed = found
    return (
        Message("train in some modules, eval in others") if mixed else "train" if train else "eval"
    )


def targets(wanted: Trained, got: Trained) -> Result:
    """What is to be predicted, where as many losses were seen: one may be computed in another way."""
    alike = len(wanted.targets) == len(got.targets)
    for i, (a, b) in enumerate(zip(wanted.targets, got.targets, strict=True) if alike else ()):
        if a != b:
            told = both(listed, np.array(a), np.array(b))
            name = Message("the targets of loss {number}", number=i + 1)
            return check("targets", Difference("value", name, *told))
    return check("targets", None, max(1, len(wanted.targets)))


def flat(tokens: Sequence[Any]) -> list[int]:
    """The numbers in nested lists."""
    return [n for one in tokens for n in (flat(one) if isinstance(one, list) else (one,))]


def series(
    kind: str,
    name: Callable[[int], Said],
    wanted: Sequence[float],
    got: Sequence[float],
    near: float,
) -> Result:
    """One number after the other, the first that differs. name: of the number at a place."""
    for i, (a, b) in enumerate(zip(wanted, got, strict=True)):
        if not close(a, b, near * max(abs(a), 1e-12)):
            return check(kind, Difference("value", name(i), *apart(a, b)), len(wanted))
    return check(kind, None, max(1, len(wanted)))


def at(name: Said, step: int) -> Said:
    """What is counted as the curves of `observe` count, from 0."""
    return Message("{what} at step {step}", what=name, step=step)


def close(a: float, b: float, most: float) -> bool:
    return bool(np.isclose(a, b, rtol=0, atol=most, equal_nan=True))


def gradients(wanted: Trained, got: Trained) -> Result:
    """The gradient that each step uses, of all parameters together, then of each beside the whole."""
    for i, pairs in matched(wanted, got):
        norms = [tuple(one["gradient"] for one in pair) for pair in pairs]
        a, b = (math.hypot(*side) for side in zip(*norms, strict=True))
        most = (LOOSE if i else FIRST) * max(a, 1e-12)
        if not close(a, b, most):
            name = Message("the norm of the gradient")
        else:
            place = next((n for n, (x, y) in enumerate(norms) if not close(x, y, most)), None)
            if place is None:
                continue
            name = Message(
                "the norm of the gradient of {parameter}",
                parameter=called(pairs[place][0]),
            )
            a, b = norms[place]
        return check("norms", Difference("value", at(name, i), *apart(a, b)), len(got.moved))
    return check("norms", None, max(1, len(wanted.moved)))


def matched(
    wanted: Trained, got: Trained
) -> list[tuple[int, list[tuple[Mapping[str, Any], Mapping[str, Any]]]]]:
    """(step, parameters of both), where an optimizer holds as many: by their names in the model, where those
    agree, else by size and gradient. Groups of an optimizer and their order do not matter.
    """
    found = []
    for i, (a, b) in enumerate(zip(wanted.parameters, got.parameters, strict=False)):
        if a and len(a) == len(b):
            by_name = sorted(one["name"] for one in a) == sorted(one["name"] for one in b)
            keys = ("name", "size", "gradient") if by_name else ("size", "gradient")
            sides = (sorted(one, key=lambda p: [p[key] for key in keys]) for one in (a, b))
            found.append((i, list(zip(*sides, strict=True))))
    return found


def called(parameter: Mapping[str, Any]) -> str:
    return parameter["name"] or str(parameter["size"])


def moving(wanted: Trained, got: Trained) -> Result:
    for i, (a, b) in enumerate(zip(wanted.moved, got.moved, strict=False)):
        if a != b:
            name = at(Message("what is moved"), i)
            return check("moved", Difference("value", name, *both(moved, a, b)), len(wanted.moved))
    return check("moved", None, max(1, len(wanted.moved)))


def moved(found: tuple[int, int]) -> Said:
    return Message("{moved} of {owned} parameters", moved=found[0], owned=found[1])


def several(found: Array) -> Said:
    return Message("{count} of them", count=found.size)


GROUPS = {
    "decay": Message("the weight decay"),
    "betas": Message("the betas"),
    "eps": Message("the eps of the optimizer"),
}


def settings(kind: str, names: Mapping[str, Said], wanted: Trained, got: Trained) -> Result:
    """How the optimizer treats each parameter at each step, in these ways."""
    for i, pairs in matched(wanted, got):
        for a, b in pairs:
            for way, name in names.items():
                if not alike(a[way], b[way]):
                    told = show(a[way]), show(b[way])
                    name = Message("{what} of {parameter}", what=name, parameter=called(a))
                    return check(kind, Difference("value", at(name, i), *told), len(got.moved))
    return check(kind, None, max(1, len(wanted.moved)))


def alike(a: Any, b: Any) -> bool:
    """Whether two settings are the same: numbers, lists of them, or None."""
    if a is None or b is None:
        return a is b
    one, other = np.atleast_1d(np.array(a, float)), np.atleast_1d(np.array(b, float))
    return one.shape == other.shape and np.allclose(one, other, rtol=SAME, atol=1e-15)
