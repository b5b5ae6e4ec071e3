"""Imports that nobody reads, and the deletion of those that an edit leaves so."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache

from engine.code.removal import whole_lines
from engine.code.source import Edit, Source
from engine.code.syntax import parsed, walked


def _bound(statement: ast.AST) -> dict[str, ast.alias]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0]: a for a in statement.names if a.name != "*"}
    return {}


@lru_cache(256)
def unread_imports(data: bytes) -> frozenset[str]:
    """Names that a module imports and never mentions again."""
    module = parsed(data)
    bound = {name for statement in module.body for name in _bound(statement)}
    for node in walked(module):
        if isinstance(node, ast.Name):
            bound.discard(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            bound.discard(node.value)
    return frozenset(bound)


def lost_imports(
    source: Source, new: Source, gone: Sequence[ast.stmt], sources: Mapping[str, Source]
) -> list[Edit]:
    """Imports that were read and, with `gone` away too, are not any more, here or elsewhere."""
    lost = set(unread_imports(new.data))
    if gone:
        dropped = {id(n) for statement in gone for n in walked(statement)}
        old_names = [n for n in walked(source.module) if isinstance(n, ast.Name)]
        in_gone = {n.id for n in old_names if id(n) in dropped}
        lost |= in_gone - {n.id for n in old_names if id(n) not in dropped}
    lost -= unread_imports(source.data)
    if not lost or source.path.endswith("__init__.py"):
        return []
    lost -= _handed_on(source, sources)
    found = []
    for statement in source.module.body:
        names = _bound(statement)
        unread = [name for name in names if name in lost]
        if not unread:
            continue
        if len(unread) == len(names):
            edit = whole_lines(source, statement)
            found += [edit] if edit else []
            continue
        aliases = list(names.values())
        for name in unread:
            at = aliases.index(names[name])
            if at + 1 < len(aliases):
                start, end = source.span(aliases[at])[0], source.span(aliases[at + 1])[0]
            else:
                start, end = source.span(aliases[at - 1])[1], source.span(aliases[at])[1]
            found.append(Edit(source.path, start, end, ""))
    return found


def _handed_on(source: Source, sources: Mapping[str, Source]) -> set[str]:
    """The names that other files take from this one, all that it binds where they take `*`."""
    stem = source.path.removesuffix(".py").rpartition("/")[2]
    names: set[str] = set()
    for path, other in sources.items():
        if path == source.path:
            continue
        for node in walked(other.module):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] == stem:
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == stem:
                names.add(node.attr)
    if "*" in names:
        names |= {name for statement in source.module.body for name in _bound(statement)}
    return names
