"""How a model was built, as text of Python that builds it again without the engine.

Values that the code has by itself are left out, so that a change of them is seen.
"""

from __future__ import annotations

import ast
import inspect
import sys

import torch

from engine.run.child import (
    torch_build,
    torch_config,
    torch_definitions,
    torch_generate,
    torch_load,
    torch_world,
)
from engine.run.child.torch_config import Loose
from engine.run.child.torch_names import MISSING, Names
from engine.run.child.torch_stubs import Based, Keeps, Nothing
from engine.run.child.torch_told import Told

DEFINES = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
PLAIN = (bool, int, float, str, bytes, type(None))
TORCH = (torch.dtype, torch.device)


class Unwritten(Exception):
    """There is no text for a value."""


def observe(job, tree):
    """{"make", "modules", "roots", "small", "left_out", "call", "bare", "why"}; see flows/fact_repro.py."""
    notes = []
    names = Names(job["rules"], Told(tree.files, job["path"]))
    with torch_world.OnProcessor():
        built = torch_build.build(tree, job, names, notes)
    writer, answer = Writer(tree, names), {"why": "", "notes": sorted(set(notes))}
    try:
        if job.get("inner"):
            raise Unwritten("sizes stand inside its constructors")
        answer["make"] = writer.model(built, job)
    except Unwritten as error:
        return {"why": str(error)}
    if job["sampled"]:
        try:
            answer["sampler"] = sampler(built, job, tree, writer)
        except (Unwritten, torch_build.NotBuilt) as error:
            return {"why": str(error)}
    small, left_out, acts = changed(tree, names, writer)
    return {
        **answer, "modules": sorted(writer.modules), "small": small, "left_out": left_out,
        "call": call(built, job, True), "bare": call(built, job, False),
        "acts": acts, "roots": torch_load.above(job["path"], tree.files),
    }  # fmt: skip


def sampler(built, job, tree, writer):
    """The call of the sampler with one run's arguments. Raises Unwritten and NotBuilt."""
    function, bound, _ = torch_generate.sampler(built, job, tree)
    tokens = torch.zeros(1, 1)
    given = torch_generate.arguments(function, built, tokens, job["sampled"], job)
    special = {id(tokens): "tokens", id(built.model): "net"}
    shown = ["%s=%s" % (k, special.get(id(v)) or writer.text(v)) for k, v in given.items()]
    if not bound:
        writer.module(function.__module__)
    where = "net" if bound else "sys.modules[%r]" % function.__module__
    text = "%s.%s(%s)" % (where, function.__name__, ", ".join(shown))
    return "list(%s)" % text if inspect.isgeneratorfunction(function) else text


def call(built, job, scored):
    """The call of the model; scored: with targets."""
    if job.get("call"):
        around = '{"model": net, "tokens": tokens, "idx": tokens, "x": tokens, "targets": targets}'
        return "eval(%r, {**vars(sys.modules[%r]), **%s})" % (
            job["call"],
            built.module.__name__,
            around,
        )
    wanted = built.takes("targets")
    given = ["tokens"]
    for p in torch_build.parameters_of(built.model)[1:]:
        needed = p.default is inspect.Parameter.empty
        if wanted is not None and p.name == wanted.name:
            given += ["%s=%s" % (p.name, "targets" if scored else None)] * (scored or needed)
        elif needed:
            given.append("%s=%s" % (p.name, built.beside(p)))
    return "net(%s)" % ", ".join(given)


def changed(tree, names, writer):
    """({file: {name: text}}, {file: names}, whether any acts): what has another value at the top level, what
    has none, and whether a file does more than define when it is imported.
    """
    small, left_out, acts = {}, {}, False
    for module in torch_load.of_tree(tree):
        path = tree.relative(module.__file__)
        if path is None or not path.endswith(".py"):
            continue
        text = tree.files[path].decode("utf-8", "replace").lstrip("\ufeff")
        kept = torch_definitions.Kept(text, names, ast.parse(text))
        for before, statement in zip(ast.parse(text).body, ast.parse(text).body):
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
                acts = acts or (not isinstance(statement, DEFINES) and not text_alone(statement))
                continue
            targets = getattr(statement, "targets", [getattr(statement, "target", None)])
            bound = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            if not kept.of(statement):
                left_out.setdefault(path, []).extend(bound)
                continue
            value = vars(module).get(bound[0], MISSING) if len(bound) == 1 else MISSING
            if value is MISSING or same(literal(before.value), value):
                continue
            try:
                if literal(before.value) is not MISSING:
                    small.setdefault(path, {})[bound[0]] = writer.text(value)
            except Unwritten:
                pass
    return small, left_out, acts


