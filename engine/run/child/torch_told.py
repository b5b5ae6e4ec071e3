"""Values that a tree itself gives to a name: in calls, defaults, constants, dicts and configuration.

Text alone; nothing is executed. A value near the file of the model goes before one further away.
"""

from __future__ import annotations

import ast
import itertools
import re

from engine.run.child.torch_names import MISSING, plain

FILES = 200  # that are read
SIZED = 3  # sizes that a configuration holds, at least
LINE = re.compile(
    r"^[\s,{]*[\"']?([A-Za-z_][\w\-]*)[\"']?[ \t]*[:=][ \t]*([^#\n]+?),?[ \t]*(?:#.*)?$", re.M
)
WORD = re.compile(r"^[\w./+-]{1,40}$")
TEXTS = (".md", ".sh", ".rst", "Makefile")  # that give no value to a name


class Told:
    """told(name) -> the value that stands nearest to `path`, or MISSING."""

    def __init__(self, files, path):
        self._files, self._path, self._known = files, path, None

    def __call__(self, name):
        if self._known is None:
            self._known = {}
            own = [file for file in self._files if not file.endswith(TEXTS)]
            for file in sorted(own, key=self._distance)[:FILES]:
                for found, value in values(file, self._files[file]):
                    if self._known.get(plain(found)) is None:
                        self._known[plain(found)] = value
        return self._known.get(plain(name), MISSING)

    def sizes(self, names):
        """{name: small value} of the nearest file with SIZED sizes or more, configurations first."""
        own = [file for file in self._files if not file.endswith(TEXTS)]
        for file in sorted(
            own, key=lambda file: (file.endswith((".py", ".ipynb")), self._distance(file))
        )[:FILES]:
            given = {n: v for n, v in values(file, self._files[file]) if type(v) in (int, float)}
            if sum(names.is_size(name) for name in given) >= SIZED:
                return {name: names.shrunk(name, value) for name, value in given.items()}
        return {}

    def _distance(self, file):
        here, there = self._path.split("/")[:-1], file.split("/")[:-1]
        same = itertools.takewhile(lambda two: two[0] == two[1], zip(here, there))
        shared = sum(1 for _ in same)
        return len(here) + len(there) - 2 * shared, not file.endswith(".py"), file


def values(file, content):
    """(name, value) of what stands in a file, numbers, texts and switches only."""
    text = content.decode("utf-8", "replace").lstrip("\ufeff")
    if not file.endswith((".py", ".ipynb")):
        for name, value in LINE.findall(text):
            found = read(value)
            if found is not MISSING:
                yield name, found
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        for name, value in pairs(node):
            found = constant(value)
            if found is not MISSING:
                yield name, found


def pairs(node):
    """(name, expression) that one node binds."""
    if isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield getattr(target, "id", getattr(target, "attr", "")), node.value
    elif isinstance(node, ast.AnnAssign):
        yield getattr(node.target, "id", getattr(node.target, "attr", "")), node.value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values):
            if isinstance(key, ast.Constant) and type(key.value) is str:
                yield key.value, value
    elif isinstance(node, ast.arguments):
        positional = [*node.posonlyargs, *node.args]
        yield from zip((a.arg for a in positional[::-1]), node.defaults[::-1])
        yield from ((a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults) if d)
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
        names = [constant(a) for a in node.args]
        default = next((k.value for k in node.keywords if k.arg == "default"), None)
        if default is not None and names and type(names[-1]) is str:
            yield names[-1].lstrip("-"), default


def constant(node):
    """A number, text or switch, MISSING for anything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return MISSING
    return value if value is None or type(value) in (bool, int, float, str) else MISSING


def read(text):
    """A value of a file of configuration."""
    word = text.strip().strip("\"'")
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word if WORD.match(word) else MISSING
