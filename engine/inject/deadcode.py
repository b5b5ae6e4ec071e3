"""What an edit leaves behind: statements that nothing needs any more, imports that nobody reads.

Nobody writes `scale = ...` and then does not scale. Deletions proposed here are tried like any other
candidate, so this needs to be sensible only, not right.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from engine.code.changes import changed
from engine.code.removal import joined, whole_lines, with_comment, without
from engine.code.source import Edit, Source
from engine.code.syntax import parsed, structure, walked

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = (ast.If, ast.For, ast.While)
NEUTRAL = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1}  # x + 0, x - 0, x * 1, x / 1


def tidied(
    sources: Mapping[str, Source], edits: Sequence[Edit], files: Mapping[str, bytes]
) -> tuple[Edit, ...]:
    """Edits that take away what `edits` leave without use."""
    found: list[Edit] = []
    for path, data in files.items():
        source, new = sources[path], Source(path, data)
        mine = [edit for edit in edits if edit.path == path]
        gone: list[ast.stmt] = []
        for old, after in _alike(source, new):
            gone += _newly_idle(old, after)
        away = [*_pairs(source, mine), *_deletions(source, gone)]
        found += [with_comment(source, edit) for edit in joined(source, away)]
        found += _imports(source, new, gone, sources)
        found += [edit for edit in _passes(source, mine) if not _within(edit, found)]
    return tuple(dict.fromkeys(found))


def blemishes(source: Source, data: bytes) -> int:
    """How much more than before a careful reader would stumble over, whatever the code computes.

    Statements that nothing needs, unread imports, code behind a return, `x = x`, `x * 1.0`.
    """
    old, new = source.module, Source(source.path, data).module
    pairs = changed(source.data, data)
    before = [old] if pairs is None else [was for _, was, _ in pairs]
    after = [new] if pairs is None else [now for _, _, now in pairs]
    more = sum(map(_stumbles, after)) - sum(map(_stumbles, before))
    return more + len(_unread(data)) - len(_unread(source.data))


def _stumbles(root: ast.AST) -> int:
    count = 0
    for node in walked(root):
        if isinstance(node, FUNCTIONS):
            count += len(_idle(node))
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


# ------------------------------------------------------------------ statements without use


def _alike(old: Source, new: Source) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The functions that differ, before and after, in pairs; none when their number has changed."""
    for _, was, now in changed(old.data, new.data) or ():
        before = [n for n in walked(was) if isinstance(n, FUNCTIONS)]
        after = [n for n in walked(now) if isinstance(n, FUNCTIONS)]
        if len(before) == len(after):
            for a, b in zip(before, after, strict=True):
                if ast.dump(a) != ast.dump(b):
                    yield a, b


def _newly_idle(old: ast.AST, new: ast.AST) -> list[ast.stmt]:
    """Statements of `old` that nothing needs in `new`."""
    before, after = _statements(old), _statements(new)
    if len(before) != len(after):  # some came or went: those that stayed as they were
        before, after = _kept(before, after)
    idle_before = {id(s) for s in _idle(old)}
    idle_after = {id(s) for s in _idle(new)}
    return [
        a
        for a, b in zip(before, after, strict=True)
        if id(b) in idle_after and id(a) not in idle_before
    ]


def _kept(
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


def _idle(function: ast.AST) -> list[ast.stmt]:
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
    idle = {id(s): s for s in statements if _only_makes(s, local - outer | _assigned(s))}
    while True:
        needed: set[str] = set()
        for statement in statements:
            if id(statement) not in idle:
                needed |= _reads(statement)
        back = [key for key, s in idle.items() if (_assigned(s) | _mutated(s)) & needed]
        back += [
            id(s)
            for s in statements
            if isinstance(s, BLOCKS)
            and id(s) in idle
            and any(id(inner) not in idle for inner in (*s.body, *s.orelse))
        ]
        if not back:
            return [s for s in statements if id(s) in idle]
        for key in back:
            idle.pop(key, None)


def _only_makes(statement: ast.stmt, local: Collection[str]) -> bool:
    """Whether a statement does nothing but make or change values with local names."""
    if isinstance(statement, (*BLOCKS, ast.Continue, ast.Break, ast.Pass)):
        return True  # as idle as what it holds, or is held by
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


# ------------------------------------------------------------------ taking it away


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


def _pairs(source: Source, edits: Sequence[Edit]) -> list[Edit]:
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


def _passes(source: Source, edits: Sequence[Edit]) -> list[Edit]:
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


# ------------------------------------------------------------------ imports


def _bound(statement: ast.AST) -> dict[str, ast.alias]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0]: a for a in statement.names if a.name != "*"}
    return {}


@lru_cache(256)
def _unread(data: bytes) -> frozenset[str]:
    """Names that a module imports and never mentions again."""
    module = parsed(data)
    bound = {name for statement in module.body for name in _bound(statement)}
    for node in walked(module):
        if isinstance(node, ast.Name):
            bound.discard(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            bound.discard(node.value)
    return frozenset(bound)


def _imports(
    source: Source, new: Source, gone: Sequence[ast.stmt], sources: Mapping[str, Source]
) -> list[Edit]:
    """Imports that were read and, with `gone` away too, are not any more, here or elsewhere."""
    lost = set(_unread(new.data))
    if gone:
        dropped = {id(n) for statement in gone for n in walked(statement)}
        old_names = [n for n in walked(source.module) if isinstance(n, ast.Name)]
        in_gone = {n.id for n in old_names if id(n) in dropped}
        lost |= in_gone - {n.id for n in old_names if id(n) not in dropped}
    lost -= _unread(source.data)
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
