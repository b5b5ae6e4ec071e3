"""What can be read at a place in a file, and where else the same is read."""

from __future__ import annotations

import ast
import builtins
import re

from engine.code.names import SCOPES, bound
from engine.code.source import Source
from engine.code.syntax import parsed, walked

SELF = re.compile(r"\bself\b")


def receiver(source: Source, node: ast.AST) -> str:
    """What the method around a node, or the method that it is, calls its object: mostly `self`."""
    at: ast.AST | None = node
    while at is not None:
        above = source.parents.get(id(at))
        if isinstance(at, ast.FunctionDef) and isinstance(above, ast.ClassDef):
            names = [arg.arg for arg in (*at.args.posonlyargs, *at.args.args)]
            kinds = {d.id for d in at.decorator_list if isinstance(d, ast.Name)}
            return names[0] if names and not kinds & {"staticmethod", "classmethod"} else "self"
        at = above
    return "self"


def with_receiver(source: Source, template: str, node: ast.AST) -> str:
    """A template for this place, where `self` has the name that it has there."""
    name = receiver(source, node)
    return template if name == "self" else SELF.sub(name, template)


def attributes_of_class(source: Source, function: ast.AST) -> list[ast.expr]:
    """What the other methods of its class read as `self.name`."""
    above = source.parents.get(id(function))
    if not isinstance(above, ast.ClassDef) or not isinstance(function, ast.FunctionDef):
        return []
    own = function.args.posonlyargs + function.args.args
    return [
        node
        for method in above.body
        if method is not function
        for node in walked(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and own
        and node.value.id == own[0].arg
    ]


def visible_names(source: Source, node: ast.AST) -> set[str] | None:
    """The names that code at this place may read; None where a `*` import hides them."""
    found = set(dir(builtins))
    at: ast.AST | None = node
    while at is not None:
        at = source.parents.get(id(at))
        if isinstance(at, (*SCOPES, ast.Module)):
            names = source.names_bound(at)
            if names is None:
                return None
            found |= names
    return found


def occurrences(source: Source, node: ast.expr) -> list[ast.expr]:
    """The places in its function where this very expression is read, in reading order.

    Where it is asked whether it `is None` it need not be what it is elsewhere.
    """
    function, text = source.function(node), ast.dump(node)
    found = [
        n
        for n in walked(function)
        if isinstance(n, type(node)) and ast.dump(n) == text and source.function(n) is function
    ]
    return sorted((n for n in found if not _asked(source, n)), key=source.span)


def _asked(source: Source, node: ast.expr) -> bool:
    above = source.parents.get(id(node))
    return isinstance(above, ast.Compare) and isinstance(above.ops[0], (ast.Is, ast.IsNot))


def in_block_from(source: Source, statement: ast.stmt, nodes: list[ast.expr]) -> list[ast.expr]:
    """Those of some expressions that stand in a statement or after it, in its block."""
    above = source.parents.get(id(statement), source.module)
    bodies = [getattr(above, part, None) for part in ("body", "orelse", "finalbody")]
    body = next(b for b in bodies if isinstance(b, list) and statement in b)
    start, end = source.span(statement)[0], source.span(body[-1])[1]
    return [n for n in nodes if start <= source.span(n)[0] and source.span(n)[1] <= end]


def out_of_scope(source: Source, node: ast.AST, template: str) -> set[str]:
    """The names that a template reads, and that can neither be read at this place nor are made by
    itself.
    """
    try:
        module = parsed(template.encode())
    except SyntaxError:
        return set()
    visible = visible_names(source, node)
    if visible is None:
        return set()
    made = bound(module) or set()
    for inner in walked(module):
        if isinstance(inner, SCOPES):
            made |= bound(inner) or set()
    return {n.id for n in walked(module) if isinstance(n, ast.Name)} - made - visible
