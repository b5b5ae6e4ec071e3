"""Where a wrong result has its values: in another order, along another axis, at other places.

Each is told only where it holds at the tolerance that the values were compared with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Tolerance, within
from engine.judge.factors import FEWEST, Pair

LONGEST = 64  # an axis along which an order is looked for
SHOWN = 12  # positions of an order that are shown
NAMED = 6  # positions that are named one by one
TINY = 1e-6  # of a sum
CHANCE = 0.1  # that rows are repeated ones by lot


def reordered(pair: Pair, tolerance: Tolerance) -> Said:
    """The slices along one axis, in another order, or one of them everywhere."""
    wanted, given = pair.wanted, pair.given
    for axis in range(wanted.ndim):
        length = wanted.shape[axis]
        if not 2 <= length <= LONGEST or wanted.size < 2 * FEWEST:
            continue
        mine, theirs = (np.moveaxis(a, axis, 0).reshape(length, -1) for a in (wanted, given))
        if len(np.unique(mine, axis=0)) < length or np.isnan(theirs).any():
            continue
        bound = tolerance.element * np.abs(mine).max() + tolerance.array
        order: list[int] = []
        for row in theirs:
            place = _place(row, mine, bound)
            if place is None:
                break
            order.append(place)
        if len(order) < length or order == [*range(length)]:
            continue
        if len(set(order)) == 1:
            return Message(
                "Along axis {axis} every position holds what is expected at position {place}.",
                axis=axis, place=order[0],
            )  # fmt: skip
        if len(set(order)) == length and sum(a != b for a, b in enumerate(order)) >= 2:
            more = ", ..." if length > SHOWN else ""
            return Message(
                "Along axis {axis} yours are the expected values in another order: {order}.",
                axis=axis,
                order=", ".join(map(str, order[:SHOWN])) + more,
            )
    return ""


def _place(row: np.ndarray, rows: np.ndarray, bound: float) -> int | None:
    """Which of the rows it is."""
    near = np.flatnonzero((np.abs(rows - row) <= bound).all(-1))
    return int(near[0]) if len(near) else None


def sums(pair: Pair, _: Tolerance) -> Said:
    """What should sum to 1 along an axis and does along another one, or along none; rows that sum to 0."""
    wanted, given = pair.wanted, pair.given
    if wanted.ndim < 2 or not np.isfinite(given).all():
        return ""
    for axis in range(wanted.ndim):
        if wanted.shape[axis] < 2 or wanted.size // wanted.shape[axis] < FEWEST:
            continue
        if _all_near(wanted.sum(axis), 1.0) and (wanted >= 0).all():
            told = _other_sums(wanted, given, axis)
            if told:
                return told
        large = np.abs(wanted).sum(axis).min()
        if _all_near(given.sum(axis), 0.0) and np.abs(wanted.sum(axis)).max() > 1e-2 * large > 0:
            if given.any(axis).all():
                return Message(
                    "Along axis {axis} your values sum to 0; the expected ones do not.", axis=axis
                )
    return ""


def _other_sums(wanted: np.ndarray, given: np.ndarray, axis: int) -> Said:
    """How those values sum that should sum to 1 along this axis."""
    if _all_near(given.sum(axis), 1.0):
        return ""
    for other in range(wanted.ndim):
        used = wanted.any(other)
        if other != axis and used.any() and _all_near(given.sum(other)[used], 1.0):
            return Message(
                "Your values sum to 1 along axis {other}; along axis {axis} they should.",
                other=other, axis=axis,
            )  # fmt: skip
    return Message(
        "Along axis {axis} the expected values sum to 1; yours to numbers from {low:.4g} to {high:.4g}.",
        axis=axis, low=given.sum(axis).min(), high=given.sum(axis).max(),
    )  # fmt: skip


def _all_near(values: np.ndarray, number: float) -> bool:
    return bool(np.abs(values - number).max() <= TINY)


def rearranged(pair: Pair, tolerance: Tolerance) -> Said:
    """The same numbers at other places."""
    mine, theirs = np.sort(pair.given, None), np.sort(pair.wanted, None)
    if len(np.unique(theirs)) < 2 * FEWEST:
        return ""
    if not (np.abs(mine - theirs) <= tolerance.element * np.abs(theirs)).all():
        return ""
    return Message(
        "They are the expected numbers at other places: is a transpose or a reshape missing, or are two in"
        " the wrong order?"
    )


def holes(pair: Pair, _: Tolerance) -> Said:
    """Where yours is 0 and should not be, or the other way round, if that has a form."""
    wanted, given = pair.wanted != 0, pair.given != 0
    if wanted.sum() >= FEWEST and given.sum() >= FEWEST and not (wanted & given).any():
        return Message("Yours are 0 wherever they should not be; what is not 0 should be.")
    lost, extra = wanted & ~given, given & ~wanted
    for wrong, there, told in ((lost, wanted, LOST), (extra, given, EXTRA)):
        if wrong.sum() < FEWEST:
            continue
        where = _triangle(wrong, there) or (
            "" if lost.any() and extra.any() else _slices(wrong, there)
        )
        if where:
            return Message("{where}, {what}", where=where, what=told)
    return ""


LOST = Message("all of yours are 0 and should not be.")
EXTRA = Message("none of yours is 0 and all should be.")


def sparse(pair: Pair, _: Tolerance) -> Said:
    """Rows of which a few numbers are not 0, at other places than they should be."""
    wanted, given = pair.wanted != 0, pair.given != 0
    if not 0 < wanted.sum() <= wanted.size / 2 or wanted.shape[-1] < FEWEST or not wanted.ndim:
        return ""
    apart = (wanted != given).any(-1) & wanted.any(-1) & given.any(-1)
    if apart.sum() < FEWEST or (given.sum(-1) > wanted.sum(-1)).any():
        return ""
    row = tuple(int(i) for i in np.argwhere(apart)[0])
    mine, theirs = (positions(np.flatnonzero(a[row])) for a in (given, wanted))
    return Message(
        "In row {row} your numbers other than 0 stand at {mine}; they should stand at {theirs}.",
        row=list(row), mine=mine, theirs=theirs,
    )  # fmt: skip


def _triangle(wrong: np.ndarray, there: np.ndarray) -> Said:
    """Whether that is all that is there on the diagonal, above it or below it."""
    if wrong.ndim >= 2:
        rows, columns = np.indices(wrong.shape)[-2:]
        for told, inside in (
            (Message("On the diagonal of the last two axes"), rows == columns),
            (Message("Above the diagonal of the last two axes"), columns > rows),
            (Message("Below the diagonal of the last two axes"), columns < rows),
        ):
            apart = (there & ~inside).any() and min(wrong.shape[-2:]) >= FEWEST
            if apart and (wrong == (there & inside)).all():
                return told
    return ""


def _slices(wrong: np.ndarray, there: np.ndarray) -> Said:
    """Whether that is all that is there at some positions of an axis."""
    for axis in range(wrong.ndim if wrong.ndim > 1 else 0):
        others = tuple(i for i in range(wrong.ndim) if i != axis)
        some = wrong.any(others)
        kept = np.moveaxis(there & ~wrong, axis, 0)
        if not some.all() and not kept[some].any() and kept[~some].any():
            return Message(
                "Along axis {axis} at position {positions}",
                axis=axis,
                positions=positions(np.flatnonzero(some)),
            )
    return ""


def positions(wrong: Sequence[int] | np.ndarray) -> Said:
    """Positions in a few words: a range, every other one, or a list."""
    listed = [int(i) for i in wrong]
    first, last = listed[0], listed[-1]
    steps = {b - a for a, b in zip(listed, listed[1:], strict=False)}
    if len(listed) > 2 and steps == {1}:
        return Message("{first} to {last}", first=first, last=last)
    if len(listed) > 2 and steps == {2}:
        start = Message("{first}, {second}, ..., {last}", first=first, second=listed[1], last=last)
        return (
            Message("{positions}, the odd ones", positions=start)
            if first % 2
            else Message("{positions}, the even ones", positions=start)
        )
    return ", ".join(map(str, listed[:NAMED])) + (", ..." if len(listed) > NAMED else "")


def _one_each(differing: np.ndarray, ids: np.ndarray) -> bool:
    """Whether just those values differ that ids name along the last axis."""
    if differing.ndim != ids.ndim + 1 or ids.min() < 0 or ids.max() >= differing.shape[-1]:
        return False
    return bool((differing == (np.arange(differing.shape[-1]) == ids[..., None])).all())


def repeated(pair: Pair, tolerance: Tolerance) -> Said:
    """Rows that ids name more than once, where no other row differs."""
    rows = (~within(pair.wanted, pair.given, tolerance)).reshape(len(pair.wanted), -1).any(-1)
    wrong = set(np.flatnonzero(rows).tolist())
    for name, ids in pair.known.items():
        if ids.dtype.kind not in "iu" or ids.ndim == 0 or ids.size < 2 or ids.max() >= rows.size:
            continue
        found, counts = np.unique(ids, return_counts=True)
        often = set(found[counts > 1].tolist())
        chance = (len(often) / rows.size) ** len(wrong)
        if wrong == often != set(found.tolist()) or (wrong and wrong <= often and chance < CHANCE):
            return Message(
                "Only rows differ that come up more than once in {name}: {rows}.",
                name=name, rows=positions(sorted(wrong)),
            )  # fmt: skip
    return ""


def chosen(differing: np.ndarray, known: Mapping[str, np.ndarray]) -> Said:
    """What the differing places have in common, by integers or booleans among the inputs: those where a
    target has one value.
    """
    for name, ids in known.items():
        if ids.dtype.kind not in "iu" or ids.ndim == 0 or ids.size < 2:
            continue
        lead = differing.shape[: ids.ndim]
        if lead != ids.shape or differing.ndim < ids.ndim:
            continue
        wrong_at = differing.reshape(*lead, -1).any(-1)
        if _one_each(differing, ids):
            return Message(
                "Only one value in each row differs, at the place that {name} names.", name=name
            )
        values = np.unique(ids[wrong_at])
        if len(values) == 1 and (wrong_at == (ids == values[0])).all() and wrong_at.sum() > 1:
            return Message(
                "They differ only where {name} is {value}.", name=name, value=int(values[0])
            )
    return ""
