"""What a forked child does: run probes on a learner's tree, or draw cases and reference values.

Both answer one frame a job: {"values", "raised", "changed", "seconds"} and, for cases, "inputs" and
"expected". Sent to the child as text: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import collections
import functools
import importlib
import linecache
import operator
import random
import sys
import time
import types

from engine.run.child import again, arrays, call_variants
from engine.run.child.exam import patterns
from engine.run.child.exam import targeting as leaning

MESSAGE = 2000  # characters of an exception's message that travel
FRAMES = 40


class RoleMissing(Exception):
    """The tree does not offer a name of the contract."""


class Learner:
    """The learner's public names by role: `learner.Embedding` imports and returns theirs."""

    def __init__(self, roles):
        self.__dict__["_roles"] = roles

    def __getattr__(self, role):
        if role not in self._roles:
            raise AttributeError("the pack has no role %r" % role)
        where = self._roles[role]
        module, _, name = where.partition(":")
        found = importlib.import_module(module)
        for part in name.split("."):
            if not hasattr(found, part):
                raise RoleMissing("%s has no %s" % (module, name))
            found = getattr(found, part)
        self.__dict__[role] = found
        return found


EACH = 8  # jobs, after which it is looked whether modules are as they were
WATCHED = ("builtins", "math", "random", "numpy", "numpy.linalg", "numpy.random")


class Watched:
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


def seed(number):
    """The global generators, as each job finds them."""
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % (1 << 32))


def readable(text):
    """Text without lone surrogates, which no terminal, file or JSON reader takes."""
    return text.encode("utf-8", "backslashreplace").decode()


def snapshot(value):
    """What a probe recorded -> a copy that can cross the wire and that nobody changes later."""
    if value is None or type(value) in (bool, int, float, str):
        if type(value) is str:
            return readable(value[:MESSAGE])
        if type(value) is int and abs(value) >= 1 << 63:
            return {"odd": "an integer of %d bits" % value.bit_length()}
        return value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        array = numpy.array(value, copy=True, subok=False)
        if array.dtype.name in ALLOWED:
            return array
        return {"odd": "an array of dtype %s" % array.dtype}
    if type(value) in (list, tuple):
        return {"list": [snapshot(item) for item in value[:10_000]]}
    return {"odd": "an object of type %s" % type(value).__name__}


ALLOWED = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ALLOWED += ("float16", "float32", "float64")


