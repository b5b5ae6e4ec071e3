"""What is systematic about a difference, in one sentence; nothing, where nothing is.

A pattern is told only where it holds at the tolerance that the values were compared with, for at least three
values that it explains: of 103 refusals that were read, 11 misled by a pattern that happened to fit (a
factor of 1, arrays that are nearly constant, ids of tokens taken for quantities).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.errors import Said
from engine.judge.alone import (
    negated,
    not_finite,
    offset,
    row_offsets,
    shifted,
    transposed,
    zeros,
)
from engine.judge.arrangement import holes, rearranged, reordered, repeated, sparse, sums
from engine.judge.compare import TOLERANCES, Difference
from engine.judge.factors import FEWEST, Pair, one_factor
from engine.judge.places import shapes, where
from engine.judge.relations import (
    exchanged,
    factors_apart,
    known_factors,
    known_values,
    sharpened,
)
from engine.judge.settings import a_setting, early
from engine.judge.substitutes import multiples, neighbours, scaled_along, substituted
from engine.run.types import Outcome

LARGEST = 20_000  # numbers of an array in which more than a place is looked for


def pattern(
    found: Difference,
    expected: Outcome,
    got: Outcome,
    dtype: str = "float64",
    known: Mapping[str, Any] = {},
) -> Said:
    """What is systematic about a value that differs; "" where nothing is.

    dtype: what it was compared as. known: inputs, and what the reference names on its way.
    """
    told = telling(found, [(expected, got, known)], dtype)
    return told or weak(found, expected, got, dtype, known)


def telling(
    found: Difference, seen: Sequence[tuple[Outcome, Outcome, Mapping[str, Any]]], dtype: str
) -> Said:
    """A pattern that says what is wrong, not only where; "" where there is none.

    seen: what was expected, what came and what is known in the measurement of which `found` is told, then
    in others in which the same value differs.
    """
    name = str(found.value)
    pairs = [pair for one in seen if (pair := _pair(name, *one)) is not None]
    if found.aspect != "value" or not pairs or _pair(name, *seen[0]) is None:
        return ""
    tolerance = TOLERANCES[dtype]
    wanted, given = (_arrays(one) for one in seen[0][:2])
    with np.errstate(all="ignore"):
        if not pairs[0].wanted.ndim:
            told = early(name, *seen[0][:2], tolerance)
            if told:
                return told
            return one_factor(pairs, tolerance, FEWEST) or a_setting(
                pairs[0], [*_scalars(seen[0][1])], tolerance
            )
        return (
            not_finite(pairs[0].wanted, pairs[0].given)
            or zeros(pairs[0].wanted, pairs[0].given)
            or exchanged(name, wanted, given, tolerance)
            or transposed(pairs[0], tolerance)
            or factors_apart(name, wanted, given, tolerance)
            or one_factor(pairs, tolerance, FEWEST)
            or next((told for look in LOOKS if (told := look(pairs[0], tolerance))), "")
        )


def _pair(name: str, expected: Outcome, got: Outcome, known: Mapping[str, Any]) -> Pair | None:
    """A value of a measurement as two arrays of the same shape, if it is one of numbers."""
    wanted, given = (numbers(one.values.get(name)) for one in (expected, got))
    if wanted is None or given is None or wanted.shape != given.shape or wanted.size > LARGEST:
        return None
    if wanted.dtype.kind != "f":
        return None
    return Pair(wanted.astype(np.float64), given.astype(np.float64), all_known(known))


def numbers(value: Any) -> np.ndarray | None:
    """A recorded array or number."""
    if isinstance(value, float):
        return np.asarray(value)
    return value if isinstance(value, np.ndarray) and not value.ndim else array(value)


def _arrays(outcome: Outcome) -> dict[str, np.ndarray]:
    """The recorded arrays of floats."""
    found = {name: numbers(value) for name, value in outcome.values.items()}
    return {
        name: a.astype(np.float64)
        for name, a in found.items()
        if a is not None and a.dtype.kind == "f"
    }


def all_known(known: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """What is known, as arrays of numbers."""
    numbers = (np.ndarray, np.generic, int, float)
    return {
        name: np.asarray(value)
        for name, value in known.items()
        if isinstance(value, numbers) and not isinstance(value, bool) and np.size(value) <= LARGEST
    }


def _scalars(outcome: Outcome) -> Iterator[float]:
    """The recorded numbers that stand alone."""
    for value in outcome.values.values():
        if isinstance(value, float):
            yield value


def weak(
    found: Difference, expected: Outcome, got: Outcome, dtype: str, known: Mapping[str, Any]
) -> Said:
    """Where values differ, and in what digits."""
    if found.aspect not in ("value", "shape"):
        return ""
    wanted, given = (array(one.values.get(str(found.value))) for one in (expected, got))
    if wanted is None or given is None:
        return ""
    if found.aspect == "shape" or wanted.shape != given.shape:
        return shapes(wanted, given)
    tolerance = TOLERANCES[dtype]
    with np.errstate(all="ignore"):
        return where(wanted, given, tolerance, all_known(known))


def array(value: Any) -> np.ndarray | None:
    """A recorded array, or a recorded list of numbers as one."""
    if isinstance(value, np.ndarray):
        return value if value.ndim else None
    items = value.get("list") if isinstance(value, dict) else None
    numbers = items and all(type(item) in (int, float) for item in items)
    return np.asarray(items) if numbers else None


LOOKS = (
    shifted,
    known_values,
    known_factors,
    reordered,
    rearranged,
    substituted,
    neighbours,
    scaled_along,
    multiples,
    repeated,
    holes,
    sums,
    sharpened,
    sparse,
    offset,
    row_offsets,
    negated,
)
