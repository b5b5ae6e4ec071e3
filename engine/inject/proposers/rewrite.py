"""`rewrite`: new statements for the end of a function. The last resort, as it needs no place."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from engine.code.indentation import body_below, indented
from engine.code.source import Edit, Source
from engine.code.surroundings import out_of_scope, with_receiver
from engine.code.syntax import parse, walked
from engine.inject.proposers import append
from engine.inject.proposers.space import Edits, Locality, SearchSpace
from engine.inject.proposers.templates import ROLE
from engine.spec.types import Append, Rewrite

CUSTOMARY = {"np": "import numpy as np", "math": "import math"}  # imports under everybody's name


def propose(space: SearchSpace, rewrite: Rewrite, locality: Locality) -> Iterator[Edits]:
    """The last statement replaced, the last two, ... the whole body but for its docstring.

    A method that a class only inherits is written into the class, and what the new text needs is
    imported in the function.
    """
    if locality != Locality.ELSEWHERE:
        return
    for source, scope in space.code.scopes([rewrite.role]):
        if isinstance(scope, ast.ClassDef) and rewrite.method:
            for edit in _overridden(space, source, scope, rewrite):
                yield (edit,), "rewrite"
        for function in walked(scope):
            if not isinstance(function, ast.FunctionDef):
                continue
            if function.name != rewrite.method and (rewrite.method or function is not scope):
                continue
            for edit in _replaced(space, source, function, rewrite):
                yield (edit,), "rewrite"


def _replaced(
    space: SearchSpace, source: Source, function: ast.FunctionDef, rewrite: Rewrite
) -> Iterator[Edit]:
    """More and more of the last statements of a function, replaced."""
    template = _filled(rewrite, with_receiver(source, rewrite.replace, function), function)
    first = 1 if ast.get_docstring(function, clean=False) is not None else 0
    body = function.body
    if template is None or len(body) <= first:
        return
    imports = _imports(space, source, body[-1], template)
    if imports is None:
        return
    template = imports + template
    end = source.span(body[-1])[1]
    below = body_below(source, function, template)
    if below is not None:
        yield below
        return
    for statement in reversed(body[first:]):
        start = source.span(statement)[0]
        indent = source.text(source.offset(statement.lineno, 0), start)
        if indent.strip() and ("\n" in template or statement is not body[first]):
            continue  # several statements on a line
        yield Edit(source.path, start, end, indented(source, template, indent))


def _overridden(
    space: SearchSpace, source: Source, scope: ast.ClassDef, rewrite: Rewrite
) -> Iterator[Edit]:
    """The method, written into a class that only inherits it."""
    own = {node.name for node in scope.body if isinstance(node, ast.FunctionDef)}
    head = f"def {rewrite.method}({', '.join(('self', *rewrite.args))}):\n"
    made = parse(head + _deeper("pass")).body[0]
    assert isinstance(made, ast.FunctionDef)
    body = _filled(rewrite, rewrite.replace, made) or ""
    imports = _imports(space, source, scope.body[-1], head + _deeper(body))
    if rewrite.method not in own and imports is not None:
        statement = head + _deeper(imports + body)
        yield from append.edits(space, Append(role=rewrite.role, statement=statement))


def _filled(rewrite: Rewrite, template: str, function: ast.FunctionDef) -> str | None:
    """The new statements with the function's own names for its parameters; None if it has fewer."""
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if rewrite.method and not any(
        isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list
    ):
        names = names[1:]
    if len(names) < len(rewrite.args):
        return None
    known = dict(zip(rewrite.args, names, strict=False))
    return ROLE.sub(lambda m: known.get(m[1], m[0]), template.strip("\n"))


def _imports(space: SearchSpace, source: Source, node: ast.AST, template: str) -> str | None:
    """Statements for the names that cannot be read at this place and that the contract, or custom,
    gives a module; None where one has none.
    """
    lines = []
    for name in sorted(out_of_scope(source, node, template)):
        module, _, found = space.code.tree.roles.get(name, "").partition(":")
        if name in CUSTOMARY:
            lines.append(CUSTOMARY[name])
        elif found and "." not in found:
            alias = f" as {name}" if found != name else ""
            lines.append(f"from {module} import {found}{alias}")
        else:
            return None
    return "".join(f"{line}\n" for line in lines)


def _deeper(statements: str) -> str:
    """Statements as the body of something."""
    return textwrap.indent(statements, " " * 4)
