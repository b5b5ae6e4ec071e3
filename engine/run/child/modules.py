"""Modules that belong to nobody's model: Python's own, numpy's and torch's.

What of them a run had to import is imported before the next fork (`from numpy import *` takes 100 ms, the
first optimizer of torch more than a second); and a learner's code that replaces a name in one of them is
found out.

Sent as text: standard library, numpy when it is there.
"""

from __future__ import annotations

import importlib
import operator
import sys

from engine.run.child import wire

LIBRARIES = ("numpy", "torch")
EACH = 8  # jobs, after which it is looked whether modules are as they were
WATCHED = ("builtins", "math", "random", "numpy", "numpy.linalg", "numpy.random")
IMPORTS = 1000  # modules that are imported before the fork, at most
ACTING = {"antigravity", "this", "idlelib", "test", "tkinter", "turtle", "turtledemo", "lib2to3"}
ACTING |= {"__hello__", "__phello__", "readline", "rlcompleter"}  # which do something on import
OF_PYTHON = getattr(sys, "stdlib_module_names", frozenset()) - ACTING


class ModuleState:
    """What stands in modules that belong to nobody's model, as it was before the learner's code ran."""

    def __init__(self):
        self._map, self._all, self._contents = map, all, vars  # which may be replaced, too
        self._names, self._modules = {}, {}
        for name in WATCHED:
            if name in sys.modules:
                module = self._modules[name] = sys.modules[name]
                self._names[name] = {n: v for n, v in vars(module).items() if n[:2] != "__"}
        self._looks = 0
        self._replaced = []

    def replaced(self, last):
        """Their names that mean something else now; looked up for every eighth job, and the last one.

        last: whether no other job follows.
        """
        self._looks += 1
        if last or self._replaced or self._looks % EACH == 0:
            found = []
            for module, names in self._names.items():
                now = self._contents(self._modules[module]).get
                if not self._all(self._map(operator.is_, self._map(now, names), names.values())):
                    found += ["%s.%s" % (module, n) for n, v in names.items() if now(n) is not v]
            self._replaced = found
        return self._replaced


def public(name):
    """Whether a module is one of Python's or of a library's, which does nothing on import but be there."""
    return name.partition(".")[0] in LIBRARIES or name in OF_PYTHON


def bring(state, frame):
    """Import what a run had to import of Python's and the libraries' own, which each later child would do
    anew. The frame was written by a child: it may be anything.
    """
    try:
        buffer = wire.Buffer()
        buffer.feed(frame)
        names = wire.decode(*buffer.frame())["imports"]
        for name in names[:IMPORTS]:
            own = state.tree.find_spec(name.partition(".")[0])
            if public(name) and own is None and name not in sys.modules:
                importlib.import_module(name)
                state.foreign.add(name)
        if "tempfile" in sys.modules:  # which remembers the folder of whoever asked first
            sys.modules["tempfile"].tempdir = None
    except Exception:  # then the children go on importing it
        pass
