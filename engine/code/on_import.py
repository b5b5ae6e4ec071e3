"""What a top-level statement does while its file is imported, and which names it binds."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from engine.code.syntax import children, walked

CALLS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.Await)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def defined(node: ast.stmt) -> Iterator[str]:
    """The names that a statement binds."""
    if isinstance(node, DEFINITIONS):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.split(".")[0]
    else:  # an assignment, or a block that holds some
        for inner in walked(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, DEFINITIONS):
                yield inner.name
            elif isinstance(inner, (ast.Import, ast.ImportFrom)):
                yield from defined(inner)


def executed(node: ast.AST, annotated: bool = True) -> Iterator[ast.AST]:
    """What runs when a statement is imported: not the bodies of functions.

    annotated: whether annotations are computed.
    """
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.decorator_list
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default)
        if annotated:
            yield from (
                arg.annotation
                for arg in walked(node.args)
                if isinstance(arg, ast.arg) and arg.annotation
            )
            if node.returns:
                yield node.returns
    elif isinstance(node, ast.ClassDef):
        yield from node.decorator_list
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)
        for inner in node.body:
            yield from executed(inner, annotated)
    elif isinstance(node, (ast.If, ast.Try, ast.With)):
        for child in children(node):
            inside = isinstance(child, (ast.stmt, ast.ExceptHandler))
            yield from executed(child, annotated) if inside else [ast.Expr(child)]  # type: ignore[arg-type]
    elif isinstance(node, ast.ExceptHandler):
        for inner in node.body:
            yield from executed(inner, annotated)
    else:
        yield node


def decorators(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, DEFINITIONS):
        yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            yield from decorators(inner)


def calls(node: ast.AST) -> bool:
    return any(isinstance(inner, CALLS) for inner in walked(node))


def _does(node: ast.AST) -> bool:
    """Whether it does more, when it is computed, than look names up."""
    return any(
        isinstance(inner, CALLS) and not isinstance(inner, ast.Attribute) for inner in walked(node)
    )


def head(node: ast.stmt, wrappers: Collection[str] = (), *, annotated: bool = True) -> list[str]:
    """What a statement does when it is imported, but for looking names up.

    wrappers: decorators that do nothing but wrap. annotated: whether annotations are computed.
    """
    around = {id(decorator): decorator for decorator in decorators(node)}
    harmless = {key for key, d in around.items() if isinstance(d, ast.Name) and d.id in wrappers}
    acts = [
        ast.dump(part)
        for part in executed(node, annotated)
        if id(part) not in harmless
        if isinstance(part, ast.stmt) or id(part) in around or _does(part)
    ]
    return [type(node).__name__, *defined(node), *acts]


def only_binds(node: ast.stmt, foreign: Collection[str], *, annotated: bool = True) -> bool:
    """Whether a statement, on import, does nothing but give a name to something: no name that Python
    itself asks for, such as a module's `__getattr__`.

    annotated: whether annotations are computed.
    """
    if any(name.startswith("__") for name in defined(node)):
        return False
    if isinstance(node, ast.Import):
        return all(alias.name.split(".")[0] in foreign for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        inner = any(alias.name == "*" for alias in node.names)
        base = (node.module or "").split(".")[0]
        return not node.level and not inner and base in foreign and base != "__future__"
    if isinstance(node, ast.FunctionDef):
        return not node.decorator_list and not any(map(_does, executed(node, annotated)))
    if isinstance(node, ast.Assign):
        bare = all(isinstance(target, ast.Name) for target in node.targets)
        return bare and isinstance(node.value, ast.Constant)
    return False


def deferred(module: ast.Module) -> bool:
    """Whether annotations in this file are not computed."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in module.body
    )
