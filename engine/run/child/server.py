"""A server: it holds one kind of text, a pack or call.py and one tree, and forks a child for every run.

One server a party that must not know of another: a fork costs 2 ms, and a candidate cannot find the
healthy code in its own memory. What a child would do anew each time is done here, before the fork: files
are compiled, lines for tracebacks kept, the instrumented forms of a tree made. Nothing of a learner's code
runs here.

Sent as text: standard library, numpy when it is there.
"""

from __future__ import annotations

import re
import sys

from engine.run.child import call_variants, coverage, modules, sandbox, supervisor, tracer, wire
from engine.run.child.tree import Tree


class State:
    """What one server holds between runs."""

    def __init__(self):
        self.texts = None  # pack files: call.py of every component, or the whole pack
        self.tree = None
        self.traced = None  # the tree with instruments, and its sites
        self.marked = None  # the files whose functions tell that they run, and the tree with those
        self.roles = {}
        self.eager = ()
        self.watched = None
        self.ruleset = -1
        self.program = b""
        self.confined = False
        self.workdir = "/"
        self.readable = []  # data files of the learner's
        self.memory = sandbox.MEMORY
        self.foreign = set()  # modules of Python's and numpy's own that were imported for the tree
        self.call_variants = dict(call_variants.CALL_VARIANTS)
        self.exam = {}  # modules of child/exam by name, once the parent has sent them
        self.home = ""  # where the learner lives, for children that look like processes of theirs


def serve(fd, load):
    """One server: a loop over messages on its socket."""
    state = State()
    buffer = wire.Buffer()
    while True:
        message = wire.receive(fd, buffer)
        if message is None:
            return
        kind = message["do"]
        if kind == "hold":
            hold(state, message)
        elif kind == "exam":
            set_exam(state, load(message["modules"]), message["home"])
        elif kind == "warm":
            state.texts.precompile(needed(state.texts.files, set(message["components"])))
        elif kind == "tree":
            take_tree(state, message)
        elif kind == "run":
            prepare(state, message)
            supervisor.run(fd, state, message)


def hold(state, message):
    """What stays the same as long as this server is there."""
    state.texts = Tree(message["root"], [""], message["texts"])
    state.texts.show_lines()
    state.watched = modules.ModuleState()
    state.workdir = message["workdir"]
    state.memory = message["memory"]
    state.confined = message["confined"]
    if state.confined:
        sandbox.forget_checkout(message["hidden"])
        state.readable = message["readable"]
        state.ruleset = sandbox.landlock_ruleset(state.workdir, message["hidden"], state.readable)
        state.program = sandbox.seccomp_program()


def set_exam(state, found, home):
    """Hold these modules of child/exam, perhaps none, and the call variants that they bring."""
    state.home = home
    state.exam = {name.rpartition(".")[2]: module for name, module in found.items()}
    state.call_variants = dict(call_variants.CALL_VARIANTS)
    for module in found.values():
        state.call_variants.update(getattr(module, "CALL_VARIANTS", {}))


def take_tree(state, message):
    """Hold this tree from now on, compiled."""
    fresh = Tree(message["root"], message["roots"], message["files"])
    fresh.inherit(state.tree)
    fresh.show_lines(state.tree)
    state.tree = fresh
    state.traced = state.marked = None
    if message["trace"]:
        instrument(state)
    else:
        fresh.precompile()
    state.roles, state.eager = message["roles"], message["eager"]


def prepare(state, message):
    """Compile what the run that is asked for needs, before its child is forked."""
    components = {job.get("component") for job in message["jobs"]}
    state.texts.precompile(needed(state.texts.files, components))
    if message["trace"] is not None and state.traced is None:
        instrument(state)
    paths = message["covered"]
    if paths and (state.marked is None or state.marked[0] != paths):
        state.marked = paths, deeply(coverage.marked, state.tree, paths)


def instrument(state):
    """Compile the tree in its instrumented form."""
    state.traced = deeply(tracer.instrumented, state.tree)
    deeply(state.traced[0].precompile)


def deeply(work, *given):
    """What it gives, with room for trees as deep as a learner's expressions are."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(tracer.DEEP, limit))
    try:
        return work(*given)
    finally:
        sys.setrecursionlimit(limit)


def needed(files, components):
    """The files of a pack that probes of these components run: theirs, and what those import."""
    names, found = set(components), set()
    while True:
        more = {
            path
            for path in files
            if path not in found and (path.count("/") < 2 or path.split("/")[1] in names)
        }
        if not more:
            return found
        found |= more
        for path in more:
            names.update(name.decode() for name in re.findall(rb"\bpack\.(\w+)", files[path]))
