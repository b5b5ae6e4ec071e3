"""The modules of run/child as text: what an interpreter is sent over a pipe, or a server over its socket.

An interpreter of the learner's has no engine installed, and a process that runs learner code must not be
able to import it. So the modules are executed from text and then taken out of `sys.modules`.

What exists only against cheats (child/exam) is sent to servers alone, and only at the level exam.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

CHILD_MODULES = (
    "wire",
    "sandbox",
    "tree",
    "tracer",
    "coverage",
    "modules",
    "arrays",
    "calls",
    "call_variants",
    "values",
    "cases",
    "jobs",
    "worker",
    "supervisor",
    "server",
    "zygote",
)  # each after those that it imports
TORCH_MODULES = (*CHILD_MODULES, "runner", "torch_check", "torch_alone", "tensors", "torch_zygote")
EXAM_MODULES = {
    "pack": ("patterns", "targeting"),
    "learner": ("environment", "exchange", "repetition", "callers"),
}
PACKAGES = ("engine", "engine.run", "engine.run.child", "engine.run.child.exam")
LOADER = """
import json, sys, types
known = {}
def load(sources):
    found = {}
    sys.modules.update(known)
    for name, text in sources:
        module = sys.modules[name] = known[name] = found[name] = types.ModuleType(name)
        module.__path__ = []
        exec(compile(text, "<%s>" % name, "exec"), module.__dict__)
    for name in known:
        del sys.modules[name]
    return found
modules = load(json.loads(sys.stdin.buffer.read()))
list(modules.values())[-1].zygote(int(sys.argv[1]), load)
"""  # load() gives the modules that it has executed, by their names; the last one serves


def bootstrap(modules: Sequence[str] = CHILD_MODULES) -> bytes:
    """These modules of the child as one text: [[name, source], ...] in JSON, parents first."""
    packages = [[name, ""] for name in PACKAGES]
    return json.dumps(packages + [_source(name) for name in modules]).encode()


def exam_modules(party: str) -> list[list[str]]:
    """What a server gets at the level exam, [[name, source], ...]; party: of EXAM_MODULES."""
    return [_source(f"exam.{name}") for name in EXAM_MODULES[party]]


def _source(name: str) -> list[str]:
    folder = os.path.join(os.path.dirname(__file__), "child")  # importlib.resources takes 12 ms
    path = os.path.join(folder, *name.split(".")) + ".py"
    with open(path, encoding="utf-8") as file:
        return [f"engine.run.child.{name}", file.read()]
