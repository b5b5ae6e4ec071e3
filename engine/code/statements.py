"""What the top-level statements of a file define, mention and do on import: what `reach` knows of code."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

import msgspec

from engine.code.source import COMPREHENSIONS, SCOPES, bound, children, parsed, walked

UNTOLD = {"__import__", "import_module", "exec", "eval", "compile", "__subclasses__"}
UNTOLD |= {"spec_from_file_location", "exec_module", "load_module", "meta_path"}
UNTOLD |= {"__globals__", "f_globals", "f_locals", "resolve_name", "getmembers", "inspect"}
ASKS = {"signature", "Parameter", "Signature"}  # what may be asked of `inspect`
MODULES = {"builtins", "ctypes", "gc", "importlib", "inspect", "pkgutil", "runpy"}
FOREIGN = sys.stdlib_module_names | {"numpy"}  # modules that know nothing of the learner's names
CALLS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.Await)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
OUTER = (ast.Global, ast.Nonlocal)


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
    asked = {id(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr in ASKS}
    if not all(is_told(node) or id(node) in asked for node in nodes):
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
        return not node.decorator_list and not any(map(_does, _executed(node, annotated)))
    if isinstance(node, ast.Assign):
        bare = all(isinstance(target, ast.Name) for target in node.targets)
        return bare and isinstance(node.value, ast.Constant)
    return False


def words(node: ast.AST) -> Iterator[str]:
    """Every name, attribute and imported name in a statement."""
    for inner in walked(node):
        for field in ("id", "attr", "name", "asname"):
            word = getattr(inner, field, None)
            if isinstance(word, str):
                yield from word.split(".")


def is_told(node: ast.AST) -> bool:
    """Whether names tell what this node by itself may reach."""
    if isinstance(node, ast.Name):
        return node.id not in UNTOLD
    if isinstance(node, ast.Attribute):
        of_sys = isinstance(node.value, ast.Name) and node.value.id == "sys"
        harmless = node.attr in ("eval", "compile", "exec")  # model.eval(), re.compile(...)
        return not (of_sys and node.attr == "modules") and (harmless or node.attr not in UNTOLD)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return not _globals(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        reads = node.func.attr in ("items", "keys", "values", "get", "copy")
        return reads or not _globals(node.func.value)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        base = getattr(node, "module", None) or ""
        named = {alias.name for alias in node.names}
        if base == "inspect":
            return named <= ASKS
        if isinstance(node, ast.Import) and named == {"inspect"} and not node.names[0].asname:
            return True  # its name is told of where it is used
        return not (
            {name.split(".")[0] for name in (base, *named)} & MODULES
            or (base == "sys" and "modules" in named)
            or any(alias.name == "sys" and alias.asname for alias in node.names)
            or named & UNTOLD
        )
    return True


def _globals(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"
    )


class Named:
    """Finds the names that code of one file mentions.

    An attribute is a name where it may be one of a module: of something imported, that is; of a
    foreign module it is none. `globals` mentions all that the file defines.
    """

    def __init__(
        self, nodes: Iterable[ast.AST], foreign: Collection[str], module: ast.Module
    ) -> None:
        self.foreign: set[str] = set()  # names that are bound to something foreign
        self._imported: set[str] = set()
        self._stars: set[str] = set()  # modules of which all names are taken
        inner = {id(n) for node in nodes if isinstance(node, SCOPES) for n in walked(node)}
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                base = getattr(node, "module", None) or ""
                level = getattr(node, "level", 0)
                for alias in node.names:
                    top = (base or alias.name).split(".")[0]
                    name = alias.asname or alias.name.split(".")[0]
                    if top in foreign and not level:
                        if id(node) not in inner:
                            self.foreign.add(name)
                    elif alias.name == "*":
                        self._stars.add(base.rpartition(".")[2])
                    else:
                        self._imported.add(name)
        self._own = frozenset(name for node in module.body for name in defined(node))

    def __call__(self, node: ast.AST) -> Iterator[str]:
        waiting: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
        while waiting:
            inner, local = waiting.pop()
            if isinstance(inner, SCOPES):  # what it binds itself is nobody else's
                outside = list(_outside(inner))
                waiting += [(child, local) for child in outside]
                own = bound(inner) or set()
                local |= own - {n for g in walked(inner) if isinstance(g, OUTER) for n in g.names}
            if isinstance(inner, ast.Name):
                if not isinstance(inner.ctx, ast.Store) and inner.id not in self.foreign | local:
                    yield inner.id
            elif isinstance(inner, ast.Call) and _all_names(inner):
                yield from self._own
                yield from self._stars
            elif isinstance(inner, ast.Attribute):
                root: ast.expr = inner
                while isinstance(root, ast.Attribute):
                    root = root.value
                if isinstance(root, ast.Name) and root.id not in self.foreign:
                    if root.id in self._imported or (self._stars and root.id not in local):
                        yield inner.attr
            elif isinstance(inner, OUTER):
                yield from inner.names
            elif isinstance(inner, ast.ImportFrom) and any(a.name == "*" for a in inner.names):
                yield from (inner.module or "").split(".")
            elif isinstance(inner, ast.alias) and not {inner.name, inner.asname} & self.foreign:
                yield from inner.name.split(".")
            waiting += [(child, local) for child in children(inner)]

    def made_outside(self, node: ast.AST) -> bool:
        """Whether every call in it is one of something foreign, which keeps nothing for others."""
        for inner in walked(node):
            if isinstance(inner, ast.Call):
                root = inner.func
                while isinstance(root, ast.Attribute):
                    root = root.value
                if not (isinstance(root, ast.Name) and root.id in self.foreign):
                    return False
        return True


def _all_names(call: ast.Call) -> bool:
    """`globals()`, and `vars()` of what is around it."""
    name = getattr(call.func, "id", None)
    return name == "globals" or (name == "vars" and not call.args)


def _outside(scope: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function or comprehension that see what is around it, not what it binds."""
    if isinstance(scope, COMPREHENSIONS):
        yield scope.generators[0].iter
    elif isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from _executed(scope)
    elif isinstance(scope, ast.Lambda):
        yield from (d for d in (*scope.args.defaults, *scope.args.kw_defaults) if d)


