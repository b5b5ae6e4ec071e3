"""Which functions of the old code have to run before new code can do anything else.

Names lead to far more code than runs. A measurement that ran none of these functions when the code was
healthy does, up to the first such call, which never comes, what it did: it need not be repeated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from engine.code.changes import changed

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionKeys = frozenset[str]  # "path:first line", in the old file, decorators included


def changed_functions(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> FunctionKeys | None:
    """The functions whose bodies differ, the innermost; None where anything else does, such as what
    runs on import, or a signature.
    """
    if before.keys() != after.keys():
        return None
    found: set[str] = set()
    for path, old in before.items():
        if old == after[path]:
            continue
        try:
            pairs = changed(old, after[path]) if path.endswith(".py") else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        if pairs is None:
            return None
        for _, was, now in pairs:
            lines = _lines(was, now)
            if lines is None:
                return None
            found |= {f"{path}:{line}" for line in lines}
    return frozenset(found)


def files_of(functions: FunctionKeys) -> frozenset[str]:
    """The files that these functions are in."""
    return frozenset(place.rpartition(":")[0] for place in functions)


def _lines(was: ast.stmt, now: ast.stmt) -> set[int] | None:
    """The first lines of the functions in a statement whose bodies differ; None when more does."""
    if not isinstance(was, (*FUNCTIONS, ast.ClassDef)) or not isinstance(now, type(was)):
        return None
    if _head(was) != _head(now):
        return None
    inner = _inside(was.body, now.body)
    if inner is None and isinstance(was, FUNCTIONS):
        return {min(node.lineno for node in (*was.decorator_list, was))}
    return inner


def _inside(was: list[ast.stmt], now: list[ast.stmt]) -> set[int] | None:
    """The same for the statements of a body."""
    if len(was) != len(now):
        return None
    found: set[int] = set()
    for one, other in zip(was, now, strict=True):
        if ast.dump(one) != ast.dump(other):
            lines = _lines(one, other)
            if lines is None:
                return None
            found |= lines
    return found


def _head(node: ast.stmt) -> list[str]:
    """A definition without its body."""
    rest = [value for name, value in ast.iter_fields(node) if name != "body"]
    return [
        ast.dump(item) if isinstance(item, ast.AST) else repr(item)
        for value in rest
        for item in (value if isinstance(value, list) else [value])
    ]
