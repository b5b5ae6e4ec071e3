"""The call variants in which a probe is run: what must not matter to right code, such as a mode, the order
of calls, where an array lies in memory, or who calls. See `types.Draw`.

A child wraps what it hands to `call.py`; nothing of the learner's own is changed. Sent to the child
as text: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import _thread
import collections
import functools
import inspect
import operator
import sys
import time
import types

from engine.run.child.again import AGAIN, Results
from engine.run.child.arrays import (
    arrays_of,
    data_of,
    digest_of,
    exchange,
    first_alone,
    floats,
    scramble,
    scrambled,
    twice_as_long,
)

REPEATS = 300  # of a probe, before it counts, in the call variant "late"
AFTERWARDS = ("stepped", "swapped", "resized")  # in which a mode comes first, by turns
DEPTH = 60  # frames, in the call variant "nested"
SOON = (
    0.0002  # seconds between looks at whether a thread has ended, in the call variant "outermost"
)


class How:
    """A call variant, and what it takes.

    changed: gets the names of arguments that a call has modified. then: the mode after priming, and
    before what comes first in AFTERWARDS.
    repeats: of a call, in the call variant "late". updates: the role of an optimiser, in "stepped".
    turn: which setting the last of the others differs in, in "beside".
    """

    def __init__(
        self, call_variant, changed, *, then="", repeats=REPEATS, updates="", learner=None, turn=0
    ):
        self.call_variant, self.changed, self.then, self.repeats = (
            call_variant,
            changed,
            then,
            repeats,
        )
        self._updates, self._learner, self.turn = updates, learner, turn
        self.early = turn // 2 % 2 > 0  # whether that mode comes before priming, too
        self.others = {}  # what was made, by its id, with others of its kind, in "beside"
        self.births = {}  # what was made, by its id, with its parameters' first numbers, in "primed"

    def step(self, parameters):
        """A step of the learner's optimiser that leaves every number as it is."""
        getattr(self._learner, self._updates)(parameters, lr=1.0).step()


class Mannered:
    """The learner's names, where what some roles make is put into a mode, and its calls watched."""

    def __init__(self, learner, roles, how):
        self._learner, self._roles, self._how = learner, roles, how

    def __getattr__(self, role):
        found = getattr(self._learner, role)
        if role in self._roles:
            return Maker(found, self._how)
        if type(found) is types.FunctionType:
            return unchanging(found, self._how.changed, self._how.call_variant, self._how.turn)
        return found


class Maker:
    """A class of the learner's, for calls; everything else is passed on."""

    def __init__(self, made, how):
        self._made, self._how = made, how

    def __call__(self, *args, **named):
        one = self._made(*args, **named)
        if self._how.call_variant == "beside":
            self._how.others[id(one)] = one, others(self._made, args, named, self._how)
        if self._how.call_variant == "primed":
            self._how.births[id(one)] = one, [array.copy() for array in numbers_of(one)]
        watch(one, self._how)
        call_variant = self._how.call_variant
        if call_variant not in ("", "direct") and callable(getattr(one, call_variant, None)):
            getattr(one, call_variant)()
        return one

    def __getattr__(self, name):
        return getattr(self._made, name)


def others(made, args, named, how):
    """More of the same class, each with one setting changed that was given or is there by default; which
    comes last, and so stands wherever all of them write, is another one each time.
    """
    settings = dict(enumerate(args))
    try:
        asked = list(inspect.signature(made).parameters.values())[len(args) :]
        settings.update((p.name, p.default) for p in asked)
    except (TypeError, ValueError):
        pass
    settings.update(named)
    turned = [(key, other) for key, value in settings.items() for other in like(value, how.others)]
    last = how.turn % max(1, len(turned))
    found = []
    for key, other in turned[last:] + turned[:last]:
        mine = {**named, key: other} if isinstance(key, str) else dict(named)
        if mine.get("rng") is not None:  # the one that was given goes on as if nothing were made
            mine["rng"] = sys.modules["numpy"].random.default_rng(0)
        try:
            found.append(made(*(other if i == key else a for i, a in enumerate(args)), **mine))
        except Exception:  # it does not fit the rest
            pass
    return found


