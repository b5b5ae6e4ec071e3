"""Configurations for a class that wants one: by annotation, by the attributes it reads, or made up."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import types

import torch

from engine.run.child import torch_load
from engine.run.child.torch_names import MISSING, plain
from engine.run.child.torch_stubs import Keeps, Nothing

CONFIG = re.compile(r"conf|cfg|args$|^params?$|hparams|hyper|^hp$|opts?$", re.I)
SECTION = re.compile(r"model|config|attn|attention|transformer|arch", re.I)
FILES, CHOICES = 5, 4  # files that define a configuration, and configurations, that are tried


MADE = {}  # id of a part or configuration -> (itself, what was called, with what, what was set)


def made(called, given, changes=()):
    """What a call gives, with these attributes; how it was made is kept."""
    found = called(**given)
    for name, value in dict(changes).items():
        setattr(found, name, value)
    MADE[id(found)] = found, called, given, dict(changes)
    return found


class Loose(dict):
    """A configuration that answers by attribute and by key, by name."""

    def __init__(self, names, base=()):
        super().__init__(base)
        object.__setattr__(self, "_names", names)

    def _value(self, key):
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        value = self._names.guess(key)
        if isinstance(key, str) and SECTION.fullmatch(key):
            value = self
        if value is MISSING and isinstance(key, str) and key.isupper():
            value = self._names.needed(key)
            value = self if value is MISSING else value
        if value is MISSING and isinstance(key, str) and SECTION.search(key):
            value = self
        if value is MISSING:
            value = self._names.needed(key)
        if value is MISSING:
            raise AttributeError("no value is known for %r of the configuration" % (key,))
        self[key] = value
        return value

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        return self._value(key)

    def __setattr__(self, key, value):
        self[key] = value

    def __getitem__(self, key):
        try:
            return self._value(key)
        except AttributeError as error:
            raise KeyError(str(error)) from None

    def _listed(self):
        """Itself; what nothing was asked of yet holds what the tree gives, as somebody goes through it."""
        if not len(self):
            self.update(self._names.sizes())
        return super()

    def __iter__(self):
        return self._listed().__iter__()

    def keys(self):
        return self._listed().keys()

    def items(self):
        return self._listed().items()

    def get(self, key, default=None):
        if default is not None and not dict.__contains__(self, key):
            return self._names.guess(key, default)
        try:
            return self._value(key)
        except AttributeError:
            return default


def is_config(parameter, names):
    return bool(CONFIG.search(parameter.name)) and not names.is_size(parameter.name)


def part(module, parameter, names):
    """What makes the module of the tree that a parameter is annotated with or named after; or None."""
    for name, kind in vars(module).items():
        named = plain(name) == plain(parameter.name) or parameter.annotation in (kind, name)
        if named and inspect.isclass(kind) and issubclass(kind, torch.nn.Module):
            given, missing = arguments(constructor(kind), names)
            return None if missing else made(kind, given)
    return None


def is_object(tree, path, parameter, names):
    """Whether what is asked for is only there for its attributes, as a tokenizer or a data set is."""
    needed = parameter.default is inspect.Parameter.empty and names.rule(parameter.name) is None
    return needed and bool(read_of(tree, path, parameter.name))


def parameters(function):
    """What a constructor asks for, without self and without * and **."""
    try:
        found = list(inspect.signature(function).parameters.values())[1:]
    except (ValueError, TypeError):
        return []
    return [p for p in found if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]


def constructor(cls):
    """What a class asks for; where it hands on * or **, also what the classes above it ask for."""
    found = {}
    for one in cls.__mro__:
        if "__init__" not in vars(one) or one.__module__.startswith("torch."):
            continue
        for p in parameters(one.__init__):
            found.setdefault(p.name, p)
        kinds = {p.kind for p in inspect.signature(one.__init__).parameters.values()}
        if not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}:
            break
    return list(found.values())


def arguments(found, names):
    """{name: value} by guessing, and the names without one."""
    given, missing = {}, []
    for p in found:
        absent = p.default is inspect.Parameter.empty or isinstance(p.default, Nothing)
        default = MISSING if absent else p.default
        value = names.needed(p.name, default)
        if value is MISSING:
            missing.append(p.name)
        else:
            given[p.name] = value
    return given, missing


def filled(kind, names):
    """A small configuration of this class, or like this dict."""
    if isinstance(kind, dict):
        loose = Loose(names)
        for key, value in kind.items():
            loose[key] = (
                filled(value, names) if isinstance(value, dict) else names.guess(key, value)
            )
        return loose
    if dataclasses.is_dataclass(kind):
        given = {}
        for field in dataclasses.fields(kind):
            default = field.default
            if default is dataclasses.MISSING:
                factory = field.default_factory
                default = MISSING if factory is dataclasses.MISSING else factory()
            if isinstance(default, Nothing):
                default = MISSING
            value = names.needed(field.name, default)
            if field.init and value is not MISSING:
                given[field.name] = value
        return made(kind, given)
    changes = {}
    for name in dir(kind):
        value = None if name.startswith("_") else getattr(kind, name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            changes[name] = names.guess(name, value)
    return made(kind, arguments(parameters(kind.__init__), names)[0], changes)


def fields(kind):
    """The names that a configuration has."""
    if isinstance(kind, dict):
        return set(kind)
    if dataclasses.is_dataclass(kind):
        return {field.name for field in dataclasses.fields(kind)}
    own = {name for name in dir(kind) if not name.startswith("_")}
    return own | {p.name for p in parameters(kind.__init__)}


def read_of(tree, path, name):
    """The attributes and keys that a file reads of what is called `name`, or of self.<name>."""
    found = set()
    for node in ast.walk(ast.parse(tree.files[path])):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            of = node.value
            called = of.id if isinstance(of, ast.Name) else getattr(of, "attr", "")
            if called != name:
                continue
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node.slice, ast.Constant):
                found.add(node.slice.value)
    return found


def visible(tree, module, names):
    """(name, class or dict) of what may be configurations, in the modules that are loaded."""
    seen, found = set(), []
    for one in [module, *torch_load.of_tree(tree)]:
        for name, value in list(vars(one).items()):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if inspect.isclass(value):
                fits = not issubclass(value, Keeps) and (
                    dataclasses.is_dataclass(value) or CONFIG.search(name)
                )
            else:
                fits = isinstance(value, dict) and sum(names.is_size(key) for key in value) >= 3
            if fits:
                found.append((name, value))
    return found


def elsewhere(tree, names):
    """Load the files that define a configuration, near ones first."""
    loaded = {getattr(m, "__file__", "") for m in torch_load.of_tree(tree)}
    count = 0
    for path in sorted(tree.files, key=lambda path: (path.count("/"), path)):
        if not path.endswith(".py") or tree.path(path) in loaded or count >= FILES:
            continue
        text = tree.files[path].decode("utf-8", "replace")
        if not re.search(r"@(\w+\.)?dataclass|class \w*(Config|Args)|CONFIG\w*\s*=\s*\{", text):
            continue
        words = set(re.findall(r"^\s+\W?(\w+)\W?\s*[:=]", text, re.M))
        if sum(names.is_size(word) for word in words) < 3:
            continue
        count += 1
        try:
            module = torch_load.executed(tree, path, "engine_config_%d" % count)
            sys.modules[module.__name__] = module
        except Exception:
            pass


def choices(tree, path, module, parameter, names):
    """Configurations for a parameter, likely ones first: (description, function that makes it)."""
    read = read_of(tree, path, parameter.name)
    annotation = parameter.annotation

    def fitting():
        ranked = []
        for name, kind in visible(tree, module, names):
            hit = len(read & fields(kind))
            annotated = annotation is kind or str(annotation).strip("'\"").split(".")[-1] == name
            if annotated or hit >= max(1, len(read) // 2):
                ranked.append((-1000 * annotated - hit, name, kind))
        return sorted(ranked, key=lambda one: one[:2])

    ranked = fitting()
    if read and not any(len(read & fields(kind)) * 2 >= len(read) for _, _, kind in ranked):
        elsewhere(tree, names)
        ranked = fitting()
    for _, name, kind in ranked[:CHOICES]:
        yield name, lambda kind=kind: filled(kind, names)
    yield "values by name", lambda: Loose(names)


def by_default(cls, names, presets):
    """For classes that make their own default configuration: the function that makes a small one.

    presets: whether names of presets (its texts) stay; sizes and a preset may exclude each other.
    """
    default = next(
        (getattr(cls, n) for n in ("get_default_config", "default_config") if hasattr(cls, n)), None
    )
    if not isinstance(default, (types.FunctionType, types.MethodType)):
        return None

    def config():
        changes = {}
        for name, value in vars(default()).items():
            preset = type(value) is str and not presets
            changes[name] = None if preset else names.guess(name, value)
        return made(default, {}, changes)

    return config