def text_alone(statement):
    """Whether a statement is a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def literal(node):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return MISSING


def same(a, b):
    """Whether two values are one by type and number; False where that cannot be said."""
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


class Writer:
    """Values as text; collects the modules that the text names."""

    def __init__(self, tree, names):
        self._tree, self._names, self.modules = tree, names, set()
        self._own = {id(m): m for m in torch_load.of_tree(tree)}
        self._open = []

    def model(self, built, job):
        """What makes the model. Raises Unwritten."""
        if not isinstance(built.model, torch.nn.Module):
            raise Unwritten("the model is no torch.nn.Module")
        if isinstance(built.model, Based):
            raise Unwritten("a package that its class comes from is not installed")
        self.module(built.module.__name__)
        if job.get("expression"):
            self.modules.add(built.module.__name__)
            return "eval(%r, vars(sys.modules[%r]))" % (job["expression"], built.module.__name__)
        return self.called(built.cls, built.given)

    def module(self, name):
        """Note a module of the tree. Raises Unwritten where no import names it."""
        file = getattr(sys.modules.get(name), "__file__", None) or ""
        if name.startswith("engine_") or not file.endswith(".py"):
            raise Unwritten("no import names the file that it stands in")
        self.modules.add(name)

    def called(self, function, given):
        """A call, without arguments that are as they are by default, but for sizes: theirs are small here."""
        owner = getattr(function, "__self__", None)
        name = function.__qualname__
        if inspect.isclass(owner):
            name = "%s.%s" % (owner.__qualname__, function.__name__)
        if "<" in name:
            raise Unwritten("%s is made inside a function" % name)
        self.module(function.__module__)
        parameters = defaults(function)
        shown = [
            "%s=%s" % (key, self.text(value))
            for key, value in given.items()
            if self._names.is_size(key) or not same(parameters.get(key, MISSING), value)
        ]
        return "%s.%s(%s)" % (function.__module__, name, ", ".join(shown))

    def text(self, value):
        """A value as Python writes it. Raises Unwritten."""
        if id(value) in torch_config.MADE:
            return self.made(value)
        if isinstance(value, (Keeps, Nothing)):
            raise Unwritten("a package that it is configured by is not installed")
        if isinstance(value, float) and value - value != 0:
            return "float(%r)" % str(value)
        if type(value) in PLAIN:
            return repr(value)
        if isinstance(value, TORCH):
            return (
                "torch.device(%r)" % str(value) if isinstance(value, torch.device) else str(value)
            )
        if isinstance(value, Loose):
            return self.loose(value)
        if type(value) in (list, tuple, set):
            inner = ", ".join(self.text(one) for one in value)
            if not value:
                return "%s()" % type(value).__name__
            return {list: "[%s]", tuple: "(%s,)", set: "{%s}"}[type(value)] % inner
        if type(value) is dict:
            return "{%s}" % ", ".join("%r: %s" % (k, self.text(v)) for k, v in value.items())
        raise Unwritten("it takes a %s, which has no short text" % type(value).__name__)

    def made(self, value):
        _, called, given, changes = torch_config.MADE[id(value)]
        first = self.called(called, given)
        sizes = self._sizes(value, called, {**given, **changes})
        plain = {k: getattr(called, k, MISSING) for k in changes}
        shown = {k: self.text(v) for k, v in changes.items() if not same(plain[k], v)}
        shown = {**sizes, **shown}
        if not shown:
            return first
        return "changed(%s, %s)" % (first, ", ".join("%s=%s" % pair for pair in shown.items()))

    def _sizes(self, value, called, known):
        """name -> text: the sizes that stand in the body of its class, which are small here and not there."""
        if not inspect.isclass(called):
            return {}
        named = [k for k in vars(called) if k not in known and self._names.is_size(k)]
        return {k: repr(getattr(value, k)) for k in named if type(getattr(value, k, None)) is int}

    def loose(self, value):
        """Values by name; one that stands for itself under a name is told by that name."""
        if any(value is one for one in self._open):
            return "Values.ITSELF"
        self._open.append(value)
        items = ", ".join("%r: %s" % (k, self.text(v)) for k, v in value.items())
        self._open.pop()
        return "Values({%s})" % items


def defaults(function):
    """name -> default of what a call takes."""
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return {}
    return {p.name: p.default for p in found if p.default is not inspect.Parameter.empty}
