"""Stands for packages that are not installed, for the learner's files only.

A stub takes any name, can be called, subclassed and used as a decorator. It never computes: one that is
handed a tensor says so, as whatever it gave back would be taken for the model's.
"""

from __future__ import annotations

import importlib.machinery
import re
import sys
import types

import torch

NEVER = ("torch", "numpy")
OWN = rb"^[^\S\n]*from\s+(%s[.\w]*)\s+import\s+\(?([^#\n\\]+)"


class StubUsed(Exception):
    """The code needs a package that is not installed."""


class Kind(type):
    """Attributes of a stub class are functions that do nothing."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing("%s.%s" % (cls.__name__, name))

    def __getitem__(cls, key):
        return cls


class Nothing:
    """Called, it gives back the function that it decorates, or itself; handed a tensor it raises."""

    def __init__(self, name="stub", *args, **kwargs):
        self.__dict__["_name"] = name

    def __call__(self, *args, **kwargs):
        for value in [*args, *kwargs.values()]:
            inside = value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(one, torch.Tensor) for one in inside):
                raise StubUsed("%s belongs to a package that is not installed" % self._name)
        if len(args) == 1 and not kwargs and callable(args[0]):
            return args[0]
        return Nothing(self._name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing("%s.%s" % (self._name, name))

    def __getitem__(self, key):
        return Nothing("%s[...]" % self._name)

    def __iter__(self):
        return iter(())

    def __bool__(self):
        return False

    def __len__(self):
        return 0

    def __float__(self):
        return 0.0

    def __fspath__(self):
        return self._name

    def _with(self, other):
        """Arithmetic with a number gives nothing again; with a tensor it raises."""
        return self(other, None)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _with
    __truediv__ = __rtruediv__ = __floordiv__ = __pow__ = _with

    def __format__(self, how):
        return self._name

    def __lt__(self, other):
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class Keeps(metaclass=Kind):
    """A base class that keeps what it was made with: configurations and outputs of libraries."""

    def __init__(self, *args, **kwargs):
        self.__dict__.update(kwargs)

    def __call__(self, *args, **kwargs):
        return Nothing("%s.%s" % (type(self).__module__, type(self).__name__))(*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing("%s.%s" % (type(self).__name__, name))


class Meta(Kind, type(torch.nn.Module)):
    pass


class Based(torch.nn.Module, metaclass=Meta):
    """A base class for models of a library."""

    def __init__(self, config=None, *args, **kwargs):
        super().__init__()
        self.config = config

    def post_init(self):
        self.apply(self._init_weights)

    def _init_weights(self, module):
        """As transformers does it where a model has none of its own."""
        if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)):
            torch.nn.init.normal_(module.weight, std=0.02)
            if getattr(module, "bias", None) is not None:
                torch.nn.init.zeros_(module.bias)


def stub(name, package):
    """What `from package import name` gives."""
    kind = Based if re.search(r"Model$|Module$", name) else Keeps
    if name[:1].islower() or name.isupper():
        return Nothing("%s.%s" % (package, name))
    return type(kind)(name, (kind,), {"__module__": package})


class StubModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = stub(name, self.__name__)
        setattr(self, name, made)
        return made


def own_name(tree, top):
    """The name that a tree has for its own root in imports that begin with `top`, as `lm.gpt` where
    `lm.gpt.model` is its `model.py`; "" where one of these imports is of something else.
    """
    asked = re.compile(OWN % re.escape(top).encode(), re.M)
    found = None
    for file in tree.files:
        for dotted, names in asked.findall(tree.files[file]) if file.endswith(".py") else ():
            parts, bound = dotted.decode().split("."), re.findall(rb"(\w+)(?: +as +\w+)?", names)
            roots = {n for n in range(1, len(parts)) if binds(tree, "/".join(parts[n:]), bound)}
            found = roots if found is None else found & roots
    return ".".join(parts[: min(found)]) if found else ""


def binds(tree, stem, names):
    """Whether a module of the tree binds each of these names."""
    file = next((f for f in (stem + ".py", stem + "/__init__.py") if f in tree.files), None)
    text = b"" if file is None else tree.files[file]
    inside = rb"^(?:class|def)\s+%s\b|^%s\s*[:=]"
    return bool(text) and all(
        "%s/%s.py" % (stem, name.decode()) in tree.files
        or re.search(inside % (name, name), text, re.M)
        for name in names
    )


class StubFinder:
    """Last on the import path, and only for imports that stand in the tree's own files. Where these name the
    tree itself, it is found.
    """

    def __init__(self, tree, notes):
        self._tree, self._root, self._notes = tree, tree.root + "/", notes
        self._own = {}  # top of a name -> the tree's name for its own root, "" for none

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if (
            top in NEVER
            or top in sys.stdlib_module_names
            or not (self._asked() or self._below(top))
        ):
            return None
        if top not in self._own:
            self._own[top] = own_name(self._tree, top)
        if (self._own[top] + ".").startswith(name + "."):
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [self._root] if name == self._own[top] else []
            return spec
        self._notes.append("no package %s: a stub stands for it" % top)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def _below(self, top):
        return isinstance(sys.modules.get(top), StubModule)

    def _asked(self):
        frame = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if not file.startswith("<frozen") and "importlib" not in file:
                return file.startswith(self._root)
            frame = frame.f_back
        return False

    def create_module(self, spec):
        return StubModule(spec.name)

    def exec_module(self, module):
        module.__path__ = []
