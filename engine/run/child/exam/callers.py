"""Call variants by who calls: "nested", "outermost" and "inside". Code that looks at the stack, to be right
when a judge calls it alone, finds there what it would find in a script, at a prompt, or in its own package.

Sent to the child at the level exam: standard library only.
"""

from __future__ import annotations

import _thread
import collections
import operator
import sys
import time
import types

from engine.run.child.calls import CallVariant

DEPTH = 60  # frames, in "nested"
SOON = 0.0002  # seconds between looks at whether a thread has ended, in "outermost"


class Nested(CallVariant):
    """Called from a script, sixty frames deep."""

    def caller(self, code):
        return "__main__", renamed(code, "<module>")

    def run(self, call):
        nested(DEPTH, call)


class Outermost(CallVariant):
    """Called from a line that nothing has called, as at a prompt."""

    def caller(self, code):
        return "__main__", renamed(code, "<module>")

    def run(self, call):
        outermost(call)


class Inside(CallVariant):
    """Called from a module with a name of the package's: the one that the draw names, else one by turns."""

    def caller(self, code):
        modules = sorted({where.partition(":")[0] for where in self.learner._roles.values()})
        name = self.job.get("caller") or modules[self.job["seed"] % len(modules)]
        return name, renamed(code, name)


CALL_VARIANTS = {"nested": Nested, "outermost": Outermost, "inside": Inside}


def nested(depth, run):
    """Run it that many frames deep."""
    return nested(depth - 1, run) if depth else run()


def outermost(call):
    """Call it with no frame above it: as the first function of a thread, which is waited for. What it
    raises is raised here.
    """
    failed, ended, hook = [], _thread.allocate_lock(), sys.unraisablehook
    ended.acquire()

    def told(problem):
        failed.append(problem.exc_value)
        ended.release()

    sys.unraisablehook = told
    try:  # a deque goes through the two calls, and has no frame
        both = map(operator.methodcaller("__call__"), (call, ended.release))
        thread = _thread.start_new_thread(collections.deque, (both, 0))
        ended.acquire()
        while thread in sys._current_frames():
            time.sleep(SOON)
    finally:
        sys.unraisablehook = hook
    if failed:
        raise failed[0]


RENAMED = {}  # code and name -> that code, which so goes on to be there, and the same under this name


def renamed(code, name):
    """The same code, whose functions tell whoever looks at the stack that they have this name."""
    name = name.rpartition(".")[2]
    key = id(code), name
    if key not in RENAMED:
        RENAMED[key] = code, _renamed(code, name)
    return RENAMED[key][1]


def _renamed(code, name):
    inner = [_renamed(c, name) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    inner = [c.replace(co_name=name) if isinstance(c, types.CodeType) else c for c in inner]
    return code.replace(co_consts=tuple(inner))
