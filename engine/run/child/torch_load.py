"""Imports one file of a tree from memory, whichever name its own imports need."""

from __future__ import annotations

import builtins
import importlib
import re
import sys
import types

from engine.run.child import torch_definitions
from engine.run.child.torch_stubs import StubFinder, stub

RELATIVE = re.compile(rb"^\s*from\s+(\.+)", re.M)
IMPORTED = re.compile(rb"^[^\S\n]*(?:from|import)\s+([A-Za-z_]\w*)", re.M)


def prepared(tree, names, notes, path, inner=False):
    """The tree in definition mode, first on the import path; its folders are those above `path`. inner: with
    small sizes inside constructors.
    """

    def transform(relative, source):
        text = source.decode("utf-8", "replace").lstrip("\ufeff")
        return torch_definitions.definitions(text, names, inner)

    defined = tree.transformed(transform)
    defined.roots = above(path, tree.files)
    install(defined, notes, names)
    return defined


def install(tree, notes, names):
    """Put a tree first on the import path, stubs last; modules that are imported and have one of its
    names give way.
    """
    tree.install()
    sys.meta_path.append(StubFinder(tree, notes))
    setattr(builtins, torch_definitions.FALLBACK, torch_definitions.fallback(names, notes, stub))
    tops = {part for file in tree.files for part in own_names(file, tree.roots)}
    tops = {top for top in tops - {"torch", "numpy", "engine"} - set(KEPT) if tree.find_spec(top)}
    for name in list(sys.modules):
        if name.partition(".")[0] in tops:
            del sys.modules[name]
    importlib.invalidate_caches()


ROOTS = 12  # folders that hold packages, beside those above a file
KEPT = (
    "sys",
    "builtins",
    "os",
    "re",
    "ast",
    "types",
    "importlib",
    "collections",
    "functools",
    "random",
)
KEPT += (
    "typing",
    "inspect",
    "dataclasses",
    "math",
    "json",
    "time",
    "abc",
    "contextlib",
    "warnings",
)


def own_names(file, roots):
    """The top-level names under which a file could be imported."""
    for root in roots:
        start = root + "/" if root else ""
        if file.startswith(start) and file.endswith(".py"):
            yield file[len(start) :].split("/")[0].removesuffix(".py")


def above(path, files=()):
    """Folders to import from: those above a file, the nearest first; then those that hold packages, or
    folders that the tree imports by their name.
    """
    parts = path.split("/")[:-1]
    found = ["/".join(parts[:n]) for n in range(len(parts), -1, -1)]
    packages = {file.rpartition("/")[0] for file in files if file.endswith("/__init__.py")}
    tops = {p.rpartition("/")[0] for p in packages if p.rpartition("/")[0] not in packages}
    tops |= {folder.rpartition("/")[0] for folder in imported_folders(files)}
    return found + sorted(tops - set(found), key=lambda top: (top.count("/"), top))[:ROOTS]


def text_of(tree, path):
    """The bytes of a file. Raises FileNotFoundError."""
    if path not in tree.files:
        raise FileNotFoundError("there is no %s" % path)
    return tree.files[path]


def imported_folders(files):
    """The folders with code whose name some file imports, as `pkg` of `src/pkg`."""
    code = [file for file in files if file.endswith(".py")]
    folders = {
        "/".join(file.split("/")[:n]) for file in code for n in range(1, file.count("/") + 1)
    }
    names = {name.decode() for file in code for name in IMPORTED.findall(files[file])}
    return [folder for folder in folders if folder.rpartition("/")[2] in names]


def least_dots(tree, path):
    """How many dots a file's name needs for its relative imports, and those of the files beside it."""
    folder = path.rpartition("/")[0]
    beside = [f for f in tree.files if f.endswith(".py") and f.rpartition("/")[0] == folder]
    return max((len(dots) for f in beside for dots in RELATIVE.findall(tree.files[f])), default=0)


def loaded(tree, path):
    """The module of a file. Raises FileNotFoundError, and what its import raises."""
    parts = path.removesuffix(".py").split("/")
    if not path.endswith(".py") or not all(part.isidentifier() for part in parts[-1:]):
        return executed(tree, path)
    dotted = [".".join(parts[n:]) for n in range(len(parts))]
    dotted = [d for d in dotted if all(p.isidentifier() for p in d.split("."))]
    shortest_first = dotted[::-1]
    if RELATIVE.search(text_of(tree, path)):
        least = least_dots(tree, path)
        shortest_first = [d for d in dotted[::-1] if d.count(".") >= least] or dotted[:1]
    first = None
    for name in shortest_first:
        try:
            module = importlib.import_module(name)
            if getattr(module, "__file__", None) == tree.path(path):
                return module
        except Exception as error:
            first = first or error
        forget(tree)
    if first is not None:
        raise first
    return executed(tree, path)


def executed(tree, path, name="engine_loaded"):
    """A file that no import statement can name."""
    module = types.ModuleType(name)
    module.__file__ = tree.path(path)
    sys.modules[name] = module
    exec(tree.code(path), module.__dict__)
    return module


def beside(module, tree, path):
    """The module of another file, by a name below the folder that `module` was imported from, so that both
    know the same classes; executed where no such name imports it.
    """
    own = (getattr(module, "__file__", None) or "")[len(tree.root) + 1 :]
    depth = len(own.split("/")) - len(module.__name__.split("."))
    parts = path.removesuffix(".py").split("/")
    if own.split("/")[:depth] == parts[:depth] and all(p.isidentifier() for p in parts[depth:]):
        try:
            return importlib.import_module(".".join(parts[depth:]))
        except Exception:  # it is told of when it is executed
            pass
    return executed(tree, path, "engine_sampler")


def forget(tree):
    """Take the modules of the tree out again."""
    for name, module in list(sys.modules.items()):
        own = getattr(module, "__dict__", {})  # torch.classes has an attribute of any name
        folders = [str(path) for path in own.get("__path__") or ()]
        if any(p.startswith(tree.root + "/") for p in [str(own.get("__file__")), *folders]):
            del sys.modules[name]


def of_tree(tree):
    """The modules that came from the tree."""
    start = tree.root + "/"
    return [
        m for m in list(sys.modules.values()) if str(getattr(m, "__file__", "")).startswith(start)
    ]
