"""Python files that a script names by their path: configurations that it executes, modules that it loads."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import runpy
import sys


def install(program, disk, shrunk):
    """Text that is executed has small numbers; a file of the tree can be loaded by its path."""
    real = builtins.exec
    by_file = importlib.util.spec_from_file_location

    def execute(code, scope=None, local=None, /, **kwargs):
        frame = sys._getframe(1)
        own = frame.f_code.co_filename.startswith(program.root + "/")
        if own and isinstance(code, (str, bytes)):
            text = code if isinstance(code, str) else code.decode("utf-8", "replace")
            code = compile(shrunk(text), "<text>", "exec")
        if scope is None:
            scope, local = frame.f_globals, frame.f_locals
        return real(code, scope, scope if local is None else local)

    def spec(name, location=None, *, loader=None, **kwargs):
        inside = disk.relative(location) if loader is None and location is not None else None
        if inside is None:
            return by_file(name, location, loader=loader, **kwargs)
        return importlib.machinery.ModuleSpec(name, program, origin=program.path(inside))

    def run_path(path, init_globals=None, run_name=None):
        inside = disk.relative(path)
        scope = {
            "__name__": run_name or "<run_path>",
            "__file__": str(path),
            **(init_globals or {}),
        }
        if inside is None:
            raise FileNotFoundError(path)
        real(program.code(inside), scope)
        return scope

    builtins.exec, runpy.run_path = execute, run_path
    importlib.util.spec_from_file_location = spec
