"""Numbers in a training script shrink by their names: constants, defaults, dicts, keywords, argparse.

The rules are the pack's: `numbers` [pattern, value] for whole numbers that are larger, or [pattern, value,
least] for those from least on, `texts` and `switches` [pattern, value] for texts and booleans, and the
names of sizes.
"""

from __future__ import annotations

import ast
import re

from engine.run.child import torch_arguments
from engine.run.child.torch_names import plain

ENTRIES = 500  # values of a file of configuration, at most


class Small:
    """small(name, value) -> the value in the small world."""

    def __init__(self, job, names, files=()):
        self._names, self._files = names, files
        self._rules = {
            kind: [
                (re.compile(pattern), value, *least)
                for pattern, value, *least in job["small"][kind]
            ]
            for kind in ("numbers", "texts", "switches")
        }

    def __call__(self, name, value):
        short = plain(name)
        if isinstance(value, bool):
            return self._first("switches", short, value)
        if isinstance(value, str):
            return self._first("texts", short, value)
        if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            for pattern, small, *least in self._rules["numbers"]:
                if pattern.search(short):
                    return type(value)(small) if value >= min([small, *least]) else value
        if isinstance(value, int):
            small = self._names.shrunk(name, value)
            return small if type(small) is int and value > small else value
        return self._names.shrunk(name, value) if isinstance(value, float) else value

    def asked(self, name, kind, node):
        """A value for an argument that must be given."""
        name = name.lstrip("-").replace("-", "_")
        value = self._names.guess(name)
        if type(value) in (int, float) and kind in ("int", "float"):
            return value
        return torch_arguments.needed(name, kind, ast.unparse(node), self._files)

    def _first(self, kind, short, value):
        for pattern, small in self._rules[kind]:
            if pattern.search(short):
                return small
        return value

    def configuration(self, value):
        """What a file holds, small; a large one, as a vocabulary, is no configuration."""
        return self.nested(value) if entries(value) <= ENTRIES else value

    def nested(self, value):
        if isinstance(value, dict):
            return {k: self.nested(v) if isinstance(v, (dict, list)) else self(str(k), v)
                    for k, v in value.items()}  # fmt: skip
        return [self.nested(v) for v in value] if isinstance(value, list) else value


def entries(value):
    """How many values a nested one holds."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(inner) + sum(entries(one) for one in inner)


class Shrink(ast.NodeTransformer):
    """The same program with small numbers; every other node keeps its place."""

    def __init__(self, small, lenient=False):
        self._small, self._lenient = small, lenient

    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node) if self._lenient else node

    def _constant(self, name, node):
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            value = folded(node)
        if not isinstance(value, (int, float, str, bool)):
            return node
        new = self._small(name, value)
        if new == value and type(new) is type(value):
            return node
        return ast.copy_location(ast.Constant(new), node)

    def visit_Assign(self, node):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts)
                node.value.elts = [self._constant(called(t), v) for t, v in pairs]
            elif called(target):
                node.value = self._constant(called(target), node.value)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None and called(node.target):
            node.value = self._constant(called(node.target), node.value)
        return self.generic_visit(node)

    def visit_keyword(self, node):
        if node.arg:
            node.value = self._constant(node.arg, node.value)
        return self.generic_visit(node)

    def visit_Dict(self, node):
        for i, (key, value) in enumerate(zip(node.keys, node.values)):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                node.values[i] = self._constant(key.value, value)
        return self.generic_visit(node)

    def visit_Call(self, node):
        names = [a.value for a in node.args if isinstance(a, ast.Constant) and type(a.value) is str]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument" and names:
            name = names[-1].lstrip("-").replace("-", "_")
            for keyword in node.keywords:
                if keyword.arg == "default":
                    keyword.value = self._constant(name, keyword.value)
            return self._optional(node, names[-1])
        return self.generic_visit(node)

    def _optional(self, node, name):
        """An argument that may be left out: of choices the first is taken, else what its name asks for."""
        known = {keyword.arg: keyword.value for keyword in node.keywords}
        choices = getattr(known.get("choices"), "elts", None)
        asked = isinstance(known.get("required"), ast.Constant) and known["required"].value
        for keyword in node.keywords:
            if keyword.arg == "required":
                keyword.value = ast.copy_location(ast.Constant(False), keyword.value)
        if not name.startswith("-") and "nargs" not in known:
            node.keywords.append(ast.keyword("nargs", ast.Constant("?")))
            asked = True
        if "default" in known or "action" in known or not (asked or choices):
            return node
        kind = getattr(known.get("type"), "id", getattr(known.get("type"), "attr", ""))
        value = choices[0] if choices else ast.Constant(self._small.asked(name, kind, node))
        if isinstance(known.get("nargs"), ast.Constant) and known["nargs"].value in ("+", "*"):
            value = ast.List([value], ast.Load())
        node.keywords.append(ast.keyword("default", value))
        return node

    def visit_FunctionDef(self, node):
        given = node.args
        positional = [*given.posonlyargs, *given.args]
        for arg, i in zip(positional[len(positional) - len(given.defaults) :], range(99)):
            given.defaults[i] = self._constant(arg.arg, given.defaults[i])
        for i, arg in enumerate(given.kwonlyargs):
            if given.kw_defaults[i] is not None:
                given.kw_defaults[i] = self._constant(arg.arg, given.kw_defaults[i])
        return self.generic_visit(node)


def called(target):
    """The name that an assignment gives: of a variable or of an attribute."""
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else ""


def folded(node):
    """The value of a product or sum of numbers; None for anything else."""
    kinds = (ast.Constant, ast.BinOp, ast.operator)
    if not isinstance(node, ast.BinOp) or not all(isinstance(n, kinds) for n in ast.walk(node)):
        return None
    if any(
        isinstance(n, ast.Constant) and not isinstance(n.value, (int, float))
        for n in ast.walk(node)
    ):
        return None
    if any(isinstance(n, (ast.Pow, ast.LShift)) for n in ast.walk(node)):
        numbers = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
        if any(abs(n) > 64 for n in numbers):
            return None
    try:
        return eval(compile(ast.Expression(node), "", "eval"))
    except (ArithmeticError, TypeError, ValueError):
        return None


def shrunk(source, small, lenient=False):
    """Source -> the small program's tree, without assertions if asked. Raises SyntaxError."""
    return ast.fix_missing_locations(Shrink(small, lenient).visit(ast.parse(source)))
