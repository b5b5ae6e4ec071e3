"""What the top-level statements of a file define, mention and do on import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from engine.code.names import Named
from engine.code.on_import import calls, decorators, defined, executed
from engine.code.static import SAFE_OF_INSPECT, is_static
from engine.code.syntax import parsed, walked

FOREIGN = sys.stdlib_module_names | {"numpy"}  # modules that know nothing of the learner's names


class Statement(msgspec.Struct, frozen=True):
    """A top-level statement: the names it defines and mentions, and those it uses on import.

    `acts_on`: the names through which it may put itself somewhere on import; `holds`: whether
    something can be put into it; `bases`: of a class; `hooks`: whether it acts on its subclasses.
    """

    defines: frozenset[str] = frozenset()
    mentions: frozenset[str] = frozenset()
    on_import: frozenset[str] = frozenset()
    acts_on: frozenset[str] = frozenset()
    bases: frozenset[str] = frozenset()
    holds: bool = False
    hooks: bool = False


class File(msgspec.Struct, frozen=True):
    """A parsed file. `passed_on`: imported names (without the package) that stand on their own
    somewhere, so that a module could be handed on.
    """

    statements: tuple[Statement, ...]
    passed_on: frozenset[str]


@lru_cache(1024)
def read(data: bytes, stems: frozenset[str]) -> File | None:
    """The statements of a file; None where names do not tell what it may reach.

    stems: the tree's own modules, which no other module of that name is.
    """
    try:
        module = parsed(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = list(walked(module))
    asked = {
        id(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr in SAFE_OF_INSPECT
    }
    if not all(is_static(node) or id(node) in asked for node in nodes):
        return None
    if any(
        isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in module.body
    ):
        return None  # the module makes up its attributes
    named = Named(nodes, FOREIGN - stems, module)
    return File(
        tuple(_statement(node, named) for node in module.body), frozenset(_passed_on(nodes))
    )


def _skipped(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, which no import runs, and `__all__ = ...`, which nobody calls."""
    if isinstance(node, ast.If) and not node.orelse and isinstance(node.test, ast.Compare):
        left, equal = node.test.left, isinstance(node.test.ops[0], ast.Eq)
        return isinstance(left, ast.Name) and left.id == "__name__" and equal
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        return isinstance(target, ast.Name) and target.id == "__all__"
    return False


def _passed_on(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Modules that may be handed on, and those of which all names are taken."""
    nodes = list(nodes)
    bound_to = {
        alias.asname or alias.name: alias.name.rpartition(".")[2]
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    bases = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Attribute) and not node.attr.startswith("__")
    }
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            yield (node.module or "").rpartition(".")[2]
        elif isinstance(node, ast.ClassDef):  # a module that is an attribute of a class
            for inner in node.body:
                if isinstance(inner, (ast.Import, ast.ImportFrom)):
                    yield from (alias.name.rpartition(".")[2] for alias in inner.names)
        elif id(node) in bases:
            continue
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in bound_to:
            yield bound_to[node.id]
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _statement(node: ast.stmt, named: Named) -> Statement:
    if _skipped(node):
        return Statement()
    run = list(executed(node))
    acting = [part for part in run if _acts(part, named)] + list(decorators(node))
    bases = [name for part in _bases(node) for name in named(part)]
    names = {name for name in defined(node) if name not in named.foreign}
    return Statement(
        frozenset(names),
        frozenset(named(node)),
        frozenset(
            name
            for part in (*(p for p in run if calls(p)), *decorators(node))
            for name in named(_value(part))
        ),
        frozenset(name for part in acting for name in named(_value(part))),
        frozenset(bases),
        _holds(node),
        any(
            (isinstance(inner, ast.FunctionDef) and inner.name == "__init_subclass__")
            or (isinstance(inner, ast.ClassDef) and inner.keywords)
            for inner in walked(node)
        ),
    )


def _holds(node: ast.stmt) -> bool:
    """Whether other code can put something into what this statement makes."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return False
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.decorator_list:
        return True
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
    return any(not isinstance(d, (ast.Constant, ast.Name)) for d in defaults) or any(
        isinstance(inner, ast.Global)
        or (isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store))
        or (isinstance(inner, ast.Attribute) and getattr(inner.value, "id", None) == node.name)
        for inner in walked(node)
    )


def _value(node: ast.AST) -> ast.AST:
    """What an annotated assignment computes; anything else as it is."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.value if node.value and not calls(node.annotation) else node
    return node


def _bases(node: ast.AST) -> Iterator[ast.AST]:
    for inner in walked(node):
        if isinstance(inner, ast.ClassDef):
            yield from inner.bases
            yield from (keyword.value for keyword in inner.keywords)


def _acts(node: ast.AST, named: Named) -> bool:
    """Whether a statement may do more than bind a name of its own."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)) or not isinstance(node, ast.stmt):
        return False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False  # a docstring
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bare = all(isinstance(target, (ast.Name, ast.Tuple)) for target in targets)
        return not bare or not named.made_outside(node)
    return True
