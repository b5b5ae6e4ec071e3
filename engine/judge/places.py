"""Where two results differ, which is told where nothing says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from engine.errors import Message, Said
from engine.judge.alone import (
    not_finite,
    offset,
    row_factors,
    shifted,
    small,
    transposed,
    zeros,
)
from engine.judge.arrangement import chosen, positions, repeated
from engine.judge.compare import Tolerance, within
from engine.judge.factors import FEWEST, Pair, factor_of, one_factor


def shapes(wanted: np.ndarray, given: np.ndarray) -> Said:
    """How a shape differs."""
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


def where(
    wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance, known: Mapping[str, np.ndarray]
) -> Said:
    """Which values of two arrays of one shape differ, and what is so about them."""
    if wanted.dtype.kind != "f":
        return part(wanted != given)
    differing = ~within(wanted, given, tolerance)
    pair = Pair(wanted.astype(np.float64), given.astype(np.float64), known)
    told = not_finite(wanted, given) or zeros(wanted, given)
    for look in (small, transposed, one, row_factors, offset, shifted):
        told = told or look(pair, tolerance)
    if told or not differing.any():  # numbers of a list are compared one by one, more strictly
        return told
    at = repeated(pair, tolerance) or chosen(differing, known) or part(differing)
    return _joined(at, there(pair, differing, tolerance))


def _joined(where: Said, what: Said) -> Said:
    return Message("{where} {what}", where=where, what=what) if where and what else where


def one(pair: Pair, tolerance: Tolerance) -> Said:
    """One factor for all."""
    return one_factor([pair], tolerance, FEWEST)


def away(pair: Pair, tolerance: Tolerance) -> Said:
    """The same number too much."""
    if not offset(pair, tolerance):
        return ""
    return Message(
        "There yours are {offset:+.4g} away from the expected ones.",
        offset=float(np.median(pair.given - pair.wanted)),
    )


def there(pair: Pair, differing: np.ndarray, tolerance: Tolerance) -> Said:
    """What is so about the values that differ, where others do not."""
    some = Pair(pair.wanted[differing], pair.given[differing], {})
    if some.wanted.size < FEWEST:
        return ""
    if not some.given.any():
        return Message("There yours are 0.")
    factor = factor_of(some, tolerance, FEWEST)
    if factor is None:
        return away(some, tolerance)
    if abs(factor + 1) < tolerance.element:
        return Message("There yours are exactly the negative of what is expected.")
    return Message("There yours are {factor:.6g} times the expected ones.", factor=factor)


def part(differing: np.ndarray) -> Said:
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
    shown = positions(wrong)
    if axes == 1:
        return Message("Of the {length} only these differ: {shown}.", length=length, shown=shown)
    return Message(
        "Along axis {axis} only these of the {length} positions differ: {shown}.",
        axis=axis, length=length, shown=shown,
    )  # fmt: skip
