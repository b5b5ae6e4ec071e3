"""The call variant "late": hundreds of calls before the one that counts, each of which must have given what
the first one gave. Code that is wrong every hundredth time is right in all that count.

Sent to the child at the level exam: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import sys

from engine.run.child.arrays import arrays_in, data_of, floats, scrambled
from engine.run.child.calls import CallVariant

REPEATS = 300  # of a probe, before it counts, where the draw does not say
AGAIN = "calls.again"  # among what a call has changed: its next result
ROUNDINGS = 1e4  # that two results of a call may be apart, as where arrays lie elsewhere in memory


class Late(CallVariant):
    """Hundreds of times before: of the probe, and then of the first call of each instance."""

    def __init__(self, job, learner):
        super().__init__(job, learner)
        self._repeats = job.get("repeats") or REPEATS
        self._called = {}  # instances, by their id

    def rehearse(self, probe, inputs, learner, begin):
        """The same arrays with other numbers in them; calls of the learner's that nobody watches."""
        arrays, results = arrays_in(inputs), Results()
        for _ in range(self._repeats):
            recorded = {}
            begin()
            with scrambled(arrays):
                probe(self.learner, recorded.update, **inputs)
            results.add(recorded)
        return (AGAIN,) if results.differ else ()

    def before_instance(self, one, call, args):
        if id(one) not in self._called:
            self._called[id(one)] = one
            if differs(lambda: call(*args), self._repeats, floats(args)):
                self.changed.append(AGAIN)


CALL_VARIANTS = {"late": Late}


def differs(call, repeats, arrays):
    """Whether the same call, made many times, at last with other numbers in `arrays`, gave another result
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


class Results:
    """Results of one call, each held against the first."""

    def __init__(self):
        self._first = None
        self.differ = False

    def add(self, result):
        """Keeps the first; of the others it is noted whether one differs."""
        numbers = list(leaves(result))
        if self._first is None:
            self._first = numbers
        elif len(numbers) != len(self._first) or not all(map(alike, self._first, numbers)):
            self.differ = True


def leaves(value):
    """The arrays and numbers of a result, of tuples, lists and dicts of tensors; copies of arrays."""
    numpy = sys.modules.get("numpy")
    if isinstance(value, dict):
        value = list(value.values())
    if type(value) in (tuple, list):
        for item in value:
            for leaf in leaves(item):
                yield leaf
        return
    value = data_of(value)
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        value = numpy.array(value)
    elif type(value) is float and numpy is not None:
        value = numpy.asarray(value)
    yield value


def alike(one, other):
    """Whether two leaves are the same but for rounding. What is neither array nor number tells nothing."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(one, numpy.ndarray):
        plain = one is None or type(one) in (bool, int, str)
        return type(one) is type(other) and (one == other if plain else True)
    if not isinstance(other, numpy.ndarray) or (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    if one.dtype.kind != "f" or numpy.array_equal(one, other):
        return bool(numpy.array_equal(one, other))
    finite = numpy.isfinite(one)
    if not numpy.array_equal(finite, numpy.isfinite(other)):
        return False
    if not numpy.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    bound = ROUNDINGS * numpy.finfo(one.dtype).eps * max(1.0, abs(one[finite]).max(initial=0.0))
    return bool((abs(one[finite] - other[finite]) <= bound).all())
