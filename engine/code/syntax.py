"""Python text -> `ast`, one text at a time.

Python before 3.11.8 (and 3.12 before 3.12.2) counts the depth of all threads' trees in one place, so
that two threads that parse at the same time may get `SystemError: AST constructor recursion depth
mismatch` (https://github.com/python/cpython/issues/106905). Filters of warnings are shared as well.
"""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache

_one_at_a_time = threading.Lock()


def parse(text: str | bytes, path: str = "<unknown>") -> ast.Module:
    """The tree of a file's text, without the warnings of it. Raises SyntaxError, ValueError,
    RecursionError, MemoryError.
    """
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, path)


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression. Raises SyntaxError, ValueError, RecursionError, MemoryError."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


@lru_cache(1024)
def parsed(data: bytes) -> ast.Module:
    """The tree of a file, parsed once and shared: never to be changed. Raises SyntaxError, ValueError."""
    return parse(data)


def children(node: ast.AST) -> Sequence[ast.AST]:
    """`ast.iter_child_nodes` without `ctx`, remembered: what `parsed` gives is never changed."""
    known: list[ast.AST] | None = node.__dict__.get("children")
    if known is None:
        known = []
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                known += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and name != "ctx":
                known.append(value)
        node.children = known  # type: ignore[attr-defined]
    return known


def walked(node: ast.AST) -> Sequence[ast.AST]:
    """`ast.walk`, remembered likewise."""
    known: list[ast.AST] | None = node.__dict__.get("walked")
    if known is None:
        known = [node]
        for inner in known:
            known += children(inner)
        node.walked = known  # type: ignore[attr-defined]
    return known


def nested(module: ast.Module) -> Iterator[ast.stmt]:
    """Every statement of a file, however deep, without a look at expressions."""
    waiting: list[ast.AST] = [module]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, ast.stmt):
            yield holder
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(holder, name, None)
            if isinstance(inner, list):  # the body of a lambda is none
                waiting += inner


def structure(node: ast.AST) -> str:
    """A node's structure, whether it is read or assigned to."""
    return ast.dump(node).replace("ctx=Store()", "ctx=Load()")


def same_code(one: str, other: str) -> bool:
    """Whether two texts are the same expression, or the same statements. False if either is none."""
    for form in ("({})", "{}"):  # an expression may have line breaks that a statement may not
        try:
            a, b = (parsed(form.format(text).encode()) for text in (one, other))
        except (SyntaxError, ValueError):
            continue
        return ast.dump(a) == ast.dump(b)
    return False
