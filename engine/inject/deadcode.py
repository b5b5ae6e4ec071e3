"""Dead code that an edit leaves behind: statements that nothing needs any more, imports that nobody reads.

Nobody writes `scale = ...` and then does not scale: what an injection leaves dead gives it away. So it
is taken away, if the oracle agrees, and of several injections the one with the least dead code wins.
Deletions proposed here are tried like any other candidate: they need to be sensible only, not right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from engine.code.changes import changed
from engine.code.functions import FUNCTIONS
from engine.code.liveness import dead_statements, newly_dead
from engine.code.removal import joined, with_comment, without
from engine.code.source import Edit, Source
from engine.code.syntax import structure, walked
from engine.code.unused_imports import lost_imports, unread_imports

NEUTRAL = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1}  # x + 0, x - 0, x * 1, x / 1


def removals(
    sources: Mapping[str, Source], edits: Sequence[Edit], files: Mapping[str, bytes]
) -> tuple[Edit, ...]:
    """Edits that take away what `edits` leave without use."""
    found: list[Edit] = []
    for path, data in files.items():
        source, new = sources[path], Source(path, data)
        mine = [edit for edit in edits if edit.path == path]
        gone: list[ast.stmt] = []
        for old, after in _changed_functions(source, new):
            gone += newly_dead(old, after)
        away = [*_self_assignments(source, mine), *_deletions(source, gone)]
        found += [with_comment(source, edit) for edit in joined(source, away)]
        found += lost_imports(source, new, gone, sources)
        found += [edit for edit in _needless_passes(source, mine) if not _within(edit, found)]
    return tuple(dict.fromkeys(found))


def dead_code_added(source: Source, data: bytes) -> int:
    """How much more dead code there is than before, whatever the code computes.

    Statements that nothing needs, unread imports, code behind a return, `x = x`, `x * 1.0`.
    """
    old, new = source.module, Source(source.path, data).module
    pairs = changed(source.data, data)
    before = [old] if pairs is None else [was for _, was, _ in pairs]
    after = [new] if pairs is None else [now for _, _, now in pairs]
    more = sum(map(_dead_code_in, after)) - sum(map(_dead_code_in, before))
    return more + len(unread_imports(data)) - len(unread_imports(source.data))


def _dead_code_in(root: ast.AST) -> int:
    count = 0
    for node in walked(root):
        if isinstance(node, FUNCTIONS):
            count += len(dead_statements(node))
        for body in (getattr(node, "body", ()), getattr(node, "orelse", ())):
            if isinstance(body, list):
                stop = (i for i, s in enumerate(body) if isinstance(s, (ast.Return, ast.Raise)))
                count += len(body) - 1 - next(stop, len(body) - 1)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            count += structure(node.targets[0]) == structure(node.value)
        right = getattr(node, "value" if isinstance(node, ast.AugAssign) else "right", None)
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(right, ast.Constant):
            neutral = NEUTRAL.get(type(node.op))
            value = right.value
            count += isinstance(value, (int, float)) and value == neutral
    return count


def _changed_functions(old: Source, new: Source) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The functions that differ, before and after, in pairs; none when their number has changed."""
    for _, was, now in changed(old.data, new.data) or ():
        before = [n for n in walked(was) if isinstance(n, FUNCTIONS)]
        after = [n for n in walked(now) if isinstance(n, FUNCTIONS)]
        if len(before) == len(after):
            for a, b in zip(before, after, strict=True):
                if ast.dump(a) != ast.dump(b):
                    yield a, b


def _deletions(source: Source, statements: Sequence[ast.stmt]) -> list[Edit]:
    """Deletions of whole statements; one that would leave an empty block stays."""
    gone = {id(s) for s in statements}
    found = []
    for node in walked(source.module):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(body, list) or id(node) in gone:
                continue
            here = [s for s in body if id(s) in gone]
            if len(here) == len(body) and not isinstance(node, ast.Module):
                continue
            for statement in here:
                edit = without(source, statement)
                if edit:
                    found.append(edit)
    return found


def _self_assignments(source: Source, edits: Sequence[Edit]) -> list[Edit]:
    """What the edits turn into `x = x` or `x`: it goes, in `x, y = x, f(y)` the pair does."""
    found: list[Edit] = []
    for node in walked(source.module):
        kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
        if not isinstance(node, kinds) or node.value is None:
            continue
        start, end = source.span(node)
        if not any(start <= edit.start and edit.end <= end for edit in edits):
            continue
        if _after(source, node, edits).isidentifier():  # the `x` of `x += 1` or `sub(x, m, out=x)`
            found += _emptied(source, node)
        if isinstance(node, (ast.AugAssign, ast.Expr)):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            if len(target.elts) == len(node.value.elts):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
                kept = [(a, b) for a, b in pairs if not _same(source, a, b, edits)]
                if kept and len(kept) < len(pairs):
                    left = ", ".join(_after(source, a, edits) for a, _ in kept)
                    right = ", ".join(_after(source, b, edits) for _, b in kept)
                    found.append(Edit(source.path, start, end, f"{left} = {right}"))
        elif _same(source, target, node.value, edits):
            found += _emptied(source, node)
    return found


def _needless_passes(source: Source, edits: Sequence[Edit]) -> list[Edit]:
    """The deletion of statements that the edits turn into `pass`, where their block has others."""
    passed = {(edit.start, edit.end) for edit in edits if edit.text == "pass"}
    found: list[Edit] = []
    for node in walked(source.module) if passed else ():
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(body, list):
                continue
            here = [s for s in body if source.span(s) in passed]
            if len(here) < len(body):
                away = [without(source, s) for s in here]
                found += [edit for edit in away if edit]
    return found


def _within(edit: Edit, others: Sequence[Edit]) -> bool:
    """Whether another edit of the file covers this one."""
    return any(
        other.path == edit.path and other.start <= edit.start and edit.end <= other.end
        for other in others
    )


def _emptied(source: Source, statement: ast.stmt) -> list[Edit]:
    """The deletion of a statement, and of the `if` or `for` that held nothing else."""
    whole: ast.stmt = statement
    for node in walked(source.module):
        if isinstance(node, (ast.If, ast.For)) and node.body == [statement] and not node.orelse:
            whole = node
    edit = without(source, whole)
    return [edit] if edit else []


def _after(source: Source, node: ast.AST, edits: Sequence[Edit]) -> str:
    """The text of a node once the edits are made, without parentheses around all of it."""
    start, end = source.span(node)
    inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
    text, at = "", start
    for edit in sorted(inside):
        text += source.text(at, edit.start) + edit.text
        at = edit.end
    return (text + source.text(at, end)).strip()


def _same(source: Source, target: ast.AST, value: ast.AST, edits: Sequence[Edit]) -> bool:
    return source.text(*source.span(target)) == _after(source, value, edits).strip("() ")
