"""Calls of a learner's code, watched: what a call variant does before and after them, and which arguments
they modify. The variants are in call_variants.py.

A child wraps what it hands to `call.py`; nothing of the learner's own is changed. Sent to the child as
text: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import functools
import sys
import types

from engine.run.child.arrays import data_of, digest_of


class CallVariant:
    """A call as it is. Each variant overrides what it does otherwise.

    job: as the parent sent it. learner: their names, as they are.
    turn: how many draws of the component came in this variant before. mode: the method that puts an
    instance into another mode, of those variants that make calls before the one that counts; "" for none.
    changed: gets the names of arguments that a call has modified.
    """

    mode_first = False  # whether the mode comes before the first of the calls

    def __init__(self, job, learner):
        self.job, self.learner = job, learner
        self.turn, self.mode = job.get("turn", 0), job.get("then", "")
        self.changed = []

    def lay_out(self, array):
        """The same array, perhaps elsewhere in memory."""
        return array

    def caller(self, code):
        """The name of the module that calls, which no package of a learner's could have, and its code."""
        return "call", code

    def rehearse(self, probe, inputs, learner, begin):
        """What comes before the run that counts: names of what it has found to be wrong. begin: called before
        each other run.
        """
        return ()

    def run(self, call):
        """The run that counts."""
        call()

    def made(self, one, kind, args, named):
        """An instance of this class was made."""

    def ready(self, one):
        """Its calls are watched now."""

    def before(self, one, call, args):
        """Comes before each call of an instance: `call` is the same with other arguments."""
        mode = getattr(one, self.mode, None)
        if self.mode_first and callable(mode):
            mode()
        self.before_instance(one, call, args)

    def before_instance(self, one, call, args):
        """The same, in the mode that comes first."""

    def before_function(self, call, args):
        """Comes before each call of a function that is given nothing but arrays, numbers and texts."""

    def call(self, one, call, args, named):
        """What the call of an instance gives."""
        return call(*args)

    def combined(self, result, again):
        """What stands for the result."""
        return result

    def after(self, call, args):
        """Comes after each call of an instance or a function."""


class Watched:
    """The learner's names, where what some roles make is given to a call variant, and its calls watched."""

    def __init__(self, learner, roles, variant):
        self._learner, self._roles, self._variant = learner, roles, variant

    def __getattr__(self, role):
        found = getattr(self._learner, role)
        if role in self._roles:
            return Maker(found, self._variant)
        if type(found) is types.FunctionType:
            return watched_function(found, self._variant)
        return found


class Maker:
    """A class of the learner's, for calls; everything else is passed on."""

    def __init__(self, made, variant):
        self._made, self._variant = made, variant

    def __call__(self, *args, **named):
        one = self._made(*args, **named)
        self._variant.made(one, self._made, args, named)
        watch(one, self._variant)
        self._variant.ready(one)
        return one

    def __getattr__(self, name):
        return getattr(self._made, name)


def watched_function(function, variant):
    """A function of the learner's; arguments that it modifies are told.

    It is called for the variant's sake only where that leaves its arguments as they are: not where it is
    given a generator, a model or an optimiser, which each call changes.
    """

    def call(*args, **named):
        alone = all(map(plain, (*args, *named.values())))
        again = functools.partial(function, **named)
        if alone:
            variant.before_function(again, args)
        before = [digest_of(argument) for argument in args]
        result = function(*args, **named)
        if alone:
            result = variant.combined(result, functools.partial(again, *args))
        note_changes(variant.changed, function, args, before)
        if alone:
            variant.after(again, args)
        return result

    return call


def watch(one, variant):
    """Calls of an object pass through here, if its class can be extended."""
    kind = type(one)

    def call(self, *args, **named):
        again = functools.partial(kind.__call__, self, **named)
        variant.before(self, again, args)
        before = [digest_of(argument) for argument in args]
        result = variant.call(self, again, args, named)
        result = variant.combined(result, functools.partial(again, *args))
        note_changes(variant.changed, kind, args, before)
        variant.after(again, args)
        return result

    names = {"__call__": call, "__slots__": (), "__module__": kind.__module__}
    names["__qualname__"] = kind.__qualname__
    if callable(one):
        try:
            one.__class__ = type(kind)(kind.__name__, (kind,), names)
        except Exception:  # then it is called as it is
            pass


def note_changes(changed, called, args, before):
    """Names the arguments that are not what they were."""
    for number, argument in enumerate(args):
        if digest_of(argument) != before[number]:
            changed.append("argument %d of %s" % (number + 1, called.__name__))


def plain(argument):
    """Whether calling something with it leaves it as it is: a tensor, an array, a number, a text."""
    numpy = sys.modules.get("numpy")
    kinds = (type(None), bool, int, float, str, *((numpy.ndarray, numpy.generic) if numpy else ()))
    return isinstance(data_of(argument), kinds)