def like(value, known):
    """Other settings of this kind: a size three times as large, say; none, where there is none.

    known: what was made before, which may be a setting, with others of its kind.
    """
    if type(value) is bool:
        return [not value]
    if type(value) is int and value > 1:
        return [3 * value, 1]  # what has to divide a width that stays may not be larger
    if type(value) in (int, float):
        return [3 * value]
    return known[id(value)][1][:1] if id(value) in known else []


def unchanging(function, changed, call_variant="", turn=0):
    """A function of the learner's; arguments that it modifies are told.

    "primed": before and afterwards call it with the same tensors and arrays, other numbers in them;
    "swapped": before, with two of their numbers exchanged; "resized": with other lengths; "doubled": once
    more. Not where it is given a generator, a model or an optimiser, which each call changes.
    """

    def call(*args, **named):
        alone = all(map(plain, (*args, *named.values())))
        apart = call_variant == "primed" and alone
        if call_variant == "resized" and alone:
            resize(lambda *other: function(*other, **named), args)
        if call_variant == "swapped" and alone:
            with exchanged(arrays_of(args), turn):
                function(*args, **named)
        if apart:
            with scrambled(floats(args)):
                function(*args, **named)
        before = [digest_of(argument) for argument in args]
        result = function(*args, **named)
        if call_variant == "doubled" and alone:
            result = doubled(result, lambda: function(*args, **named))
        tell(changed, function, args, before)
        if apart:
            with scrambled(floats(args)):
                function(*args, **named)
        return result

    return call


def tell(changed, called, args, before):
    """Names the arguments that are not what they were."""
    for number, argument in enumerate(args):
        if digest_of(argument) != before[number]:
            changed.append("argument %d of %s" % (number + 1, called.__name__))


def watch(one, how):
    """Calls of an object pass through here, if its class can be extended."""
    kind = type(one)
    called = []

    def call(self, *args, **named):
        mode = getattr(self, how.then, None)
        if callable(mode) and (
            how.call_variant in AFTERWARDS or (how.call_variant == "primed" and how.early)
        ):
            mode()
        if how.call_variant == "late" and not called:
            called.append(True)
            call_again = functools.partial(kind.__call__, self, *args, **named)
            if tire(call_again, how.repeats, floats(args)):
                how.changed.append(AGAIN)
        if how.call_variant == "stepped":
            move(self, kind, args, named, how)
        if how.call_variant == "resized":
            resize(lambda *other: kind.__call__(self, *other, **named), args)
        if how.call_variant == "swapped":
            swap(self, kind, args, named, how)
        if how.call_variant == "primed":
            prime(self, kind, args, named, how)
            if callable(mode):
                mode()
        before = [digest_of(argument) for argument in args]
        direct = how.call_variant == "direct" and callable(getattr(self, "forward", None))
        result = self.forward(*args, **named) if direct else kind.__call__(self, *args, **named)
        if how.call_variant == "doubled":
            result = doubled(result, lambda: kind.__call__(self, *args, **named))
        tell(how.changed, kind, args, before)
        if (
            how.call_variant == "primed"
        ):  # what the graph needs must not be what the next call writes to
            with scrambled(floats(args)):
                kind.__call__(self, *args, **named)
        return result

    names = {"__call__": call, "__slots__": (), "__module__": kind.__module__}
    names["__qualname__"] = kind.__qualname__
    if callable(one):
        try:
            one.__class__ = type(kind)(kind.__name__, (kind,), names)
        except Exception:  # then it is called as it is
            pass


def doubled(one, again):
    """A quarter of a tensor, and three quarters of what the same call gives once more: the same numbers, in
    a graph with two calls that get different gradients. As it is, where it is no tensor.
    """
    data = data_of(one)
    if data is one or getattr(data, "dtype", None) is None or not hasattr(one, "backward"):
        return one
    try:
        both = one * 0.25 + again() * 0.75
        fits = data_of(both).dtype == data.dtype and data_of(both).shape == data.shape
    except Exception:  # whoever needs it will say so
        return one
    return both if fits else one


