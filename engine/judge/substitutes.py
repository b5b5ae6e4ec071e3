"""Whether something known stands in a result where something else should: another step, its neighbour, a
multiple of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Tolerance
from engine.judge.factors import FEWEST, SMALL, Pair, factor_of, formula_of
from engine.judge.relations import fitting, is_instead

MOST = 60  # of what is known
FUNCTIONS = {
    "tanh": np.tanh,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "log": np.log,
    "square": np.square,
    "negative": np.negative,
}


def substituted(pair: Pair, tolerance: Tolerance) -> Said:
    """One known factor or term of the result in the place of another."""
    full = {name: a for name, a in fitting(pair) if a.shape == pair.wanted.shape}
    full = dict(list(full.items())[:MOST])
    others = {**full, **_functions(full)}
    for name, value in full.items():
        if len(np.unique(value)) < FEWEST:
            continue
        for way, rest in (("+", pair.given - pair.wanted + value), ("*", _quotient(pair, value))):
            for other in _alike(rest, others):
                if other == name:
                    continue
                changed = (
                    pair.wanted - value + others[other]
                    if way == "+"
                    else pair.wanted / value * others[other]
                )
                if is_instead(changed, pair.given, pair.wanted, tolerance):
                    return Message(
                        "Where `{name}` should stand, `{other}` does.", name=name, other=other
                    )
    return ""


def _functions(full: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Simple functions of what is known."""
    return {
        f"{name}({of})": np.asarray(function(value))
        for of, value in full.items()
        for name, function in FUNCTIONS.items()
    }


def _quotient(pair: Pair, value: np.ndarray) -> np.ndarray:
    return np.asarray(pair.given / pair.wanted * value)


def _alike(rest: np.ndarray, others: Mapping[str, np.ndarray]) -> Iterator[str]:
    """The known values that begin as `rest` does: few of many, without a look at all of their numbers."""
    first = np.asarray(rest).flat[0]
    for name, value in others.items():
        if abs(value.flat[0] - first) <= 1e-6 * max(abs(first), 1e-12):
            yield name


def neighbours(pair: Pair, tolerance: Tolerance) -> Said:
    """A known term of which the next or the previous row is added."""
    apart = pair.given - pair.wanted
    for name, value in fitting(pair):
        for axis in range(value.ndim):
            length = value.shape[axis]
            if length < FEWEST or len(np.unique(value)) < FEWEST:
                continue
            early, late = (
                np.take(value, range(*ends), axis) for ends in ((length - 1,), (1, length))
            )
            at = axis - value.ndim
            for here, wrong, later in (
                (range(length - 1), late - early, True),
                (range(1, length), early - late, False),
            ):
                part = np.take(apart, here, at)
                wanted = np.take(pair.wanted, here, at)
                if is_instead(wanted + wrong, wanted + part, wanted, tolerance):
                    return _neighbour(name, at, later=later)
    return ""


def _neighbour(name: str, axis: int, *, later: bool) -> Said:
    if later:
        return Message(
            "Instead of each row of `{name}` the next one is added (axis {axis}).",
            name=name, axis=axis,
        )  # fmt: skip
    return Message(
        "Instead of each row of `{name}` the previous one is added (axis {axis}).",
        name=name, axis=axis,
    )  # fmt: skip


def multiples(pair: Pair, tolerance: Tolerance) -> Said:
    """A known term that is added with another factor."""
    apart = pair.given - pair.wanted
    for name, value in fitting(pair):
        term = np.broadcast_to(value, apart.shape)
        more = factor_of(Pair(term, apart, {}), tolerance, FEWEST)
        if more is None or not is_instead(
            pair.wanted + more * term, pair.given, pair.wanted, tolerance
        ):
            continue
        formula = formula_of([(pair, more)], tolerance)
        if formula and abs(more) > SMALL:
            return Message(
                "Your values are the expected ones plus {factor:.6g} times `{name}`; the factor is"
                " {formula}.",
                name=name, factor=more, formula=formula,
            )  # fmt: skip
    return ""


def scaled_along(pair: Pair, _: Tolerance) -> Said:
    """Something known that is scaled by one number for each row along another axis than it should be."""
    for name, value in fitting(pair):
        if value.shape != pair.wanted.shape or not value.all() or len(np.unique(value)) < FEWEST:
            continue
        should, does = _same_along(pair.wanted / value), _same_along(pair.given / value)
        if len(should) == len(does) == 1 and should != does:
            return Message(
                "`{name}` is scaled by one number along axis {does}; it should be along axis {should}.",
                name=name, does=does[0], should=should[0],
            )  # fmt: skip
    return ""


def _same_along(scale: np.ndarray) -> list[int]:
    """The axes along which the numbers are the same, where they differ elsewhere."""
    return [
        axis
        for axis in range(scale.ndim)
        if scale.shape[axis] >= FEWEST
        and np.abs(scale - scale.take([0], axis)).max() <= 1e-6 * np.abs(scale).max()
    ]
