"""Which expressions of the learner's code held a value, from what was recorded while it ran."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

BOTTOM = (
    -1e8
)  # far below any score: masks are filled with -1e9, -1e30 or the lowest number there is
COMMON = 4  # times as often executed as it held the value: then it is everybody's
HEAD = 16  # numbers of a value that are looked at first
Key = tuple[str, int, int, int, int]  # path, line, column, end line, end column


class Site(msgspec.Struct, frozen=True):
    """An expression that was executed. `steady`: what it holds, it held each time; `common`: it was
    executed for many other values too.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    node: str
    steady: bool = True
    common: bool = False

    @property
    def key(self) -> Key:
        """What names the expression."""
        return (self.path, self.line, self.column, self.end_line, self.end_column)


class Recording:
    """What a child recorded in one run, ready to be asked which expressions held a value.

    An expression holds a value when one of its own, or the stack of those that it had in one frame
    (a loop over heads or rows) or in all, is equal up to rounding, reshape and the order of axes.
    """

    def __init__(self, trace: Iterable[Mapping[str, Any]], dtype: str = "") -> None:
        """dtype: what the code computes in; a plain number that comes from it is no more exact."""
        self._rough = _rough(dtype)
        self._sites: list[Site] = []
        self._times: list[int] = []  # how often each was executed
        self._all: list[int] = []  # the same, with values of sizes that nobody asked for
        self._groups: dict[int, dict[tuple[int, ...], list[tuple[int, int, np.ndarray]]]] = {}
        self._heads: dict[tuple[int, ...], np.ndarray] = {}
        for row in trace:
            self._sites.append(Site(*row["site"]))
            values, frames = row["values"], row["frames"]
            self._times.append(len(values))
            self._all.append(row["times"])
            for value in values:
                self._add(value)
            if len(values) > 1:
                grouped: dict[int, list[np.ndarray]] = {}
                for value, frame in zip(values, frames, strict=True):
                    grouped.setdefault(frame, []).append(value)
                stacks = [mine for mine in grouped.values() if len(mine) > 1]
                for mine in [*stacks, *([values] if len(grouped) > 1 else [])]:
                    if len({value.shape for value in mine}) == 1:
                        self._add(np.stack(mine), len(mine))

    def _add(self, value: np.ndarray, executions: int = 1) -> None:
        shapes = self._groups.setdefault(value.size, {})
        shapes.setdefault(value.shape, []).append((len(self._sites) - 1, executions, value))

    def holding(self, wanted: np.ndarray) -> list[Site]:
        """The expressions that held `wanted`, in the order of their first execution."""
        goal = np.asarray(wanted, dtype=np.float64)
        size = float(np.max(np.abs(goal), initial=0.0, where=np.isfinite(goal)))
        kept: dict[int, int] = {}  # how often each held it
        for shape, group in self._groups.get(goal.size, {}).items():
            heads = self._head(shape, group)
            for form in _forms(goal, shape):
                near = _close(heads, _flat(form, HEAD), size)
                for i in np.flatnonzero(near):
                    owner, executions, value = group[i]
                    if goal.size == 1 or kept.get(owner, 0) * COMMON < self._all[owner]:
                        whole = _flat(value, goal.size)[None]
                        rough = max(self._rough, _rough(value.dtype.name))
                        if _close(whole, form.reshape(-1), size, rough)[0]:
                            kept[owner] = kept.get(owner, 0) + executions
        return [
            msgspec.structs.replace(
                self._sites[i],
                steady=goal.size > 1 or kept[i] == self._times[i],
                common=kept[i] * COMMON < self._all[i],
            )
            for i in sorted(kept)
        ]

    def _head(self, shape: tuple[int, ...], group: list[tuple[int, int, np.ndarray]]) -> np.ndarray:
        """The first numbers of each value of one shape, a row each."""
        if shape not in self._heads:
            self._heads[shape] = np.stack([_flat(value, HEAD) for _, _, value in group])
        return self._heads[shape]


def _flat(value: np.ndarray, count: int) -> np.ndarray:
    """The first numbers of an array in float64."""
    with np.errstate(all="ignore"):
        if value.flags.c_contiguous:
            return value.reshape(-1)[:count].astype(np.float64)
        found = itertools.islice(value.flat, count)
        return np.fromiter(found, dtype=np.float64, count=min(count, value.size))


def _rough(dtype: str) -> float:
    return 1e-4 if dtype in ("float32", "float16") else 1e-7


def _forms(goal: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The arrays that an array of this shape is, read flat, when it holds `goal` in some order."""
    axes = [i for i, n in enumerate(goal.shape) if n > 1]
    bare = goal.reshape([goal.shape[i] for i in axes])
    found = [bare.transpose(order) for order in _orders(len(axes))]
    if len(shape) > 1:  # axes that `goal` has merged may be apart in the value
        found.append(goal.reshape(shape[::-1]).T)
        swapped = (*shape[:-2], shape[-1], shape[-2])
        found.append(goal.reshape(swapped).swapaxes(-1, -2))
    return found


def _orders(axes: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(axes))) if axes <= 4 else [tuple(range(axes))]


def _close(rows: np.ndarray, form: np.ndarray, size: float, rough: float = 1e-4) -> np.ndarray:
    """Which rows are `form` but for rounding, beside numbers as large as `size`. NaN equals NaN, and
    among other numbers whatever lies below BOTTOM stands for minus infinity.
    """
    bound = rough * np.abs(form) + 1e-2 * rough * size
    with np.errstate(invalid="ignore"):
        near = np.abs(rows - form) <= bound
    same = (rows == form) | (np.isnan(rows) & np.isnan(form)) | (near & np.isfinite(form))
    if form.size > 1:
        same |= np.isneginf(form) & (rows < BOTTOM)
    return np.asarray(same.all(1))