def plain(argument):
    """Whether calling something with it leaves it as it is: a tensor, an array, a number, a text."""
    numpy = sys.modules.get("numpy")
    kinds = (type(None), bool, int, float, str, *((numpy.ndarray, numpy.generic) if numpy else ()))
    return isinstance(data_of(argument), kinds)


def numbers_of(one):
    """The arrays of its parameters; none, where it does not tell."""
    try:
        return floats(one.parameters())
    except Exception:
        return []


def prime(one, kind, args, named, how):
    """Call it with the numbers that its parameters were made with, then with other numbers in its
    arguments, then in its parameters, and put theirs back; or these two the other way round. What is kept
    for these arguments is stale after the one, what is kept of the last call after the other.
    """
    arrays = numbers_of(one)
    births = how.births.pop(id(one), (one, []))[1]
    if [array.shape for array in arrays] == [array.shape for array in births]:
        with scrambled(arrays, births):
            kind.__call__(one, *args, **named)
    groups = [floats(args), arrays]
    if how.then:
        groups.reverse()
    for group in groups:
        with scrambled(group):
            kind.__call__(one, *args, **named)


def swap(one, kind, args, named, how):
    """Call it with two numbers of each argument exchanged, and with two of each parameter, in turn the
    one or the other last.
    """
    groups = [arrays_of(args), numbers_of(one)]
    if how.turn // 2 % 2:
        groups.reverse()
    for group in groups:
        with exchanged(group, how.turn):
            kind.__call__(one, *args, **named)


def exchanged(arrays, turn):
    """Within, two inner numbers of each array are exchanged, or nearer to each other."""
    return scrambled(arrays, change=lambda array: exchange(array, turn))


def resize(call, args):
    """Call it with twice as many positions, and then with one alone: what counts them, or keeps what
    belongs to the sequence so far, goes on from there. Where these do not fit there is no such call.
    """
    for some in (twice_as_long, first_alone):
        try:
            call(*(some(argument) for argument in args))
        except Exception:
            pass


def move(one, kind, args, named, how):
    """Have an optimiser put new arrays into its parameters, call it with other numbers in those, and
    have them replaced once more. The arrays that it had, which a graph may hold, stay as they are.
    """
    try:
        parameters = list(one.parameters())
        kept = [(p, p.data, p.data.copy(), p.grad) for p in parameters]
    except Exception:
        return
    try:
        replace(parameters, how)
        fresh = [p.data for p, array, _, _ in kept if p.data is not array]
        for array in fresh:
            scramble(array)
        if fresh:
            kind.__call__(one, *args, **named)
            replace(parameters, how)
    except Exception:  # there is no optimiser, or the call that counts will say so
        pass
    for p, _, numbers, grad in kept:
        p.data[...] = numbers
        p.grad = grad


def replace(parameters, how):
    """A step of an optimiser that leaves every number as it is."""
    for p in parameters:
        p.grad = 0 * p.data
    how.step(parameters)


def rehearse(probe, learner, inputs, call_variant, repeats, begin=lambda: None):
    """What comes before the run that counts: on the same arrays, with other numbers in them. Whether it
    recorded the same each time.

    begin: called before each.
    """
    numpy = sys.modules.get("numpy")
    arrays = [v for v in inputs.values() if numpy is not None and isinstance(v, numpy.ndarray)]
    results = Results()
    for _ in range(repeats if call_variant == "late" else 1):
        recorded = {}
        begin()
        with scrambled(arrays):
            probe(learner, recorded.update, **inputs)
        results.add(recorded)
    return not results.differ


def tire(call, repeats, arrays):
    """The same call many times, at last with other numbers in `arrays`; whether its result was another one
    some time. What it raises the one that counts will.
    """
    results = Results()
    try:
        for _ in range(repeats):
            results.add(call())
        with scrambled(arrays):
            call()
    except Exception:
        pass
    return results.differ


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


def named_as(call_variant, learner, number):
    """The name of the module that calls: in the call variant "inside" one of the learner's, by turns."""
    if call_variant == "inside":
        modules = sorted({where.partition(":")[0] for where in learner._roles.values()})
        return modules[number % len(modules)]
    return "__main__" if call_variant in ("nested", "outermost") else "call"
