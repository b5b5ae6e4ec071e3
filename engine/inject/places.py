"""Where in the learner's code a role lives: definitions by name, and expressions by value."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from engine.inject.source import Source

Key = tuple[str, int, int, int, int]  # path, line, column, end line, end column


class Site(msgspec.Struct, frozen=True):
    """An executed expression, with the values it had (copied, in order) and the frames it ran in."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    node: str
    values: tuple[Any, ...]
    frames: tuple[int, ...]

    @property
    def key(self) -> Key:
        """What names the expression."""
        return (self.path, self.line, self.column, self.end_line, self.end_column)


def sites(trace: Iterable[Mapping[str, Any]]) -> list[Site]:
    """A child's recordings -> sites."""
    found = []
    for row in trace:
        path, line, column, end_line, end_column, node = row["site"]
        values, frames = tuple(row["values"]), tuple(row["frames"])
        found.append(Site(path, line, column, end_line, end_column, node, values, frames))
    return found


def same(value: np.ndarray, wanted: np.ndarray) -> bool:
    """Equal up to rounding, reshape and transpose."""
    if value.size != wanted.size:
        return False
    flat = np.asarray(value, dtype=np.float64)
    goal = np.asarray(wanted, dtype=np.float64)
    forms = [flat.reshape(-1)]
    if flat.ndim > 1:
        forms.append(flat.T.reshape(-1))
        forms.append(np.swapaxes(flat, -1, -2).reshape(-1))
    rough = 1e-4 if value.dtype.name in ("float32", "float16") else 1e-7
    finite = np.where(np.isfinite(goal), goal, 0.0)  # masked scores hold infinities
    size = float(np.max(np.abs(finite), initial=0.0))
    return any(
        np.allclose(form, goal.reshape(-1), rtol=rough, atol=1e-2 * rough * size, equal_nan=True)
        for form in forms
    )


def holding(found: Iterable[Site], wanted: np.ndarray) -> list[Site]:
    """The sites of which some value, or the stack of a frame's values, is `wanted`."""
    kept = []
    for site in found:
        if any(same(value, wanted) for value in site.values):
            kept.append(site)
            continue
        for frame in set(site.frames):
            mine = [v for v, f in zip(site.values, site.frames, strict=True) if f == frame]
            if len({v.shape for v in mine}) == 1 and same(np.stack(mine), wanted):
                kept.append(site)
                break
    return kept


def definitions(
    sources: Mapping[str, Source], files: Mapping[str, str], roles: Mapping[str, str], role: str
) -> Iterator[tuple[Source, ast.AST]]:
    """The class or function statements that a role's name may mean: its own file's, else any file's.

    files: role -> file of its module; roles: role -> "module:name".
    """
    name = roles[role].partition(":")[2].split(".")[-1]
    own = [sources[files[role]]] if files.get(role) in sources else []
    for group in (own, sources.values()):
        found = [(s, node) for s in group for node in _named(s.module, name)]
        if found:
            yield from found
            return


def _named(module: ast.Module, name: str) -> Iterator[ast.AST]:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(module):
        if isinstance(node, kinds) and node.name == name:
            yield node
