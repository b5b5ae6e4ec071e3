"""Whether a change writes into what may belong to others: a class that it imports, an array that it was
given. What it makes itself, a table that it fills row by row, is its own.

Code that writes into what it imports (`Tensor.mean = ...`, `setattr`, `vars`) may change what no import
statement leads to, so all that it imports has to be measured too. To take a function's own table for
another's had 33 of 179 right fixes measured everywhere, at twice the time.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from engine.code.changes import aligned
from engine.code.names import SCOPES, bound
from engine.code.syntax import children, parsed, walked

WRITERS = {"setattr", "delattr", "vars", "globals", "exec", "eval", "modules"}  # may write anywhere
WRITERS |= {"__dict__", "__setattr__", "__class__", "__bases__", "__code__", "__globals__"}

# functions of numpy that give an array of their own
MAKERS = {"zeros", "ones", "empty", "full", "array", "arange", "linspace", "tri", "eye", "identity"}
MAKERS |= {f"{name}_like" for name in ("zeros", "ones", "empty", "full")}
MAKERS |= {"copy", "concatenate", "stack", "where", "exp", "log", "sqrt", "sin", "cos", "outer"}
MAKERS |= {"cumsum", "argsort", "sort", "bincount"}
BEFORE_OUT = dict.fromkeys(
    ("exp", "log", "sqrt", "sin", "cos"), 1
)  # arguments, after which may come
BEFORE_OUT |= dict.fromkeys(
    ("outer", "concatenate", "stack", "cumsum"), 2
)  # an array to write into
OF_UFUNCS = {"outer", "reduce", "accumulate"}
COPIES = {"copy", "astype"}  # methods; what a dict held, its copy holds
JOINS = (ast.Add, ast.Mult, ast.BitOr)  # of numbers, and of lists and dicts as they are
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
OBJECTS = {"object", "object_", "O"}  # arrays of these hold what may belong to others

Functions = tuple[ast.AST, ...]  # innermost last
PLACES = (ast.Attribute, ast.Subscript)


def patching(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    """The files in which `after` writes more often than `before`, and where `before` does not, into an
    attribute or an item of something that is neither the method's own object nor made in the function.
    """
    return {
        path
        for path in after
        if path.endswith(".py") and after[path] != before.get(path)
        if _more(before.get(path, b""), after[path])
    }


def _more(before: bytes, after: bytes) -> bool:
    """Whether a file writes somewhere where it did not, and into something more often."""
    try:
        found = aligned(before, after)
        old, new = parsed(before), parsed(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    was = [
        *_foreign_writes(
            old, [*(old for _, old, _ in found.pairs), *(node for _, node in found.gone)]
        )
    ]
    now = [*_foreign_writes(new, [*(new for _, _, new in found.pairs), *found.added])]
    often = Counter(place for place, *_ in now) - Counter(place for place, *_ in was)
    return any(place in often for place, *_ in {*now} - {*was})


def _foreign_writes(
    module: ast.Module, statements: Sequence[ast.stmt]
) -> Iterator[tuple[str, ...]]:
    """Each such place in some statements of a file as it is written, the function that it stands in, and
    what binds its name there.
    """
    numpy = _numpy(module)
    nodes = [placed for statement in statements for placed in _with_functions(statement)]
    added = {id(node.target) for node, _ in nodes if isinstance(node, ast.AugAssign)}
    for node, functions in nodes:
        names = tuple(getattr(function, "name", "") for function in functions)
        if isinstance(node, PLACES) and not isinstance(node.ctx, ast.Load):
            root: ast.AST = node
            while isinstance(root, PLACES):
                root = root.value
            name = root.id if isinstance(root, ast.Name) else ""
            bindings = _bindings(name, functions)
            item = isinstance(node, ast.Subscript) and node.value is root
            made = [value for one in bindings for value in _values(one, name)]
            own = item and made and all(_makes(one, numpy, id(node) in added) for one in made)
            if name != "self" and not own:
                yield (ast.dump(node), *names, *map(_description, bindings))
        word = getattr(node, "attr", None) or getattr(node, "id", None)
        if word in WRITERS:
            yield (ast.dump(node), *names)


def _with_functions(statement: ast.stmt) -> Iterator[tuple[ast.AST, Functions]]:
    """Every node, with the functions that it stands in."""
    waiting: list[tuple[ast.AST, Functions]] = [(statement, ())]
    while waiting:
        node, functions = waiting.pop()
        yield node, functions
        inside = (*functions, node) if isinstance(node, SCOPES) else functions
        waiting += [(child, inside) for child in children(node)]


def _numpy(module: ast.Module) -> Collection[str]:
    """The names under which a file knows numpy, and nothing else."""
    names: set[str] = set()
    others: set[str] = set()
    for node in walked(module):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                plain = isinstance(node, ast.Import) and alias.name == "numpy"
                (names if plain else others).add(alias.asname or alias.name.split(".")[0])
        elif isinstance(node, ast.arg):
            others.add(node.arg)
        elif isinstance(node, ast.Name) and not _read(node):
            others.add(node.id)
    return names - others


def _read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _bindings(name: str, functions: Sequence[ast.AST]) -> list[ast.AST]:
    """What binds a name in the innermost function that does; nothing, where that is the module."""
    for function in reversed(functions):
        if name in (bound(function) or ()):
            return [
                node for node in walked(function) if node is not function and _binds(node, name)
            ]
    return []


def _binds(node: ast.AST, name: str) -> bool:
    """Whether it gives a name to something, or says where to look for it."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return name in node.names
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return name in {alias.asname or alias.name.split(".")[0] for alias in node.names}
    if name in (getattr(node, "name", None), getattr(node, "arg", None)):
        return True
    targets = getattr(node, "targets", None) or [
        getattr(node, field) for field in ("target", "optional_vars") if getattr(node, field, None)
    ]
    return any(
        isinstance(part, ast.Name) and part.id == name and not _read(part)
        for target in targets
        for part in walked(target)
    )


