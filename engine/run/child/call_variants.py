"""Call variants: ways to call the same code that must not matter to it. Honest mistakes live here: a layer
that stays in training mode, a cache that outlives its call, a buffer of the caller's that is kept or
overwritten, a stride that is taken for granted. See `types.Draw`.

In a fix the healthy code is measured in the same variant, so code that never could do it loses nothing;
builds are held to the variants that the contract promises. tests/judge/test_call_variants.py has a trick
for each that only it sees. The variants that no honest code meets are in child/exam/.

Sent to the child as text: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import inspect
import sys

from engine.run.child.arrays import (
    arrays_in,
    data_of,
    first_alone,
    floats,
    numbers_of,
    scramble,
    scrambled,
    twice_as_long,
)
from engine.run.child.calls import CallVariant


class Mode(CallVariant):
    """After a method of the contract's, such as `eval`."""

    def ready(self, one):
        change = getattr(one, self.job["call_variant"], None)
        if callable(change):
            change()


class Direct(CallVariant):
    """`forward` called by itself."""

    def call(self, one, call, args, named):
        if callable(getattr(one, "forward", None)):
            return one.forward(*args, **named)
        return call(*args)


class Fortran(CallVariant):
    """Arrays with their first axis innermost in memory."""

    def lay_out(self, array):
        return sys.modules["numpy"].asfortranarray(array)


class Strided(CallVariant):
    """Arrays that are every other number of a larger one."""

    def lay_out(self, array):
        wide = sys.modules["numpy"].zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]


class Reused(CallVariant):
    """Arrays that held other numbers a moment before: whoever keeps them has what is there no more."""

    def rehearse(self, probe, inputs, learner, begin):
        begin()
        with scrambled(arrays_in(inputs)):
            probe(learner, {}.update, **inputs)
        return ()


class Primed(CallVariant):
    """Called before and afterwards with other numbers: what is kept of an earlier call is stale, and what the
    graph needs must not be what the next call writes to.
    """

    def __init__(self, job, learner):
        super().__init__(job, learner)
        self.mode_first = self.turn // 2 % 2 > 0
        self._births = {}  # what was made, by its id, with its parameters' first numbers

    def made(self, one, kind, args, named):
        self._births[id(one)] = one, [array.copy() for array in numbers_of(one)]

    def before_instance(self, one, call, args):
        """Call it with the numbers that its parameters were made with, then with other numbers in its
        arguments, then in its parameters, and put theirs back; or these two the other way round. What is
        kept for these arguments is stale after the one, what is kept of the last call after the other.
        """
        arrays = numbers_of(one)
        births = self._births.pop(id(one), (one, []))[1]
        if [array.shape for array in arrays] == [array.shape for array in births]:
            with scrambled(arrays, births):
                call(*args)
        groups = [floats(args), arrays]
        if self.mode:
            groups.reverse()
        for group in groups:
            with scrambled(group):
                call(*args)
        mode = getattr(one, self.mode, None)
        if callable(mode):
            mode()

    def before_function(self, call, args):
        with scrambled(floats(args)):
            call(*args)

    def after(self, call, args):
        with scrambled(floats(args)):
            call(*args)


class Resized(CallVariant):
    """Called before with twice as many positions, and then with one alone: what counts them, or keeps what
    belongs to the sequence so far, goes on from there. Where these do not fit there is no such call.
    """

    mode_first = True

    def before_instance(self, one, call, args):
        self.before_function(call, args)

    def before_function(self, call, args):
        for some in (twice_as_long, first_alone):
            try:
                call(*(some(argument) for argument in args))
            except Exception:
                pass


class Stepped(CallVariant):
    """Called before an optimiser's step that moved the parameters: whoever keeps their arrays has old
    ones.
    """

    mode_first = True

    def before_instance(self, one, call, args):
        """Have an optimiser put new arrays into its parameters, call it with other numbers in those, and
        have them replaced once more. The arrays that it had, which a graph may hold, stay as they are.
        """
        try:
            parameters = list(one.parameters())
            kept = [(p, p.data, p.data.copy(), p.grad) for p in parameters]
        except Exception:
            return
        try:
            self._replace(parameters)
            fresh = [p.data for p, array, _, _ in kept if p.data is not array]
            for array in fresh:
                scramble(array)
            if fresh:
                call(*args)
                self._replace(parameters)
        except Exception:  # there is no optimiser, or the call that counts will say so
            pass
        for p, _, numbers, grad in kept:
            p.data[...] = numbers
            p.grad = grad

    def _replace(self, parameters):
        """A step of the learner's optimiser that leaves every number as it is."""
        for p in parameters:
            p.grad = 0 * p.data
        getattr(self.learner, self.job.get("updates", ""))(parameters, lr=1.0).step()


class Doubled(CallVariant):
    """Two calls in one graph, which get different gradients: whoever keeps what a backward pass needs on the
    instance has that of the last call alone.
    """

    def combined(self, result, again):
        """A quarter of a tensor, and three quarters of what the same call gives once more: the same numbers.
        As it is, where it is no tensor.
        """
        data = data_of(result)
        if (
            data is result
            or getattr(data, "dtype", None) is None
            or not hasattr(result, "backward")
        ):
            return result
        try:
            both = result * 0.25 + again() * 0.75
            fits = data_of(both).dtype == data.dtype and data_of(both).shape == data.shape
        except Exception:  # whoever needs it will say so
            return result
        return both if fits else result


class Beside(CallVariant):
    """Beside others of its kind, with other settings, that were made later: whoever keeps settings on the
    class has theirs.
    """

    def __init__(self, job, learner):
        super().__init__(job, learner)
        self._others = {}  # what was made, by its id, with others of its kind

    def made(self, one, kind, args, named):
        self._others[id(one)] = one, self._more(kind, args, named)

    def _more(self, made, args, named):
        """More of the same class, each with one setting changed that was given or is there by default; which
        comes last, and so stands wherever all of them write, is another one each time: at an odd turn one
        from the other half than at the even turn before.
        """
        settings = dict(enumerate(args))
        try:
            asked = list(inspect.signature(made).parameters.values())[len(args) :]
            settings.update((p.name, p.default) for p in asked)
        except (TypeError, ValueError):
            pass
        settings.update(named)
        turned = [(k, other) for k, value in settings.items() for other in self.like(value)]
        last = (self.turn // 2 + self.turn % 2 * (len(turned) // 2)) % max(1, len(turned))
        found = []
        for key, other in turned[last:] + turned[:last]:
            mine = {**named, key: other} if isinstance(key, str) else dict(named)
            if (
                mine.get("rng") is not None
            ):  # the one that was given goes on as if nothing were made
                mine["rng"] = sys.modules["numpy"].random.default_rng(0)
            try:
                found.append(made(*(other if i == key else a for i, a in enumerate(args)), **mine))
            except Exception:  # it does not fit the rest
                pass
        return found

    def like(self, value):
        """Other settings of this kind: a size three times as large, say; none, where there is none. What was
        made before may be a setting, too: then another of its kind.
        """
        if type(value) is bool:
            return [not value]
        if type(value) is int and value > 1:
            return [3 * value, 1]  # what has to divide a width that stays may not be larger
        if type(value) in (int, float):
            return [3 * value]
        return self._others[id(value)][1][:1] if id(value) in self._others else []


CALL_VARIANTS = {
    "": CallVariant,
    "direct": Direct,
    "fortran": Fortran,
    "strided": Strided,
    "reused": Reused,
    "primed": Primed,
    "resized": Resized,
    "stepped": Stepped,
    "doubled": Doubled,
    "beside": Beside,
}
