"""What is systematic about a difference, in one sentence; nothing, where nothing is.

A pattern is told only where it holds at the tolerance that the values were compared with, for at least three
values that it explains: of 103 refusals that were read, 11 misled by a pattern that happened to fit (a
factor of 1, arrays that are nearly constant, ids of tokens taken for quantities).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.errors import Message, Said
from engine.judge.arrangement import chosen, holes, positions, rearranged, reordered, sparse, sums
from engine.judge.compare import TOLERANCES, Difference, Tolerance, within
from engine.judge.factors import SMALL, Pair, factor_of, one_factor
from engine.judge.relations import (
    exchanged,
    factors_apart,
    known_factors,
    known_values,
    sharpened,
)
from engine.judge.substitutes import multiples, neighbours, substituted
from engine.run.types import Outcome

FEWEST = 3  # values that a pattern has to explain
LARGEST = 20_000  # numbers of an array in which more than a place is looked for


AGREE = Message(
    "They agree in the first {digits} digits: the formula is right, and something small is added, left"
    " out or rounded (an epsilon, say, or float32).",
    digits=0,
)


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
    return telling(found, [(expected, got, known)], dtype) or _weak(
        found, expected, got, dtype, known
    )


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
            early = _early(name, *seen[0][:2], tolerance)
            if early:
                return early
            return one_factor(pairs, tolerance, FEWEST) or _a_setting(
                pairs[0], [*_scalars(seen[0][1])], tolerance
            )
        return (
            _not_finite(pairs[0].wanted, pairs[0].given)
            or _zeros(pairs[0].wanted, pairs[0].given)
            or exchanged(name, wanted, given, tolerance)
            or _transposed(pairs[0], tolerance)
            or factors_apart(name, wanted, given, tolerance)
            or one_factor(pairs, tolerance, FEWEST)
            or next((told for look in LOOKS if (told := look(pairs[0], tolerance))), "")
        )


def _pair(name: str, expected: Outcome, got: Outcome, known: Mapping[str, Any]) -> Pair | None:
    """A value of a measurement as two arrays of the same shape, if it is one of numbers."""
    wanted, given = (_numbers(one.values.get(name)) for one in (expected, got))
    if wanted is None or given is None or wanted.shape != given.shape or wanted.size > LARGEST:
        return None
    if wanted.dtype.kind != "f":
        return None
    return Pair(wanted.astype(np.float64), given.astype(np.float64), _all_known(known))


def _numbers(value: Any) -> np.ndarray | None:
    """A recorded array or number."""
    if isinstance(value, float):
        return np.asarray(value)
    return value if isinstance(value, np.ndarray) and not value.ndim else _array(value)


def _arrays(outcome: Outcome) -> dict[str, np.ndarray]:
    """The recorded arrays of floats."""
    found = {name: _numbers(value) for name, value in outcome.values.items()}
    return {
        name: a.astype(np.float64)
        for name, a in found.items()
        if a is not None and a.dtype.kind == "f"
    }


def _all_known(known: Mapping[str, Any]) -> dict[str, np.ndarray]:
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


def _early(name: str, expected: Outcome, got: Outcome, tolerance: Tolerance) -> Said:
    """Numbers that were recorded in a row, of which each is what is expected of the next."""
    row = [one for one, value in expected.values.items() if isinstance(value, float)]
    if name not in row or any(not isinstance(got.values.get(one), float) for one in row):
        return ""
    wanted, given = (np.array([one.values[key] for key in row]) for one in (expected, got))
    at = row.index(name)
    for step in (1, -1):
        here = [i for i in (at, at + 1) if 0 <= i + step < len(row) and i < len(row)]
        there = [i + step for i in here]
        if len(here) < 2 or within(wanted[here], wanted[there], tolerance).any():
            continue
        if within(wanted[there], given[here], tolerance).all():
            return Message("That is what is expected of {other}.", other=row[at + step])
    return ""


def _a_setting(pair: Pair, others: Sequence[float], tolerance: Tolerance) -> Said:
    """A single number that is one of the settings, as it was given. others: all that were recorded."""
    for name, value in pair.known.items():
        if value.ndim or value.dtype.kind != "f" or float(value).is_integer():
            continue
        if within(value, pair.given, tolerance) and not within(pair.wanted, value, tolerance):
            count = sum(bool(within(value, np.asarray(other), tolerance)) for other in others)
            if count < FEWEST:
                return Message("That is {name}, unchanged.", name=name)
            return Message(
                "That is {name}, unchanged, and so are {count} of your {total} results here.",
                name=name, count=count, total=len(others),
            )  # fmt: skip
    return ""


def _weak(
    found: Difference, expected: Outcome, got: Outcome, dtype: str, known: Mapping[str, Any]
) -> Said:
    """Where values differ, and in what digits."""
    if found.aspect not in ("value", "shape"):
        return ""
    wanted, given = (_array(one.values.get(str(found.value))) for one in (expected, got))
    if wanted is None or given is None:
        return ""
    if found.aspect == "shape" or wanted.shape != given.shape:
        return _shapes(wanted, given)
    tolerance = TOLERANCES[dtype]
    with np.errstate(all="ignore"):
        return _values(wanted, given, tolerance, _all_known(known))


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


def _values(
    wanted: np.ndarray, given: np.ndarray, tolerance: Tolerance, known: Mapping[str, np.ndarray]
) -> Said:
    if wanted.dtype.kind != "f":
        return _part(wanted != given)
    differing = ~within(wanted, given, tolerance)
    pair = Pair(wanted.astype(np.float64), given.astype(np.float64), known)
    told = _not_finite(wanted, given) or _zeros(wanted, given)
    for look in (_small, _transposed, _factor, _row_factors, _offset, _shifted):
        told = told or look(pair, tolerance)
    if told:
        return told
    where = chosen(differing, known) or _part(differing)
    return _joined(where, _there(pair, differing, tolerance))


def _joined(where: Said, what: Said) -> Said:
    return Message("{where} {what}", where=where, what=what) if where and what else where


def _there(pair: Pair, differing: np.ndarray, tolerance: Tolerance) -> Said:
    """What is so about the values that differ, where others do not."""
    part = Pair(pair.wanted[differing], pair.given[differing], {})
    if part.wanted.size < FEWEST:
        return ""
    if not part.given.any():
        return Message("There yours are 0.")
    factor = factor_of(part, tolerance, FEWEST)
    if factor is None:
        return _offset(part, tolerance)
    if abs(factor + 1) < tolerance.element:
        return Message("There yours are exactly the negative of what is expected.")
    return Message("There yours are {factor:.6g} times the expected ones.", factor=factor)


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


def _zeros(wanted: np.ndarray, given: np.ndarray) -> Said:
    told = not given.any() and (wanted != 0).sum() >= min(FEWEST, wanted.size)
    return Message("Every element is 0.") if told else ""


def _small(pair: Pair, _: Tolerance) -> Said:
    """Values that agree in all but their last digits."""
    wanted, given = pair.wanted, pair.given
    relative = np.abs(given - wanted) / np.abs(wanted)
    if not (np.isfinite(relative).all() and 0 < relative.max() < SMALL):
        return ""
    digit = int(np.ceil(-np.log10(relative.max())))
    return Message(AGREE.id, digits=digit - 1)


def told_small(pattern: Said) -> bool:
    """Whether a pattern is that only the last digits differ."""
    return isinstance(pattern, Message) and pattern.id == AGREE.id


def _transposed(pair: Pair, tolerance: Tolerance) -> Said:
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


def _factor(pair: Pair, tolerance: Tolerance) -> Said:
    """One factor for all."""
    return one_factor([pair], tolerance, FEWEST)


def _row_factors(pair: Pair, tolerance: Tolerance) -> Said:
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


def _offset(pair: Pair, tolerance: Tolerance) -> Said:
    wanted, given = pair.wanted, pair.given
    offset = float(np.median(given - wanted))
    if not offset or not _explains(wanted + offset, wanted, given, tolerance):
        return ""
    return Message(
        "Each of your values is {offset:+.4g} away from the expected one.", offset=offset
    )


def _row_offsets(pair: Pair, tolerance: Tolerance) -> Said:
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


def _negated(pair: Pair, tolerance: Tolerance) -> Said:
    """Some values are the negative of what they should be, and the others are right."""
    differing = ~within(pair.wanted, pair.given, tolerance)
    opposite = within(-pair.wanted, pair.given, tolerance)
    if differing.sum() < FEWEST or not opposite[differing].all() or differing.all():
        return ""
    return Message(
        "{count} values are exactly the negative of what is expected, the other {right} are right.",
        count=int(differing.sum()), right=int((~differing).sum()),
    )  # fmt: skip


def _shifted(pair: Pair, tolerance: Tolerance) -> Said:
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
    shown = positions(wrong)
    if axes == 1:
        return Message("Of the {length} only these differ: {shown}.", length=length, shown=shown)
    return Message(
        "Along axis {axis} only these of the {length} positions differ: {shown}.",
        axis=axis, length=length, shown=shown,
    )  # fmt: skip


LOOKS = (
    _shifted,
    known_values,
    known_factors,
    reordered,
    rearranged,
    substituted,
    neighbours,
    multiples,
    holes,
    sums,
    sharpened,
    sparse,
    _offset,
    _row_offsets,
    _negated,
)
