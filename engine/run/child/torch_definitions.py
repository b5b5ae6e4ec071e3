"""Definition mode: of a file only imports, classes, functions and constants are executed.

Training loops, downloads, reading of files and everything else that a file does when it is imported are
left out. Numbers at the top level, in dicts and in classes of configurations there, shrink by their names.
"""

from __future__ import annotations

import ast
import re

from engine.run.child.torch_names import MISSING

ACTS = re.compile(
    r"load_dataset|open\(|from_pretrained|requests\.|urlopen|urlretrieve|read_text|input\(|get_encoding|"
    r"\.load\(|memmap|DataLoader|\.fit\(|parse_args|wget|train\(|\.cuda\(|init_process_group|\.read\(|"
    r"Path\(|environ|wandb\.|\.remote\(|subprocess|os\.system"
)
DEFINES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
SIMPLE = (
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.Tuple,
    ast.List,
    ast.Dict,
)
SIMPLE += (ast.Set, ast.expr_context, ast.Name, ast.IfExp, ast.Attribute, ast.Call, ast.keyword)
SIMPLE += (ast.Compare, ast.cmpop, ast.Subscript, ast.BoolOp, ast.boolop, ast.Lambda, ast.arguments)
SIMPLE += (ast.arg, ast.JoinedStr, ast.FormattedValue)
SIZED = 3  # sizes that a configuration has, at least
FALLBACK = "__engine_import__"  # in the module's own names: what to do when an import fails


