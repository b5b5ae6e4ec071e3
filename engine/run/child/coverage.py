"""Which functions of a tree run in each job. What a change to a function can alter runs that function.

Every function of the files that are asked about begins with `__engine_ran__("path:line")`, in memory
alone: a tracer or profiler of Python's own would take half as long again as the code. Sent to the child
as text: standard library only.
"""

from __future__ import annotations

import ast
import builtins
import sys

NAME = "__engine_ran__"  # dunder on both sides, so that class bodies do not mangle it
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def marked(tree, paths):
    """The same tree, where each function of these files tells its path and first line, decorators
    included.
    """

    def transform(path, source):
        if path not in paths:
            return source
        module = ast.parse(source)
        for node in ast.walk(module):
            if isinstance(node, FUNCTIONS):
                first = min(one.lineno for one in [*node.decorator_list, node])
                place = int(ast.get_docstring(node, clean=False) is not None)
                mark = ast.parse("%s(%r)" % (NAME, "%s:%d" % (path, first))).body[0]
                for part in ast.walk(mark):
                    ast.copy_location(part, node.body[0])
                node.body.insert(place, mark)
        return module

    found = tree.transformed(transform, [path for path in tree.files if path not in paths])
    found.precompile()
    return found


class Coverage:
    """The functions that ran, as "path:line".

    A function that runs while modules are imported may leave its mark on whatever comes later, so it
    counts for all later jobs.
    """

    def __init__(self):
        self._always = set()
        self._ran = set()
        self._modules = 0
        setattr(builtins, NAME, self._ran.add)

    def start(self):
        """What runs from here on belongs to the next job."""
        self._ran.clear()
        self._modules = len(sys.modules)

    def imported(self):
        """What has run so far ran on import."""
        self._always |= self._ran

    def found(self):
        """What ran since the start, or on import."""
        if len(sys.modules) != self._modules:
            self._always |= self._ran
        return sorted(self._ran | self._always)
