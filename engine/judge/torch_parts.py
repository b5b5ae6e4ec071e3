"""What two models are made of: their parameters, the weights at the start, and what dropout does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Difference
from engine.judge.torch_compare import Array, both, value
from engine.judge.torch_compare import shape as shaped

Parameters = Sequence[tuple[Sequence[str], Sequence[int]]]  # (names, shape) of each
Spread = tuple[float, float, int]  # mean, standard deviation, count
Dropped = dict[str, dict[str, int]]  # place -> probability -> how many numbers
FEW, MANY = 3, 120  # runs with other random numbers
WIDE = 5.0  # standard errors
STRANGE = 3.0  # mean square of what two means differ by, in standard errors
VARY = Message("the standard deviation of an output from run to run in train mode")
LIKELIEST = Message("an output in train mode where nothing happens to be dropped")
MEAN = Message("the mean of the outputs over many runs in train mode")


def renamed(wanted: Parameters, got: Parameters) -> dict[str, str] | None:
    """{name there: name here} for what has another name; by names, then by order and shape. None where the
    parameters are others.
    """
    pairs: dict[int, int] = {}
    here = {name: i for i, (names, _) in enumerate(wanted) for name in names}
    for j, (names, shape) in enumerate(got):
        i = next((here[name] for name in names if name in here), None)
        if i is not None and i not in pairs.values() and [*wanted[i][1]] == [*shape]:
            pairs[j] = i
    free = [i for i in range(len(wanted)) if i not in pairs.values()]
    for j, (_, shape) in enumerate(got):
        if j not in pairs:
            match = next((i for i in free if [*wanted[i][1]] == [*shape]), None)
            if match is None:
                return None
            free.remove(match)
            pairs[j] = match
    if free:
        return None
    first = {got[j][0][0]: wanted[i][0][0] for j, i in pairs.items()}
    return {there: name for there, name in first.items() if there != name}


def other_parameters(wanted: Parameters, got: Parameters) -> Difference:
    """Which parameter is missing, added, or of another shape."""
    here = {name: (shape, names) for names, shape in wanted for name in names}
    there = {name: (shape, names) for names, shape in got for name in names}
    for name, (shape, _) in here.items():
        if name in there and [*there[name][0]] != [*shape]:
            return Difference("shape", name, *both(shaped, shape, there[name][0]))
    lost = next((name for name in here if name not in there), None)
    if lost is not None and len(got) <= len(wanted):
        return Difference("missing", lost, Message("a parameter"), Message("missing"))
    new = next((name for name in there if name not in here), None)
    if new is not None:
        return Difference("value", new, Message("no parameter"), Message("one that is added"))
    for name, (_, names) in here.items():
        if {*there[name][1]} != {*names}:
            return Difference("value", name, held(names), held(there[name][1]))
    return Difference("value", "", parameters(wanted), parameters(got))


def held(names: Sequence[str]) -> Said:
    """That one parameter is held under several names, or by itself."""
    if len(names) == 1:
        return Message("a parameter of its own")
    return Message("one parameter under the names {names}", names=", ".join(names))


def parameters(found: Parameters) -> Said:
    return Message("{count} parameters", count=len(found))


def started_otherwise(wanted: Mapping[str, Spread], got: Mapping[str, Spread]) -> Difference | None:
    """The first parameter whose numbers at the start are spread in another way, beyond chance."""
    for name, (mean, deviation, count) in wanted.items():
        if name not in got:
            continue
        other, wide, _ = got[name]
        error = WIDE / math.sqrt(max(count, 1))
        both = max(deviation, wide)
        if not all(map(math.isfinite, (mean, deviation, other, wide))):
            continue
        moved = abs(mean - other) > error * both + 1e-6
        if moved or abs(deviation - wide) > min(error, 0.9) * both + 1e-7:
            return Difference("value", name, spread(mean, deviation), spread(other, wide))
    return copied(wanted, got)


def copied(wanted: Mapping[str, Spread], got: Mapping[str, Spread]) -> Difference | None:
    """The first parameter that starts with the very numbers of another one, and had numbers of its own."""
    first: dict[Spread, str] = {}
    for name, found in got.items():
        twin = first.setdefault(found, name)
        known = name in wanted and twin in wanted
        if twin != name and found[1] > 0 and known and wanted[name] != wanted[twin]:
            same = Message("the numbers of {name}", name=twin)
            return Difference("value", name, Message("numbers of its own"), same)
    return None


def spread(mean: float, deviation: float) -> Said:
    return Message(
        "mean {mean:.3g}, standard deviation {deviation:.3g}", mean=mean, deviation=deviation
    )


def same_rows(wanted: Sequence[Array], got: Sequence[Array]) -> bool:
    """Whether the same random numbers gave the same, run for run."""
    if len(wanted) != len(got):
        return False
    return all(a.shape == b.shape and near(a, b) for a, b in zip(wanted, got, strict=True))


def near(wanted: Array, got: Array) -> bool:
    if wanted.shape != got.shape:
        return False
    return bool(np.abs(wanted - got).max(initial=0.0) <= 1e-3 * np.abs(wanted).max(initial=1e-9))


def dropped_nothing(wanted: Sequence[Array], got: Sequence[Array]) -> Difference | None:
    """Whether other outputs come in train mode where chance gives the likelier outcome each time, so that
    what is left of dropout is its factor. Where that does not settle what comes out, nothing is said.
    """
    if not (settled(wanted) and settled(got)) or near(wanted[0], got[0]):
        return None
    return value(LIKELIEST, wanted[0], got[0])


def settled(found: Sequence[Array]) -> bool:
    """Whether several rows are the same."""
    return len(found) > 1 and all(near(found[0], row) for row in found[1:])


def dropped_otherwise(wanted: Sequence[Array], got: Sequence[Array]) -> Difference | None:
    """Whether what comes out in train mode has another mean or another spread, beyond chance."""
    if len(wanted) != len(got) or any(
        a.shape != b.shape for a, b in zip(wanted, got, strict=False)
    ):
        return Difference(
            "value", Message("what the runs in train mode gave"), *both(runs, wanted, got)
        )
    one, other = np.array(wanted), np.array(got)
    a, b = ((rows - rows.mean(0)) ** 2 for rows in (one, other))
    noise = [(float(rows.mean()), float(rows.mean(1).std())) for rows in (a, b)]
    error = math.hypot(*(wide for _, wide in noise)) / math.sqrt(len(one))
    if not abs(noise[0][0] - noise[1][0]) <= WIDE * error + 1e-9:
        return Difference("value", VARY, *both(deviation, noise[0][0], noise[1][0]))
    strange = (one.mean(0) - other.mean(0)) ** 2 / ((a + b).mean(0) / len(one) + 1e-12)
    if not float(strange.mean()) < STRANGE:
        return Difference("value", MEAN, Message("the usual one"), Message("another one"))
    return None


def dropped_elsewhere(wanted: Dropped | None, got: Dropped | None) -> Difference | None:
    """The first place where another share is dropped, or another number of values; None where one of them is
    not known.
    """
    if wanted is None or got is None:
        return None
    for place in sorted(wanted.keys() | got.keys()):
        a, b = wanted.get(place, {}), got.get(place, {})
        if a != b:
            name = Message("dropout of {place}", place=place)
            return Difference("value", name, *both(shares, a, b))
    return None


def shares(found: Mapping[str, int]) -> Said:
    """With which probabilities how many numbers are dropped."""
    if not found:
        return Message("nothing is dropped")
    shown = ", ".join(f"p = {p} ({count})" for p, count in sorted(found.items()))
    return Message("{probabilities} numbers", probabilities=shown)


def deviation(variance: float) -> Said:
    return f"{math.sqrt(variance):.3g}"


def runs(found: Sequence[Array]) -> Said:
    shape = list(found[0].shape) if found else []
    return Message("{count} results of shape {shape}", count=len(found), shape=shape)
