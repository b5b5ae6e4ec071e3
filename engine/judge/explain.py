"""What is systematic about a difference, in one sentence; nothing, where nothing is.

A pattern is told only where it holds at the tolerance that the values were compared with, for at least three
values that it explains: of 103 refusals that were read, 11 misled by a pattern that happened to fit (a
factor of 1, arrays that are nearly constant, ids of tokens taken for quantities).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import TOLERANCES, Difference, Tolerance, within
from engine.run.types import Outcome

FEWEST = 3  # values that a pattern has to explain
NAMED = 6  # positions that are named one by one
SMALL = 1e-3  # a relative difference below this is no other formula, but something small


def pattern(found: Difference, expected: Outcome, got: Outcome, dtype: str = "float64") -> Said:
    """What is systematic about a value that differs; "" where nothing is. dtype: what it was compared as."""
    if found.aspect not in ("value", "shape"):
        return ""
    wanted, given = (_array(one.values.get(str(found.value))) for one in (expected, got))
    if wanted is None or given is None:
        return ""
    if found.aspect == "shape" or wanted.shape != given.shape:
        return _shapes(wanted, given)
    tolerance = TOLERANCES[dtype]
    with np.errstate(all="ignore"):
        return _values(wanted, given, tolerance)


def _array(value: Any) -> np.ndarray | None:
    """A recorded array, or a recorded list of numbers as one."""
    if isinstance(value, np.ndarray):
        return value if value.ndim else None
    items = value.get("list") if isinstance(value, dict) else None
    numbers = items and all(type(item) in (int, float) for item in items)
    return np.asarray(items) if numbers else None


def _shapes(wanted: np.ndarray, given: np.ndarray) -> Said:
    if given.shape == wanted.shape[::-1] and wanted.ndim > 1:
        return Message("The axes are transposed.")
    if wanted.size == given.size:
        return Message("The number of elements is right, their arrangement is not.")
    if wanted.ndim == given.ndim and wanted.ndim > 1:
        axes = [i for i in range(wanted.ndim) if wanted.shape[i] != given.shape[i]]
        if len(axes) == 1:
            return Message(
                "Only axis {axis} differs: {got} where {expected} was expected.",
                axis=axes[0],
                got=given.shape[axes[0]],
                expected=wanted.shape[axes[0]],
            )
    return ""


def _values(wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance) -> Said:
    quantities = wanted.dtype.kind == "f"
    differing = ~within(wanted, given, tolerance) if quantities else wanted != given
    if quantities:
        told = _not_finite(wanted, given)
        for look in (_zeros, _small, _transposed, _factor, _row_factors, _offset, _shifted):
            told = told or look(wanted.astype(np.float64), given.astype(np.float64), tolerance)
        if told:
            return told
    return _part(differing)


def _not_finite(wanted: np.ndarray, given: np.ndarray) -> Said:
    fresh = np.isnan(given) & ~np.isnan(wanted)
    if fresh.any():
        return Message("{where} are NaN.", where=_counted(fresh))
    fresh = np.isinf(given) & ~np.isinf(wanted)
    if fresh.any():
        return Message("{where} are infinite.", where=_counted(fresh))
    return ""


def _counted(fresh: np.ndarray) -> Said:
    """How many values, and where the first is."""
    index = [int(i) for i in np.argwhere(fresh)[0]]
    return Message(
        "{count} of {total} values, the first at {index},",
        count=int(fresh.sum()), total=fresh.size, index=index,
    )  # fmt: skip


def _zeros(wanted: np.ndarray, given: np.ndarray, _: Tolerance) -> Said:
    return Message("Every element is 0.") if not given.any() and wanted.any() else ""


def _small(wanted: np.ndarray, given: np.ndarray, _: Tolerance) -> Said:
    """Values that agree in all but their last digits."""
    relative = np.abs(given - wanted) / np.abs(wanted)
    if not (np.isfinite(relative).all() and 0 < relative.max() < SMALL):
        return ""
    digit = int(np.ceil(-np.log10(relative.max())))
    return Message(
        "They agree in the first {digits} digits: the formula is right, and something small is added, left"
        " out or rounded (an epsilon, say, or float32).",
        digits=digit - 1,
    )


def _transposed(wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance) -> Said:
    if wanted.ndim < 2 or wanted.shape[-1] != wanted.shape[-2]:
        return ""
    turned = np.swapaxes(wanted, -1, -2)
    told = _explains(turned, wanted, given, tolerance)
    return Message("The last two axes are transposed.") if told else ""


def _explains(
    changed: np.ndarray, wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance
) -> bool:
    """Whether `given` is `changed` everywhere, and that is more than FEWEST chance values apart from
    `wanted`.
    """
    if not within(changed, given, tolerance).all():
        return False
    apart = int((~within(wanted, changed, tolerance)).sum())
    return apart >= FEWEST and len(np.unique(wanted)) >= FEWEST


def _factor(wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance) -> Said:
    """One factor for all."""
    there = wanted != 0
    if there.sum() < FEWEST:
        return ""
    factor = float(np.median(given[there] / wanted[there]))
    if not np.isfinite(factor) or not _explains(wanted * factor, wanted, given, tolerance):
        return ""
    return Message("Your values are {factor:.6g} times the expected ones.", factor=factor)


def _row_factors(wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance) -> Said:
    """One factor for each row."""
    if wanted.ndim < 2 or wanted.shape[-1] < FEWEST:
        return ""
    at = np.abs(wanted).argmax(-1)[..., None]
    largest = np.take_along_axis(wanted, at, -1)
    factors = np.take_along_axis(given, at, -1) / np.where(largest == 0, 1, largest)
    if not _explains(wanted * factors, wanted, given, tolerance):
        return ""
    return Message("Each row is off by one factor of its own.")


def _offset(wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance) -> Said:
    offset = float(np.median(given - wanted))
    if not offset or not _explains(wanted + offset, wanted, given, tolerance):
        return ""
    return Message(
        "Each of your values is {offset:+.4g} away from the expected one.", offset=offset
    )


def _shifted(wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance) -> Said:
    for axis in range(wanted.ndim):
        length = wanted.shape[axis]
        if length < FEWEST:
            continue
        rest, early = (_along(axis, slice(1, None)), _along(axis, slice(None, -1)))
        for to, come in ((rest, early), (early, rest)):
            if _explains(wanted[come], wanted[to], given[to], tolerance):
                return Message("Your values are shifted by one along axis {axis}.", axis=axis)
    return ""


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, part)


def _part(differing: np.ndarray) -> Said:
    """The positions along one axis to which the difference keeps, where there is such an axis."""
    best: Said = ""
    share = 1.0
    for axis, wrong in _wrong(differing):
        length = differing.shape[axis]
        if len(wrong) / length < share:
            share = len(wrong) / length
            best = _positions(wrong, length, axis, differing.ndim)
    return best


def _wrong(differing: np.ndarray) -> Iterator[tuple[int, list[int]]]:
    """For each axis the positions at which something differs."""
    for axis in range(differing.ndim):
        others = tuple(i for i in range(differing.ndim) if i != axis)
        yield axis, np.flatnonzero(differing.any(others)).tolist()


def _positions(wrong: list[int], length: int, axis: int, axes: int) -> Said:
    first, last = wrong[0], wrong[-1]
    if len(wrong) > 2 and last - first == len(wrong) - 1:
        shown: Said = Message("{first} to {last}", first=first, last=last)
    else:
        more = ", ..." if len(wrong) > NAMED else ""
        shown = ", ".join(map(str, wrong[:NAMED])) + more
    if axes == 1:
        return Message("Of the {length} only these differ: {shown}.", length=length, shown=shown)
    return Message(
        "Along axis {axis} only these of the {length} positions differ: {shown}.",
        axis=axis, length=length, shown=shown,
    )  # fmt: skip
