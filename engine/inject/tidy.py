"""Names that an edit leaves unused: nobody writes `scale = ...` and then does not scale."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from engine.inject.source import Edit, Source


def tidied(
    sources: Mapping[str, Source], edits: Sequence[Edit], files: Mapping[str, bytes]
) -> tuple[Edit, ...]:
    """Deletions of the simple assignments whose names nobody reads after `edits`."""
    found: list[Edit] = []
    for path in files:
        source = sources[path]
        after = Source(path, files[path]).module
        mine = [edit for edit in edits if edit.path == path]
        found += _idle(source, mine)
        for function in _functions(source.module):
            if not _touched(source, function, mine):
                continue
            for statement in ast.walk(function):
                name = _assigned(statement)
                if name and _reads(function, name) and not _reads(_same(after, function), name):
                    line = _whole_lines(source, statement)
                    if line and not any(line.start < e.end and e.start < line.end for e in mine):
                        found.append(line)
    return tuple(dict.fromkeys(found))


def _idle(source: Source, edits: Sequence[Edit]) -> list[Edit]:
    """Deletions of statements that the edits turn into `x = x`."""
    found = []
    for node in ast.walk(source.module):
        if not isinstance(node, ast.Assign):
            continue
        start, end = source.span(node)
        inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
        if not inside:
            continue
        moved = [Edit(e.path, e.start - start, e.end - start, e.text) for e in inside]
        text = Source(source.path, source.data[start:end]).apply(moved)
        left, equals, right = text.partition(b"=")
        if equals and left.strip() == right.strip(b" ()"):
            line = _whole_lines(source, node) or _with_separator(source, node)
            if line:
                found.append(line)
    return found


def _with_separator(source: Source, statement: ast.AST) -> Edit | None:
    """The deletion of one of several statements on a line, with the semicolon before it."""
    start, end = source.span(statement)
    line = source.data.rfind(b"\n", 0, start) + 1
    before = source.data[line:start]
    cut = before.rstrip().removesuffix(b";")
    if cut == before.rstrip() or not cut.strip():
        return None
    return Edit(source.path, line + len(cut), end, "")


def _functions(module: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]


def _touched(source: Source, function: ast.FunctionDef, edits: Sequence[Edit]) -> bool:
    start, end = source.span(function)
    return any(start <= edit.start < end for edit in edits)


def _same(module: ast.AST, function: ast.FunctionDef) -> ast.AST:
    """The same function in the edited file: by name, nearest in line."""
    named = [node for node in _functions(module) if node.name == function.name]
    return min(named, key=lambda n: abs(n.lineno - function.lineno), default=module)


def _assigned(node: ast.AST) -> str | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        return target.id if isinstance(target, ast.Name) else None
    return None


def _reads(function: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(function)
    )


def _whole_lines(source: Source, statement: ast.AST) -> Edit | None:
    """The deletion of a statement that stands alone on its lines."""
    start, end = source.span(statement)
    line = source.data.rfind(b"\n", 0, start) + 1
    stop = source.data.find(b"\n", end)
    stop = len(source.data) if stop < 0 else stop + 1
    if source.data[line:start].strip() or source.data[end:stop].strip():
        return None
    return Edit(source.path, line, stop, "")
