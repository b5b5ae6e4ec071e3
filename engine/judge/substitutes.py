"""Whether something known stands in a result where something else should: another step, its neighbour, a
multiple of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Tolerance
from engine.judge.factors import Pair, factor_of, formula_of
from engine.judge.relations import FEWEST, fitting, is_instead

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
            for here, wrong, place in (
                (range(length - 1), late - early, Message("next")),
                (range(1, length), early - late, Message("previous")),
            ):
                part = np.take(apart, here, at)
                wanted = np.take(pair.wanted, here, at)
                if is_instead(wanted + wrong, wanted + part, wanted, tolerance):
                    return Message(
                        "Instead of each row of `{name}` the {place} one is added (axis {axis}).",
                        name=name, place=place, axis=at,
                    )  # fmt: skip
    return ""


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
        if formula:
            return Message(
                "Your values are the expected ones plus {factor:.6g} times `{name}`, the factor being {formula}.",
                name=name, factor=more, formula=formula,
            )  # fmt: skip
        return Message(
            "Your values are the expected ones plus {factor:.6g} times `{name}`.",
            name=name, factor=more,
        )  # fmt: skip
    return ""