def _description(binding: ast.AST) -> str:
    """What binds a name, without what follows on it."""
    if isinstance(binding, (ast.For, ast.AsyncFor)):
        return ast.dump(binding.target) + ast.dump(binding.iter)
    return ast.dump(binding)


def _values(binding: ast.AST, name: str) -> Iterator[ast.AST | None]:
    """The values that it may give to a name; None for whatever else it does."""
    if isinstance(binding, (ast.Assign, ast.AnnAssign)):
        for target in binding.targets if isinstance(binding, ast.Assign) else [binding.target]:
            value, pairs = binding.value, [(target, binding.value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                fit = len(target.elts) == len(value.elts)
                pairs = list(zip(target.elts, value.elts, strict=True)) if fit else []
            bare = all(isinstance(one, ast.Name) for one, _ in pairs)
            named = [given for one, given in pairs if getattr(one, "id", None) == name]
            yield from named if pairs and bare else [None]
    elif not (isinstance(binding, ast.AugAssign) and isinstance(binding.target, ast.Name)):
        yield None


def _makes(value: ast.AST | None, numpy: Collection[str], added: bool) -> bool:
    """Whether an expression makes an array of numbers, or a list or dict, that nobody else has.

    added: whether something is added in place to an item of it, which in a list or dict may be another's.
    """
    if isinstance(value, ast.IfExp):
        return all(_makes(part, numpy, added) for part in (value.body, value.orelse))
    if isinstance(value, DISPLAYS):
        return not added
    if isinstance(value, ast.BinOp):
        return not (added and isinstance(value.op, JOINS))
    if isinstance(value, ast.Compare):
        return True
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
        return isinstance(value, ast.Constant)
    words = {getattr(n, "id", None) or getattr(n, "attr", None) for n in walked(value)}
    words |= {n.value for n in walked(value) if isinstance(n, ast.Constant) and n.value == "O"}
    if {option.arg for option in value.keywords} & {"out", "copy", None} or words & OBJECTS:
        return False
    owner, name = value.func.value, value.func.attr
    if isinstance(owner, ast.Attribute) and name in OF_UFUNCS:
        owner, name = owner.value, "outer"
    ours = isinstance(owner, ast.Name) and owner.id in numpy
    if name in COPIES and not ours:
        return name == "astype" or not added
    few = len(value.args) <= BEFORE_OUT.get(name, len(value.args))
    plain = few and not any(isinstance(part, ast.Starred) for part in value.args)
    return ours and plain and name in MAKERS
