"""What such a script needs to import files that do more than define, and to make a configuration."""

from __future__ import annotations

DEFINITIONS = '''

# Of your files only imports, classes, functions and constants are executed, and these constants are small.

import ast
import builtins
import importlib.machinery
from unittest import mock

SMALL = {small}
LEFT_OUT = {left_out}
MADE_UP = {made_up}
HARMLESS = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Pass)


def kept(statement, path):
    """Whether a statement at the top of a file is executed; one of a constant is made small."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        names = [node.id for t in targets for node in ast.walk(t) if isinstance(node, ast.Name)]
        small = SMALL.get(path, {{}})
        if len(names) == 1 and names[0] in small and statement.value is not None:
            statement.value = ast.parse(small[names[0]], mode="eval").body
        return not set(names) & set(LEFT_OUT.get(path, ()))
    if isinstance(statement, (ast.If, ast.Try)):
        inner = [*statement.body, *(s for h in getattr(statement, "handlers", ()) for s in h.body)]
        return all(kept(one, path) for one in [*inner, *statement.orelse])
    return isinstance(statement, HARMLESS)


def forgiving(statement):
    """An import, of which what fails is made up; a value that cannot be computed here is passed over."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        passed = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
        return ast.copy_location(ast.Try([statement], [passed], [], []), statement)
    if not isinstance(statement, (ast.Import, ast.ImportFrom)) or "__future__" in ast.unparse(statement):
        return statement
    bound = [(name.asname or name.name).partition(".")[0] for name in statement.names]
    instead = "; ".join(f"{{name}} = made_up({{name!r}})" for name in bound if name != "*") or "pass"
    return ast.parse(f"try: {{ast.unparse(statement)}}\\nexcept ImportError: {{instead}}").body[0]


def made_up(name):
    """What stands for something that is not here."""
    return MADE_UP[name] if name in MADE_UP else mock.MagicMock(name=name)


builtins.made_up = made_up
vars(builtins).update(MADE_UP)


class Definitions(importlib.machinery.SourceFileLoader):
    """Reads a file of yours."""

    def get_code(self, name):
        tree = ast.parse(self.get_data(self.path))
        path = os.path.relpath(self.path, ROOT)
        tree.body = [forgiving(statement) for statement in tree.body if kept(statement, path)]
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


def finder(folder):
    """Files below ROOT are read so."""
    if os.path.relpath(folder, ROOT).startswith(".."):
        raise ImportError
    return importlib.machinery.FileFinder(folder, (Definitions, [".py"]))


sys.path_hooks.insert(0, finder)
'''

VALUES = '''

class Values(dict):
    """A configuration: values by key and by attribute."""

    ITSELF = object()

    def __getitem__(self, key):
        value = super().__getitem__(key)
        return self if value is Values.ITSELF else value

    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key) from None

    __setattr__ = dict.__setitem__
'''

CHANGED = '''

def changed(config, **values):
    """A configuration with other values."""
    for name, value in values.items():
        setattr(config, name, value)
    return config
'''