def writable(inputs):
    """Arrays as they come off the wire are read-only; the learner gets ordinary ones."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return inputs
    return {k: v.copy() if isinstance(v, numpy.ndarray) else v for k, v in inputs.items()}


def describe(error, trees):
    """An exception -> plain data: type, ancestors, message, and the frames of known trees."""
    kind = type(error)
    try:
        message = readable(str(error)[:MESSAGE])
    except BaseException:
        message = "(its message could not be shown)"
    frames = collections.deque(maxlen=FRAMES)
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        for tree in trees:
            relative = tree.relative(code.co_filename)
            if relative is not None:
                line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
                frames.append([relative, trace.tb_lineno, code.co_name, line[:200]])
                break
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        for tree in trees:
            relative = tree.relative(error.filename or "")
            if relative is not None:
                frames.append([relative, error.lineno or 0, "", (error.text or "").strip()[:200]])
    return {
        "type": readable(str(kind.__name__))[:200],
        "ancestors": [base.__name__ for base in kind.__mro__ if base is not object],
        "message": message,
        "frames": list(frames),
    }


def loaded(texts, component, name="call"):
    """The module of a component's call.py, under no name that a learner's package could have; or as a
    script, whose functions then look like its top level.
    """
    path = "pack/%s/call.py" % component
    module = types.ModuleType(name)
    module.__file__ = texts.path(path)
    code = texts.code(path)
    if name != "call":
        code = call_variants.renamed(code, "<module>" if name == "__main__" else name)
    exec(code, module.__dict__)
    return module


def probe_job(job, learner, trees, texts, watched, last=True):
    """One probe on the learner's tree: recorded values, exception, what it changed, seconds.

    watched: made before any of the learner's code ran. last: whether no other job follows.
    """
    values = {}

    def record(**named):
        for name, value in named.items():
            values[name] = snapshot(value)

    call_variant, repeats = job.get("call_variant", ""), job.get("repeats") or call_variants.REPEATS
    inputs = {name: arrays.laid_out(v, call_variant) for name, v in writable(job["inputs"]).items()}
    modified, plain = [], learner
    if job.get("made"):
        how = call_variants.How(
            call_variant, modified, then=job.get("then", ""), repeats=repeats,
            updates=job.get("updates", ""), learner=learner, turn=job.get("turn", 0),
        )  # fmt: skip
        learner = call_variants.Mannered(learner, job["made"], how)
    name = job.get("caller") or call_variants.named_as(call_variant, learner, job["seed"])
    probe = getattr(loaded(texts, job["component"], name), job["probe"])
    steady = True
    if call_variant in ("reused", "late"):
        begin = functools.partial(seed, job["seed"])
        who = plain if call_variant == "late" else learner
        steady = call_variants.rehearse(probe, who, inputs, call_variant, repeats, begin)
    seed(job["seed"])
    del modified[:]
    before = {name: arrays.digest(value) for name, value in inputs.items()}
    raised = None
    started = time.process_time()
    try:
        if call_variant == "outermost":
            call_variants.outermost(functools.partial(probe, learner, record, **inputs))
        else:
            depth = call_variants.DEPTH if call_variant == "nested" else 0
            call_variants.nested(depth, lambda: probe(learner, record, **inputs))
    except BaseException as error:  # whatever the learner's code throws is a measurement
        raised = describe(error, trees)
    seconds = time.process_time() - started
    changed = [name for name, value in inputs.items() if arrays.digest(value) != before[name]]
    if not steady:
        modified.append(again.AGAIN)
    changed += [*dict.fromkeys(modified), *watched.replaced(last)]
    if len(sys._current_frames()) > 1:  # whatever goes on beside may change what comes later
        changed.append("threading.threads")
    return {"values": values, "raised": raised, "changed": changed, "seconds": seconds}


def cast(value, kind):
    """Float arrays in the dtype `kind`, those in lists too; anything else as it is."""
    numpy = sys.modules["numpy"]
    if isinstance(value, numpy.ndarray) and value.dtype.kind == "f":
        with numpy.errstate(over="ignore"):
            return value.astype(kind)
    if isinstance(value, dict) and "list" in value:
        return {"list": [cast(item, kind) for item in value["list"]]}
    return value


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


class Names:
    """Collects what a reference records (compared) and names (intermediates, for injection).

    A reference computes in float64 whatever the learner uses; its arrays are rounded once, here.
    """

    def __init__(self, dtype):
        self.dtype = dtype
        self.recorded = {}
        self.named = {}

    def record(self, **named):
        for name, value in named.items():
            self.recorded[name] = cast(snapshot(value), self.dtype)

    def within(self, **bounds):
        """A statistic is right between two numbers, both included."""
        self.recorded.update({name: {"within": list(pair)} for name, pair in bounds.items()})

    def offered(self, **named):
        """Right where the learner's code has it; an error's name stands for code that has not."""
        for name, value in named.items():
            self.recorded[name] = {"offered": cast(snapshot(value), self.dtype)}

    def name(self, **named):
        self.named.update({name: snapshot(value) for name, value in named.items()})


def drawn(job):
    """Inputs of a probe; None where they should lean towards a number, follow a pattern or have settings
    of another regime, and cannot.
    """
    cases = importlib.import_module("pack.%s.cases" % job["component"])
    constraint = job.get("constraint")
    draw = getattr(cases, job["probe"])

    def made(constraint):
        rng = leaning.Leaning(job["seed"], constraint)
        inputs = draw(rng, job["regime"], job["dtype"])
        if constraint and constraint["kind"] == "size" and (not rng.leant or leaning.heavy(inputs)):
            return rng, None
        return rng, inputs

    if constraint and constraint["kind"] == "entries":
        return leaning.with_entries(lambda sized: made(sized)[1], constraint)
    rng, inputs = made(constraint)
    if inputs is None:
        return None
    if constraint and constraint["kind"] == "pattern":
        return patterns.patterned(rng, inputs, constraint["which"])
    if constraint and constraint["kind"] == "settings":
        others = (draw(rng, regime, job["dtype"]) for regime in constraint["regimes"])
        return leaning.with_settings(rng, inputs, others, constraint["settings"])
    if constraint and constraint["kind"] == "value":
        return leaning.leant_inputs(inputs, constraint["number"], constraint["which"])
    if constraint and constraint["also"]:
        return (
            leaning.leant_inputs(inputs, constraint["also"], constraint["way"], leaning.FAR)
            or inputs
        )
    return inputs


def case_job(job, trees):
    """Draw inputs from a seed (unless given) and run the reference on them, once per variant."""
    answer = {"inputs": job.get("inputs"), "expected": {}, "named": {}, "raised": None}
    try:
        if answer["inputs"] is None:
            try:
                answer["inputs"] = drawn(job)
            except Exception:
                if not job.get("constraint"):
                    raise
            if answer["inputs"] is None:
                answer["inputs"], answer["declined"] = {}, True
                return answer
        reference = importlib.import_module("pack.%s.reference" % job["component"])
        probe = getattr(reference, job["probe"])
        for variant in job["variants"]:
            names = Names(job["dtype"])
            raised = None
            inputs = {name: cast(value, "float64") for name, value in answer["inputs"].items()}
            try:
                probe(names, variant or None, **writable(inputs))
            except Exception as error:
                raised = describe(error, trees)
                raised["mentions"] = [str(part) for part in getattr(error, "mentions", ())]
            answer["expected"][variant] = {"values": names.recorded, "raised": raised}
            if not variant:
                answer["named"] = names.named
    except Exception as error:
        answer["raised"] = describe(error, trees)
    return answer
