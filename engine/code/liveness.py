"""Dead statements: those of a function that only make values which nothing reads (liveness analysis).

What is dead here is proposed for deletion and tried like any other candidate, so this needs to be
sensible only, not right.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Sequence

from engine.code.functions import FUNCTIONS
from engine.code.syntax import walked

BLOCKS = (ast.If, ast.For, ast.While)


def newly_dead(old: ast.AST, new: ast.AST) -> list[ast.stmt]:
    """Statements of `old` that nothing needs in `new`."""
    before, after = _statements(old), _statements(new)
    if len(before) != len(after):  # some came or went: those that stayed as they were
        before, after = _unchanged(before, after)
    dead_before = {id(s) for s in dead_statements(old)}
    dead_after = {id(s) for s in dead_statements(new)}
    return [
        a
        for a, b in zip(before, after, strict=True)
        if id(b) in dead_after and id(a) not in dead_before
    ]


def _unchanged(
    before: Sequence[ast.stmt], after: Sequence[ast.stmt]
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements that are alike in both, in pairs."""
    old, new = ([ast.dump(statement) for statement in body] for body in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    blocks = matcher.get_matching_blocks()
    return (
        [before[a + i] for a, _, size in blocks for i in range(size)],
        [after[b + i] for _, b, size in blocks for i in range(size)],
    )


def _statements(function: ast.AST) -> list[ast.stmt]:
    """The statements of a function in reading order, blocks before what they hold."""
    found: list[ast.stmt] = []

    def visit(body: Sequence[ast.stmt]) -> None:
        for statement in body:
            found.append(statement)
            if isinstance(statement, BLOCKS):
                visit(statement.body)
                visit(statement.orelse)

    visit(getattr(function, "body", ()))
    return found


def dead_statements(function: ast.AST) -> list[ast.stmt]:
    """The statements of a function that only make values which no other statement reads."""
    statements = _statements(function)
    outer = {arg.arg for arg in walked(function) if isinstance(arg, ast.arg)} | {
        name
        for n in walked(function)
        if isinstance(n, (ast.Global, ast.Nonlocal))
        for name in n.names
    }
    local = {name for s in statements for name in _assigned(s)} | {
        n.id
        for s in statements
        if isinstance(s, ast.For)
        for n in walked(s.target)
        if isinstance(n, ast.Name)
    }
    dead = {id(s): s for s in statements if _only_computes(s, local - outer | _assigned(s))}
    while True:
        needed: set[str] = set()
        for statement in statements:
            if id(statement) not in dead:
                needed |= _reads(statement)
        back = [key for key, s in dead.items() if (_assigned(s) | _mutated(s)) & needed]
        back += [
            id(s)
            for s in statements
            if isinstance(s, BLOCKS)
            and id(s) in dead
            and any(id(inner) not in dead for inner in (*s.body, *s.orelse))
        ]
        if not back:
            return [s for s in statements if id(s) in dead]
        for key in back:
            dead.pop(key, None)


def _only_computes(statement: ast.stmt, local: Collection[str]) -> bool:
    """Whether a statement does nothing but make or change values with local names."""
    if isinstance(statement, (*BLOCKS, ast.Continue, ast.Break, ast.Pass)):
        return True  # as dead as what it holds, or is held by
    if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in walked(statement)):
        return False
    if isinstance(statement, FUNCTIONS):
        return not statement.decorator_list
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        names = _assigned(statement) | _mutated(statement)
        return bool(names) and names <= set(local) and not _stores_elsewhere(statement)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        names = _mutated(statement)
        return bool(names) and names <= set(local)
    return False


def _stores_elsewhere(statement: ast.stmt) -> bool:
    return any(
        isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) for n in walked(statement)
    )


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        return [statement.target]
    return []


def _assigned(statement: ast.stmt) -> set[str]:
    if isinstance(statement, FUNCTIONS):
        return {statement.name}
    return {
        n.id
        for target in _targets(statement)
        for n in walked(target)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _mutated(statement: ast.stmt) -> set[str]:
    """Names of which a part is assigned to, or a method is called for its effect."""
    bases: list[ast.expr] = [
        n
        for target in _targets(statement)
        for n in walked(target)
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
    ]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        if isinstance(statement.value.func, ast.Attribute):
            bases.append(statement.value.func.value)
    names = set()
    for base in bases:
        while isinstance(base, ast.Subscript):  # x[i][j] += ...
            base = base.value
        if isinstance(base, ast.Name):
            names.add(base.id)
    return names


def _reads(statement: ast.stmt) -> set[str]:
    """The names that a statement reads; of a block, those of its head."""
    head: Sequence[ast.AST] = [statement]
    if isinstance(statement, (ast.If, ast.While)):
        head = [statement.test]
    elif isinstance(statement, ast.For):
        head = [statement.iter]
    read = {
        n.id
        for part in head
        for n in walked(part)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        read.add(statement.target.id)
    return read