def _statement(node: ast.stmt, named: Named) -> Statement:
    if _skipped(node):
        return Statement()
    executed = list(_executed(node))
    acting = [part for part in executed if _acts(part, named)] + list(_decorators(node))
    bases = [name for part in _bases(node) for name in named(part)]
    names = {name for name in defined(node) if name not in named.foreign}
    return Statement(
        frozenset(names),
        frozenset(named(node)),
        frozenset(
            name
            for part in (*(p for p in executed if _calls(p)), *_decorators(node))
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
        return node.value if node.value and not _calls(node.annotation) else node
    return node


def _bases(node: ast.AST) -> Iterator[ast.AST]:
    for inner in walked(node):
        if isinstance(inner, ast.ClassDef):
            yield from inner.bases
            yield from (keyword.value for keyword in inner.keywords)


def head(node: ast.stmt, wrappers: Collection[str] = (), *, annotated: bool = True) -> list[str]:
    """What a statement does when it is imported, but for looking names up.

    wrappers: decorators that do nothing but wrap. annotated: whether annotations are computed.
    """
    decorators = {id(decorator): decorator for decorator in _decorators(node)}
    harmless = {
        key for key, d in decorators.items() if isinstance(d, ast.Name) and d.id in wrappers
    }
    acts = [
        ast.dump(part)
        for part in _executed(node, annotated)
        if id(part) not in harmless
        if isinstance(part, ast.stmt) or id(part) in decorators or _does(part)
    ]
    return [type(node).__name__, *defined(node), *acts]


def deferred(module: ast.Module) -> bool:
    """Whether annotations in this file are not computed."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in module.body
    )


def _does(node: ast.AST) -> bool:
    """Whether it does more, when it is computed, than look names up."""
    return any(
        isinstance(inner, CALLS) and not isinstance(inner, ast.Attribute) for inner in walked(node)
    )


def _calls(node: ast.AST) -> bool:
    return any(isinstance(inner, CALLS) for inner in walked(node))


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


def _decorators(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, DEFINITIONS):
        yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            yield from _decorators(inner)


def _executed(node: ast.AST, annotated: bool = True) -> Iterator[ast.AST]:
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
            yield from _executed(inner, annotated)
    elif isinstance(node, (ast.If, ast.Try, ast.With)):
        for child in children(node):
            inside = isinstance(child, (ast.stmt, ast.ExceptHandler))
            yield from _executed(child, annotated) if inside else [ast.Expr(child)]  # type: ignore[arg-type]
    elif isinstance(node, ast.ExceptHandler):
        for inner in node.body:
            yield from _executed(inner, annotated)
    else:
        yield node


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
