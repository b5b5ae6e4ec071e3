"""A difference as a person would say it: the pattern behind the numbers, where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.judge.compare import TOLERANCES, Difference, within
from engine.run.types import Outcome

if TYPE_CHECKING:
    from engine.judge.verdict import Result


def sentence(result: Result) -> str:
    """The first difference of a check in one line: where, what was expected, what came, and why."""
    found = result.difference
    if found is None:
        return ""
    at = str(list(found.index)) if found.index else ""
    name = f"{found.value}{at} is " if found.value else ""
    parts = [
        f"{result.component}, {result.id}, regime {result.regime} ({result.inputs}): "
        f"{name}{found.got}, expected {found.expected}."
    ]
    if found.total > 1:
        parts.append(f"{found.differing} of {found.total} values differ.")
    if result.pattern:
        parts.append(result.pattern)
    if result.traceback:
        parts.append(f"Raised at {result.traceback[-1]}.")
    return " ".join(parts)


def pattern(found: Difference, expected: Outcome, got: Outcome) -> str:
    """What is systematic about a differing array, in one sentence; "" when nothing is."""
    if found.aspect not in ("value", "shape"):
        return ""
    wanted, given = expected.values.get(found.value), got.values.get(found.value)
    if not isinstance(wanted, np.ndarray) or not isinstance(given, np.ndarray):
        return ""
    if found.aspect == "shape":
        return _shapes(wanted, given)
    with np.errstate(all="ignore"):
        kind = wanted.dtype.name if wanted.dtype.name in TOLERANCES else "float64"
        differing = ~np.atleast_1d(within(wanted, given, TOLERANCES[kind]))
        return _values(wanted.astype(np.float64), given.astype(np.float64), differing)


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


def _values(wanted: np.ndarray, given: np.ndarray, differing: np.ndarray) -> str:
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
    factor = _factor(wanted, given)
    if factor:
        return factor
    offset = given - wanted
    if np.allclose(offset, offset.flat[0], rtol=1e-4) and abs(offset.flat[0]) > 0:
        return f"Your values are all {float(offset.flat[0]):+.4g} away from the expected ones."
    for axis in range(wanted.ndim):
        if wanted.shape[axis] < 2:
            continue
        for step in (1, -1):
            if _same(np.roll(wanted, step, axis), given):
                return f"Your values are shifted by one along axis {axis}."
    return _part(differing)


def _factor(wanted: np.ndarray, given: np.ndarray) -> str:
    """One factor for all, or one for each row, told apart from rounding."""
    finite = np.isfinite(wanted) & np.isfinite(given) & (wanted != 0)
    if not finite.any():
        return ""
    ratios = np.where(finite, given / np.where(finite, wanted, 1.0), np.nan)
    middle = float(np.nanmedian(ratios))
    if middle and np.nanmax(np.abs(ratios - middle)) <= 1e-2 * abs(middle - 1):
        return f"Your values are {middle:.6g} times the expected ones everywhere."
    if wanted.ndim >= 2:
        ratios = ratios[finite.any(-1)]  # a row of zeros has none
        rows = np.nanmedian(ratios, -1, keepdims=True)
        if np.nanmax(np.abs(ratios - rows)) <= 1e-2 * np.nanmax(np.abs(rows - 1)):
            return "Each row is off by one constant factor of its own."
    return ""


def _part(differing: np.ndarray) -> str:
    """The positions along one axis to which the difference keeps, where there is such an axis."""
    best, said = 1.0, ""
    for axis, length in enumerate(differing.shape):
        others = tuple(i for i in range(differing.ndim) if i != axis)
        wrong = np.flatnonzero(differing.any(others)).tolist()
        if wrong and len(wrong) / length < best:
            best = len(wrong) / length
            first, last = wrong[0], wrong[-1]
            if len(wrong) > 2 and last - first == len(wrong) - 1:
                shown = f"{first} to {last}"
            else:
                shown = ", ".join(map(str, wrong[:6])) + (", ..." if len(wrong) > 6 else "")
            said = f"Only positions {shown} of the {length} along axis {axis} differ."
    return said
