"""A difference as a person would say it: the pattern behind the numbers, where there is one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from engine.judge.compare import TOLERANCES, Difference, within
from engine.run.types import Outcome


def pattern(found: Difference, expected: Outcome, got: Outcome) -> str:
    """What is systematic about a differing array, in one sentence; "" when nothing is."""
    if found.aspect not in ("value", "shape"):
        return ""
    wanted, given = expected.values.get(found.value), got.values.get(found.value)
    if not isinstance(wanted, np.ndarray) or not isinstance(given, np.ndarray):
        return ""
    if found.aspect == "shape":
        return _shapes(wanted, given)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows of NaN have no range, and that is all right
        return _values(wanted.astype(np.float64), given.astype(np.float64))


def _same(wanted: Any, given: Any) -> bool:
    return bool(np.all(within(np.asarray(wanted), np.asarray(given), TOLERANCES["float32"])))


def _shapes(wanted: np.ndarray, given: np.ndarray) -> str:
    if given.shape == wanted.shape[::-1] and wanted.ndim > 1:
        return "The axes are transposed."
    if wanted.size == given.size:
        return "The number of elements is right, their arrangement is not."
    if wanted.ndim == given.ndim and wanted.ndim:
        axes = [i for i in range(wanted.ndim) if wanted.shape[i] != given.shape[i]]
        if len(axes) == 1:
            axis = axes[0]
            return (
                f"Only axis {axis} differs: {given.shape[axis]} where "
                f"{wanted.shape[axis]} was expected."
            )
    return ""


def _values(wanted: np.ndarray, given: np.ndarray) -> str:
    if np.isnan(given).any() and not np.isnan(wanted).any():
        first = np.argwhere(np.isnan(np.atleast_1d(given)))[0]
        where = f" from row {int(first[0])} on" if given.ndim > 1 else ""
        return f"NaN{where}."
    if np.isinf(given).any() and not np.isinf(wanted).any():
        return "Infinite values appear."
    if not given.any() and wanted.any():
        return "Every element is 0."
    if wanted.ndim >= 2 and wanted.shape[-1] == wanted.shape[-2]:
        if _same(wanted, np.swapaxes(given, -1, -2)):
            return "The last two axes are transposed."
    finite = np.isfinite(wanted) & np.isfinite(given) & (wanted != 0)
    if finite.any():
        ratios = given[finite] / wanted[finite]
        middle = float(np.median(ratios))
        if middle and np.allclose(ratios, middle, rtol=1e-4):
            return f"Your values are {middle:.4g} times the expected ones everywhere."
        if wanted.ndim >= 2:
            rows = given / np.where(wanted == 0, np.nan, wanted)
            if np.all(np.nanmax(rows, -1) - np.nanmin(rows, -1) <= 1e-4 * np.nanmax(np.abs(rows))):
                return "Each row is off by one constant factor of its own."
    offset = given - wanted
    if np.allclose(offset, offset.flat[0], rtol=1e-4) and abs(offset.flat[0]) > 0:
        return f"Your values are all {float(offset.flat[0]):+.4g} away from the expected ones."
    for axis in range(wanted.ndim):
        if wanted.shape[axis] < 2:
            continue
        for step in (1, -1):
            if _same(np.roll(wanted, step, axis), given):
                return f"Your values are shifted by one along axis {axis}."
    if wanted.ndim >= 2:
        differing = ~within(wanted, given, TOLERANCES["float32"])
        wrong = np.flatnonzero(differing.reshape(len(wanted), -1).any(1)).tolist()
        if len(wrong) < len(wanted):
            shown = ", ".join(str(row) for row in wrong[:6])
            return f"Only some rows of the first axis differ: {shown}" + (
                ", ..." if len(wrong) > 6 else "."
            )
    return ""
