"""How a wrong result is related to what is known beside it: inputs, steps on the way, other results.

Each is told only where it holds at the tolerance that the values were compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Tolerance, within
from engine.judge.factors import FEWEST, Pair, factor_of, formula_of

Arrays = Mapping[str, np.ndarray]


def exchanged(name: str, wanted: Arrays, given: Arrays, tolerance: Tolerance) -> Said:
    """Whether another result of the same measurement came in the place of this one, and vice versa."""
    for other in wanted:
        if other == name or other not in given or wanted[other].shape != wanted[name].shape:
            continue
        if not is_instead(wanted[other], given[name], wanted[name], tolerance):
            continue
        if wanted[name].shape == given[other].shape and _all(wanted[name], given[other], tolerance):
            return Message(
                "`{one}` and `{other}` are exchanged: each of yours is what is expected of the other.",
                one=name, other=other,
            )  # fmt: skip
    return ""


def is_instead(
    other: np.ndarray, given: np.ndarray, wanted: np.ndarray, tolerance: Tolerance
) -> bool:
    """Whether `given` is `other`, which is more than FEWEST chance values apart from `wanted`."""
    if not _all(other, given, tolerance):
        return False
    return int((~within(wanted, other, tolerance)).sum()) >= FEWEST and _varied(other)


def _all(wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance) -> bool:
    """Whether all values are near; most are not, and their first numbers tell."""
    if wanted.size and given.size:
        most = (tolerance.element + tolerance.row + tolerance.array) * float(np.abs(wanted).max())
        if abs(float(given.flat[0]) - float(wanted.flat[0])) > most:
            return False
    return bool(within(wanted, given, tolerance).all())


def _varied(values: np.ndarray) -> bool:
    return len(np.unique(values)) >= FEWEST


def known_values(pair: Pair, tolerance: Tolerance) -> Said:
    """Something known that is missing, that is there once too often, or that is all there is."""
    for name, value in fitting(pair):
        for times in (-1, 1, -2, 2):
            changed = pair.wanted + times * value
            if _varied(value) and is_instead(changed, pair.given, pair.wanted, tolerance):
                return _term(name, times)
    for name, value in fitting(pair):
        whole = value.shape == pair.wanted.shape
        if whole and is_instead(value, pair.given, pair.wanted, tolerance):
            return Message("Your values are exactly `{name}`, and nothing else.", name=name)
    return ""


def _term(name: str, times: int) -> Said:
    """What it means that so many times something known is too much."""
    if times == -1:
        return Message(
            "`{name}` is not added: your values plus `{name}` are exactly the expected ones.",
            name=name,
        )
    if times == 1:
        return Message(
            "`{name}` is added once too often: your values minus `{name}` are exactly the expected ones.",
            name=name,
        )
    if times == -2:
        return Message("`{name}` is subtracted where it should be added.", name=name)
    return Message("`{name}` is added where it should be subtracted.", name=name)


def known_factors(pair: Pair, tolerance: Tolerance) -> Said:
    """Something known by which all is multiplied or divided; powers of the expected values."""
    if not _varied(pair.wanted):
        return ""
    for power, told in ((2, "**2"), (0.5, "**0.5")):
        if (pair.wanted >= 0).all() and is_instead(
            pair.wanted**power, pair.given, pair.wanted, tolerance
        ):
            return Message("Your values are the expected ones{power}.", power=told)
    for name, value in fitting(pair):
        if len(np.unique(value)) < 2:
            continue
        if is_instead(pair.wanted * value, pair.given, pair.wanted, tolerance):
            return Message("Your values are the expected ones times `{name}`.", name=name)
        if value.all() and is_instead(pair.wanted / value, pair.given, pair.wanted, tolerance):
            return Message("Your values are the expected ones divided by `{name}`.", name=name)
    return ""


def fitting(pair: Pair) -> Iterator[tuple[str, np.ndarray]]:
    """What is known and has the shape of the result, or broadcasts to it."""
    for name, value in pair.known.items():
        if value.dtype.kind != "f" or not value.ndim or value.ndim > pair.wanted.ndim:
            continue
        pairs = zip(value.shape[::-1], pair.wanted.shape[::-1], strict=False)
        if value.size > 1 and np.isfinite(value).all() and all(a in (1, b) for a, b in pairs):
            yield name, value


def factors_apart(name: str, wanted: Arrays, given: Arrays, tolerance: Tolerance) -> Said:
    """Whether each of several results is off by a factor of its own."""
    found = {}
    for one in wanted:
        if one in given and wanted[one].ndim and wanted[one].shape == given[one].shape:
            factor = factor_of(Pair(wanted[one], given[one], {}), tolerance, FEWEST)
            if factor is not None:
                found[one] = factor
    if name not in found or len(found) < 2:
        return ""
    shared = [a for one, a in found.items() if one != name and abs(a / found[name] - 1) < 1e-6]
    if shared:
        return ""  # one factor for some of them says more
    return Message(
        "Each is off by a factor of its own: {factors}.",
        factors=", ".join(f"{one} {factor:.4g}" for one, factor in found.items()),
    )


def sharpened(pair: Pair, tolerance: Tolerance) -> Said:
    """Rows of a softmax whose scores are all too large, or too small, by one factor."""
    wanted, given = pair.wanted, pair.given
    if wanted.ndim < 2 or (wanted < 0).any() or (given < 0).any():
        return ""
    there = wanted > 0
    if not ((given > 0) == there).all() or (there.sum(-1) >= 2).sum() < FEWEST:
        return ""
    sums = wanted.sum(-1)
    if np.ptp(sums) > 1e-6 or np.abs(given.sum(-1) - sums).max() > 1e-6:
        return ""
    rows = there.sum(-1) >= 2
    logs = [np.log(np.where(there, a, 1.0))[rows] for a in (wanted, given)]
    count = there[rows].sum(-1, keepdims=True)
    middle = [np.where(there[rows], a - a.sum(-1, keepdims=True) / count, 0.0) for a in logs]
    factor = factor_of(Pair(middle[0], middle[1], {}), tolerance, FEWEST)
    if factor is None:
        return ""
    formula = formula_of([(pair, factor)], tolerance)
    if formula:
        return Message(
            "Each row is a softmax of scores that are {factor:.6g} times the expected ones, which is"
            " {formula}.",
            factor=factor,
            formula=formula,
        )
    return Message(
        "Each row is a softmax of scores that are {factor:.6g} times the expected ones.",
        factor=factor,
    )
