"""The names that code binds, and those that it mentions."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from engine.code.on_import import defined, executed
from engine.code.syntax import children, walked

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = FUNCTIONS + COMPREHENSIONS
OUTER = (ast.Global, ast.Nonlocal)


def bound(scope: ast.AST) -> set[str] | None:
    """The names that a module, function or comprehension binds itself; None with `import *`."""
    names = {
        arg.arg for arg in walked(getattr(scope, "args", ast.Pass())) if isinstance(arg, ast.arg)
    }
    waiting = list(children(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if any(alias.name == "*" for alias in node.names):
                return None
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        if not isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            waiting += children(node)
        else:  # a walrus in a comprehension binds outside it
            waiting += [n.target for n in walked(node) if isinstance(n, ast.NamedExpr)]
    return names


def words(node: ast.AST) -> Iterator[str]:
    """Every name, attribute and imported name in a statement."""
    for inner in walked(node):
        for field in ("id", "attr", "name", "asname"):
            word = getattr(inner, field, None)
            if isinstance(word, str):
                yield from word.split(".")


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
        yield from executed(scope)
    elif isinstance(scope, ast.Lambda):
        yield from (d for d in (*scope.args.defaults, *scope.args.kw_defaults) if d)
