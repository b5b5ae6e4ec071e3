"""What a change stands in, as a person would name it: `Class.method`."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator


def definitions(module: ast.Module) -> Iterator[str]:
    """Every class, function and method, as `Class.method`."""
    return (name for name, _ in _named(module, ""))


def symbols_of(module: ast.Module, old: bytes, new: bytes) -> list[str]:
    """The innermost classes and functions around changed lines, `Class.method` each once, in the order of the
    lines; with its line where the file has several of that name. module: the old text, parsed.
    """
    return [*dict.fromkeys(_changed(module, old, new))]


def touched(old: bytes, new: bytes) -> Iterator[int]:
    """The lines of the old text that are not in the new one, and those before which something is new."""
    lines = old.splitlines(), new.splitlines()
    for tag, first, last, *_ in difflib.SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from range(first + 1, max(last, first + 1) + 1)


def _changed(module: ast.Module, old: bytes, new: bytes) -> Iterator[str]:
    for line in touched(old, new):
        if found := _around(module, line):
            yield found


def _around(module: ast.Module, line: int) -> str:
    """The innermost class or function around a line."""
    named = list(_named(module, ""))
    around = [
        (node.lineno, name)
        for name, node in named
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not around:
        return ""
    start, name = max(around, key=lambda one: (one[0], len(one[1])))
    alike = sum(name == other for other, _ in named)
    return f"{name} (line {start})" if alike > 1 else name


Named = ast.ClassDef | ast.FunctionDef


def _named(node: ast.AST, above: str) -> Iterator[tuple[str, Named]]:
    """Classes and functions with their qualified names, `Class.method.inner`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Named):
            yield above + child.name, child
            yield from _named(child, f"{above}{child.name}.")
        else:
            yield from _named(child, above)
