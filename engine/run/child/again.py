"""Whether the same call gives the same result, each time that it is made.

Sent to the child as text: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import sys

from engine.run.child.arrays import data_of

AGAIN = "calls.again"  # among what a call has changed: its next result
ROUNDINGS = 1e4  # that two results of a call may be apart, as where arrays lie elsewhere in memory


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
