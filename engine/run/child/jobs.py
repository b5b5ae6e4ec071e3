"""What a child does with a learner's tree: run a probe on it, or look for the names of the contract.

A job gives {"values", "raised", "changed", "seconds"}. It has a probe (a function of `call.py`), inputs, and
a seed for the global random generators; the probe records named values, and an exception is a measurement
like any other. Sent to the child as text: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import functools
import importlib
import random
import sys
import time
import types

from engine.run.child import arrays, call_variants, calls, wire
from engine.run.child.values import describe, snapshot, writable


class RoleMissing(Exception):
    """The tree does not offer a name of the contract."""


class Learner:
    """The learner's public names by role: `learner.Embedding` imports and returns theirs.

    A module that cannot be imported is tried once for all jobs: an import of a second that fails would
    otherwise take two minutes.
    """

    def __init__(self, roles):
        self.__dict__["_roles"] = roles
        self.__dict__["_failed"] = {}

    def __getattr__(self, role):
        if role not in self._roles:
            raise AttributeError("the pack has no role %r" % role)
        where = self._roles[role]
        module, _, name = where.partition(":")
        found = self._imported(module)
        for part in name.split("."):
            if not hasattr(found, part):
                raise RoleMissing("%s has no %s" % (module, name))
            found = getattr(found, part)
        self.__dict__[role] = found
        return found

    def _imported(self, module):
        if module in self._failed:
            error, trace = self._failed[module]
            raise error.with_traceback(trace)
        try:
            return importlib.import_module(module)
        except BaseException as error:
            self._failed[module] = error, error.__traceback__
            raise


def probe_job(job, learner, trees, state, last=True):
    """One probe on the learner's tree: recorded values, exception, what it changed, seconds.

    state: the server's; `state.watched` was made before any of the learner's code ran. last: whether no
    other job follows.
    """
    values = {}

    def record(**named):
        for name, value in named.items():
            values[name] = snapshot(value)

    name = job.get("call_variant", "")
    variant = state.call_variants.get(name, call_variants.Mode)(job, learner)
    inputs = {name: laid_out(value, variant) for name, value in writable(job["inputs"]).items()}
    if job.get("made"):
        learner = calls.Watched(learner, job["made"], variant)
    probe = getattr(loaded(state.texts, job["component"], variant), job["probe"])
    begin = functools.partial(seed, job["seed"])
    wrong = variant.rehearse(probe, inputs, learner, begin)
    begin()
    del variant.changed[:]
    before = {name: arrays.digest(value) for name, value in inputs.items()}
    raised = None
    started = time.process_time()
    try:
        variant.run(functools.partial(probe, learner, record, **inputs))
    except BaseException as error:  # whatever the learner's code throws is a measurement
        raised = describe(error, trees)
    seconds = time.process_time() - started
    changed = [name for name, value in inputs.items() if arrays.digest(value) != before[name]]
    changed += [*dict.fromkeys([*variant.changed, *wrong]), *state.watched.replaced(last)]
    if len(sys._current_frames()) > 1:  # whatever goes on beside may change what comes later
        changed.append("threading.threads")
    return {"values": values, "raised": raised, "changed": changed, "seconds": seconds}


def loaded(texts, component, variant):
    """The module of a component's call.py, under the name that the call variant gives it."""
    path = "pack/%s/call.py" % component
    name, code = variant.caller(texts.code(path))
    module = types.ModuleType(name)
    module.__file__ = texts.path(path)
    exec(code, module.__dict__)
    return module


def laid_out(value, variant):
    """An input as the call variant has it in memory."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray) or not value.ndim:
        return value
    return variant.lay_out(value)


def seed(number):
    """The global generators, as each job finds them."""
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % (1 << 32))
    if wire.ARRAYS is not None:
        wire.ARRAYS.seed(number)


def roles_job(job, learner, trees):
    """Try to import each role: None when it is there, else the error."""
    values, raised = {}, None
    for role in job["roles"]:
        try:
            getattr(learner, role)
            values[role] = None
        except BaseException as error:  # a missing name and a failing import are both answers
            raised = describe(error, trees)
            values[role] = "%s: %s" % (raised["type"], raised["message"])
    return {"values": values, "raised": raised, "changed": [], "seconds": 0.0}