def definitions(source, names, inner=False):
    """Source -> the tree that is executed in its place; inner: with small sizes inside constructors, too.
    Raises SyntaxError.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree) if inner else ():
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            Inside(names).visit(node)
    kept = Kept(source, names, tree)
    body = [new for statement in tree.body for new in kept.of(statement)]
    return ast.fix_missing_locations(ast.Module(future_first(body), []))


def future_first(body):
    """`from __future__` must stay above everything else."""
    first = [s for s in body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    return first + [s for s in body if s not in first]


class Kept:
    """What stays of each statement at the top level of one file."""

    def __init__(self, source, names, tree):
        self._source, self._names = source, names
        self._own = {s.name for s in tree.body if isinstance(s, ast.FunctionDef)}
        self._own |= {
            s.name
            for s in tree.body
            if isinstance(s, ast.ClassDef) and any("Module" in ast.unparse(b) for b in s.bases)
        }

    def of(self, statement):
        """The statements that take its place, none to leave it out."""
        if isinstance(statement, IMPORTS):
            if getattr(statement, "module", "") == "__future__":
                return [statement]
            return [forgiving(statement)]
        if isinstance(statement, ast.ClassDef):
            self._fields(statement)
        if isinstance(statement, DEFINES):
            return [statement]
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            return self._assignment(statement)
        if isinstance(statement, ast.Try):
            inner = [*statement.body, *(s for h in statement.handlers for s in h.body)]
            if all(self._harmless(s) for s in inner):
                return [tried([statement])]
        if isinstance(statement, ast.If) and not ACTS.search(self._text(statement.test)):
            if all(self._harmless(s) for s in [*statement.body, *statement.orelse]):
                return [tried([statement])]
        return []

    def _harmless(self, statement):
        if isinstance(statement, (*IMPORTS, *DEFINES, ast.Pass)):
            return True
        if isinstance(statement, ast.Assign):
            return not ACTS.search(self._text(statement)) and self._plain(statement.value)
        return False

    def _assignment(self, statement):
        value = statement.value
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if value is None or ACTS.search(self._text(statement)):
            return []
        named = [target.id for target in targets if isinstance(target, ast.Name)]
        name = named[0] if len(named) == len(targets) == 1 else ""
        if named and len(named) == len(targets) and isinstance(value, ast.Constant):
            small = value.value
            for one in named:  # `n_embd = C = 384`
                small = self._names.shrunk(one, small)
            stores = [ast.Name(one, ast.Store()) for one in named]
            return [put(statement, ast.Assign(stores, ast.Constant(small)))]
        if (
            name
            and isinstance(value, ast.Dict)
            and all(isinstance(key, ast.Constant) for key in value.keys)
        ):
            return self._items(statement, name, value)
        if self._plain(value):
            Sizes(self._names).visit(value)
            return [tried([statement])]
        return []

    def _fields(self, statement):
        """Numbers in the body of a class that holds several sizes, as a configuration does."""
        fields = {}
        for one in statement.body:
            target = one.targets[0] if isinstance(one, ast.Assign) else getattr(one, "target", None)
            if isinstance(target, ast.Name) and isinstance(one.value, ast.Constant):
                fields[target.id] = one
        if sum(self._names.is_size(name) for name in fields) < SIZED:
            return
        for name, one in fields.items():
            one.value.value = self._names.shrunk(name, one.value.value)

    def _items(self, statement, name, value):
        """A dict, item by item: one that fails takes no other along."""
        made = [ast.Assign([ast.Name(name, ast.Store())], ast.Dict([], []))]
        for key, item in zip(value.keys, value.values):
            if isinstance(item, ast.Constant) and isinstance(key.value, str):
                item = ast.Constant(self._names.shrunk(key.value, item.value))
            item = Sizes(self._names).visit(item)
            target = ast.Subscript(ast.Name(name, ast.Load()), key, ast.Store())
            made.append(tried([ast.Assign([target], item)]))
        return [put(statement, one) for one in made]

    def _plain(self, value):
        """An expression of constants and names that starts nothing of the file's own."""
        nodes = list(ast.walk(value))
        calls = {
            n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        return all(isinstance(n, SIMPLE) for n in nodes) and not calls & self._own

    def _text(self, node):
        return ast.get_source_segment(self._source, node) or ""


class Sizes(ast.NodeTransformer):
    """Numbers inside an expression, small by the key or the keyword that they stand under."""

    def __init__(self, names):
        self._names = names

    def _small(self, name, value):
        if not isinstance(value, ast.Constant) or type(name) is not str:
            return value
        return ast.copy_location(ast.Constant(self._names.shrunk(name, value.value)), value)

    def visit_keyword(self, node):
        node.value = self._small(node.arg, self.visit(node.value))
        return node

    def visit_Dict(self, node):
        self.generic_visit(node)
        pairs = list(zip(node.keys, node.values))
        node.values = [self._small(getattr(key, "value", None), value) for key, value in pairs]
        return node


class Inside(Sizes):
    """Sizes inside a constructor: defaults, and numbers that are given to a name or an attribute."""

    def visit_FunctionDef(self, node):
        given = node.args
        positional = [*given.posonlyargs, *given.args]
        named = positional[len(positional) - len(given.defaults) :]
        given.defaults = [self._size(a.arg, value) for a, value in zip(named, given.defaults)]
        given.kw_defaults = [
            self._size(a.arg, v) for a, v in zip(given.kwonlyargs, given.kw_defaults)
        ]
        return self.generic_visit(node)

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        name = getattr(target, "attr", getattr(target, "id", None))
        node.value = self._size(name, node.value)
        return node

    def _size(self, name, value):
        """A whole number, or one that is computed of such, small where the name is that of a size."""
        nodes = list(ast.walk(value)) if value is not None else []
        plain = all(isinstance(n, (ast.BinOp, ast.operator)) or whole(n) for n in nodes)
        if not nodes or not plain or not name or not self._names.is_size(name):
            return value
        return ast.copy_location(ast.Constant(self._names.guess(name)), value)


def whole(node):
    return isinstance(node, ast.Constant) and type(node.value) is int


def put(old, new):
    """`new` at the place of `old`, with all that it holds."""
    for node in ast.walk(new):
        if not hasattr(node, "lineno"):
            ast.copy_location(node, old)
    return new


def tried(body):
    """These statements; what goes wrong in them is passed over."""
    handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
    return put(body[0], ast.Try(body, [handler], [], []))


def forgiving(statement):
    """An import; where it fails, if only for what definition mode left out, stubs take the names."""
    call = ast.parse("%s(globals(), %r)" % (FALLBACK, ast.unparse(statement))).body
    kinds = [ast.Name(name, ast.Load()) for name in ("ImportError", "NameError")]
    handler = ast.ExceptHandler(ast.Tuple(kinds, ast.Load()), None, call)
    return put(statement, ast.Try([statement], [handler], [], []))


def fallback(names, notes, stub):
    """What a failed import does: guessed values or stubs under the names it would have bound."""

    def bind(module, text):
        statement = ast.parse(text).body[0]
        for alias in statement.names:
            if alias.name == "*":
                continue
            package = getattr(statement, "module", None) or alias.name
            is_constant = isinstance(statement, ast.ImportFrom) and (
                alias.name.isupper() or (alias.name[:1].islower() and names.is_size(alias.name))
            )
            value = names.guess(alias.name) if is_constant else MISSING
            name = alias.asname or (
                alias.name if isinstance(statement, ast.ImportFrom) else alias.name.split(".")[0]
            )
            if value is MISSING:
                value = stub(alias.name, package)
                notes.append("import of %s failed: a stub stands for it" % alias.name)
            else:
                notes.append("%s = %r was made up" % (alias.name, value))
            module[name] = value

    return bind
