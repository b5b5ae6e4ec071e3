"""Imports a tree of Python files from memory: what runs is what was sent, never a stale .pyc.

Sent to the child as text: standard library only.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import linecache
import sys

PYTHON = getattr(sys, "stdlib_module_names", frozenset())


class Tree:
    """Files by POSIX path below `root`, importable from each of `roots` ("" or "src", say).

    Nothing is read from disk: `root` only gives modules a `__file__` that a person recognises.
    """

    def __init__(self, root, roots, files):
        self.root = root.rstrip("/")
        self.roots = list(roots)
        self.files = dict(files)
        self.script = (
            None  # a file that runs as `__main__`: its name is that of a package beside it, if any
        )
        self.loader_of = None  # what is told to be the loader of a module, by its name and path
        self._code = {}
        self._transform = None

    def path(self, relative):
        return self.root + "/" + relative

    def relative(self, path):
        """A `__file__` below the root -> the POSIX path in this tree, or None."""
        start = self.root + "/"
        if path.startswith(start) and path[len(start) :] in self.files:
            return path[len(start) :]
        return None

    def precompile(self, paths=None):
        """Compile these files once, or all, so that each forked child only executes."""
        for relative in self.files if paths is None else paths:
            if relative.endswith(".py"):
                try:
                    self.code(relative)
                except Exception:  # the child that imports it will say so, with the traceback
                    self._code.pop(relative, None)

    def code(self, relative):
        if relative not in self._code:
            source = self.files[relative]
            if self._transform is not None:
                source = self._transform(relative, source)
            self._code[relative] = compile(source, self.path(relative), "exec", dont_inherit=True)
        return self._code[relative]

    def transformed(self, transform, kept=()):
        """The same files, of which `transform(path, source)` is compiled, a tree or source; of the paths
        `kept` what is compiled already is taken over.
        """
        tree = Tree(self.root, self.roots, self.files)
        tree._transform = transform
        tree._code = {path: self._code[path] for path in kept if path in self._code}
        return tree

    def inherit(self, old):
        """Take over the compiled code of the files that are the same in `old`."""
        if old is not None and old.root == self.root:
            for path, code in old._code.items():
                if self.files.get(path) == old.files[path]:
                    self._code[path] = code

    def text(self, relative):
        return importlib.util.decode_source(self.files[relative])

    # the finder half of the import protocol (PEP 451)
    def find_spec(self, name, path=None, target=None):
        tail = name.rpartition(".")[2]
        stems = [folder + "/" + tail if folder else tail for folder in self._folders(path, name)]
        for stem in stems:
            for relative, package in ((stem + "/__init__.py", True), (stem + ".py", False)):
                if relative == self.script and any(self._holds_code(stem) for stem in stems):
                    continue
                if relative in self.files:
                    spec = importlib.util.spec_from_file_location(
                        name,
                        self.path(relative),
                        loader=self,
                        submodule_search_locations=[self.path(stem)] if package else None,
                    )
                    spec.cached = None
                    return spec
        portions = [stem for stem in stems if self._holds_code(stem)]
        if not portions or (path is None and _elsewhere(name)):
            return None
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [self.path(stem) for stem in portions]
        return spec

    def _holds_code(self, stem):
        start = stem + "/"
        return any(file.startswith(start) and file.endswith(".py") for file in self.files)

    def _folders(self, path, name):
        """Where to look for a module. What lies in a package hides no module of Python's own."""
        if path is None and name in PYTHON:
            return [root for root in self.roots if root + "/__init__.py" not in self.files]
        if path is None:
            return self.roots
        start = self.root + "/"
        return [entry[len(start) :] for entry in path if entry.startswith(start)]

    # the loader half
    def create_module(self, spec):
        return None

    def exec_module(self, module):
        relative = self.relative(module.__spec__.origin)
        if self.loader_of is not None:
            told = self.loader_of(module.__name__, module.__spec__.origin)
            module.__loader__ = module.__spec__.loader = told
        exec(self.code(relative), module.__dict__)

    def get_source(self, name):
        spec = self.find_spec(name)
        return self.text(self.relative(spec.origin)) if spec and spec.origin else None

    def install(self):
        """Put this tree first on the import path."""
        sys.meta_path.insert(0, self)
        sys.path_hooks.insert(0, self._nothing_on_disk)

    def _nothing_on_disk(self, path):
        """The path hook of folders in this tree: what was not sent is not looked for on disk. An environment
        that lies in the tree is none of it.
        """
        inside = path == self.root or _below(path, self.root)
        installed = _below(sys.prefix, self.root) and _below(path, sys.prefix)
        if inside and not installed:
            return Nowhere()
        raise ImportError("not a folder of this tree")

    def show_lines(self, old=None):
        """Let tracebacks find the text of these files; those of `old` are shown already."""
        known = old.files if old is not None and old.root == self.root else {}
        for relative in self.files:
            if relative.endswith(".py") and self.files[relative] != known.get(relative):
                linecache.cache.pop(self.path(relative), None)
                try:
                    lines = self.text(relative).splitlines(True)
                except (SyntaxError, UnicodeDecodeError):
                    continue
                linecache.cache[self.path(relative)] = (1, None, lines, self.path(relative))


def _below(path, folder):
    return path.startswith(folder + "/")


class Nowhere:
    """A path entry finder that finds nothing."""

    def find_spec(self, name, target=None):
        return None


def _elsewhere(name):
    """Whether a real module or package of this name exists, which a mere folder must not hide."""
    if name in sys.builtin_module_names:
        return True
    try:
        spec = importlib.machinery.PathFinder.find_spec(name)
    except (ImportError, OSError, ValueError):
        return False
    return spec is not None and spec.loader is not None and spec.origin is not None
