"""What is systematic about two arrays of numbers, with nothing known beside them.

Each is told only where it holds at the tolerance that the values were compared with.
"""

from __future__ import annotations

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Tolerance, within
from engine.judge.factors import FEWEST, SMALL, Pair


def not_finite(wanted: np.ndarray, given: np.ndarray) -> Said:
    """NaN or infinities that are not expected."""
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


def zeros(wanted: np.ndarray, given: np.ndarray) -> Said:
    """Zeros in the place of numbers."""
    told = not given.any() and (wanted != 0).sum() >= min(FEWEST, wanted.size)
    return Message("Every element is 0.") if told else ""


def small(pair: Pair, _: Tolerance) -> Said:
    """Values that agree in all but their last digits."""
    wanted, given = pair.wanted, pair.given
    relative = np.abs(given - wanted) / np.abs(wanted)
    if not (np.isfinite(relative).all() and 0 < relative.max() < SMALL):
        return ""
    digit = int(np.ceil(-np.log10(relative.max())))
    return agreeing(digit - 1)


def agreeing(digits: int) -> Message:
    """That only what comes after so many digits differs."""
    return Message(
        "They agree in the first {digits} digits: the formula is right, and something small is added, left"
        " out or rounded (an epsilon, say, or float32).",
        digits=digits,
    )


def told_small(pattern: Said) -> bool:
    """Whether a pattern is that only the last digits differ."""
    return isinstance(pattern, Message) and pattern.id == agreeing(0).id


def transposed(pair: Pair, tolerance: Tolerance) -> Said:
    wanted, given = pair.wanted, pair.given
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


def row_factors(pair: Pair, tolerance: Tolerance) -> Said:
    """One factor for each row."""
    wanted, given = pair.wanted, pair.given
    if wanted.ndim < 2 or wanted.shape[-1] < FEWEST:
        return ""
    at = np.abs(wanted).argmax(-1)[..., None]
    largest = np.take_along_axis(wanted, at, -1)
    factors = np.take_along_axis(given, at, -1) / np.where(largest == 0, 1, largest)
    if not _explains(wanted * factors, wanted, given, tolerance):
        return ""
    return Message("Each row is off by one factor of its own.")


def offset(pair: Pair, tolerance: Tolerance) -> Said:
    wanted, given = pair.wanted, pair.given
    offset = float(np.median(given - wanted))
    if not offset or not _explains(wanted + offset, wanted, given, tolerance):
        return ""
    return Message(
        "Each of your values is {offset:+.4g} away from the expected one.", offset=offset
    )


def row_offsets(pair: Pair, tolerance: Tolerance) -> Said:
    """In each row the same number too much."""
    apart = pair.given - pair.wanted
    if (
        pair.wanted.ndim < 2
        or pair.wanted.shape[-1] < FEWEST
        or len(apart.reshape(-1)) < 2 * FEWEST
    ):
        return ""
    middle = np.median(apart, axis=-1, keepdims=True)
    if not middle.any() or not _explains(pair.wanted + middle, pair.wanted, pair.given, tolerance):
        return ""
    return Message(
        "In each row all values are off by one number of the row's own: a mean or a sum that is missing,"
        " say."
    )


def negated(pair: Pair, tolerance: Tolerance) -> Said:
    """Some values are the negative of what they should be, and the others are right."""
    differing = ~within(pair.wanted, pair.given, tolerance)
    opposite = within(-pair.wanted, pair.given, tolerance)
    if differing.sum() < FEWEST or not opposite[differing].all() or differing.all():
        return ""
    return Message(
        "{count} values are exactly the negative of what is expected, the other {right} are right.",
        count=int(differing.sum()), right=int((~differing).sum()),
    )  # fmt: skip


def shifted(pair: Pair, tolerance: Tolerance) -> Said:
    wanted, given = pair.wanted, pair.given
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
