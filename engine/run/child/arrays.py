"""The arrays among arguments, and how for a while they hold other numbers, or lie elsewhere in memory.

Sent to the child as text: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import hashlib
import sys

from engine.run.child import wire

SMALLER = 0.75  # what scrambled numbers are multiplied with
LITTLE = 1 << 16  # bytes of an array that are kept as they are, to be compared


def data_of(argument):
    """The array of a tensor; anything else as it is."""
    numpy = sys.modules.get("numpy")
    data = getattr(argument, "data", None)
    return data if numpy is not None and isinstance(data, numpy.ndarray) else argument


def floats(arguments):
    """The arrays of floats among arguments, and those of tensors."""
    return [array for array in arrays_of(arguments) if array.dtype.kind == "f"]


def arrays_of(arguments):
    """The arrays among arguments, and those of tensors, that may be written to: views that show a number in
    several places may not.
    """
    numpy = sys.modules.get("numpy")
    arrays = [data_of(argument) for argument in arguments]
    arrays = [a for a in arrays if isinstance(a, numpy.ndarray) and a.dtype.kind in "fiub"]
    return [a for a in arrays if a.flags.writeable]


def arrays_in(inputs):
    """The arrays among the inputs of a probe."""
    numpy = sys.modules.get("numpy")
    return [v for v in inputs.values() if numpy is not None and isinstance(v, numpy.ndarray)]


def numbers_of(one):
    """The arrays of its parameters; none, where it does not tell."""
    try:
        return floats(one.parameters())
    except Exception:
        return []


def twice_as_long(argument):
    """Every position twice."""
    numpy = sys.modules["numpy"]
    return along(argument, lambda array, axis: numpy.concatenate([array, array], axis))


def first_alone(argument):
    """The first position."""
    return along(argument, lambda array, axis: array.take([0], axis))


def along(argument, change):
    """A tensor or an array, its positions changed: the last axis of integers, else the one before it."""
    array = data_of(argument)
    numpy = sys.modules["numpy"]
    if not isinstance(array, numpy.ndarray):
        return argument
    axis = -1 if array.dtype.kind in "iu" else -2
    if array.ndim < -axis:
        return argument
    changed = change(array, axis)
    return changed if array is argument else type(argument)(changed)


def scramble(array):
    """Put its numbers into another order, a little smaller, so that no sum of them is what it was; only
    the first stays what and where it is.
    """
    if array.size > 1:
        array.flat[1:] = SMALLER * array.ravel()[:0:-1]


class scrambled:
    """Within, arrays hold their numbers in another order, or those that are given; or what `change` makes
    of them.

    What is raised within is dropped: it is the time afterwards that counts.
    """

    def __init__(self, arrays, given=(), change=scramble):
        self._arrays, self._given, self._change = arrays, given, change

    def __enter__(self):
        self._kept = [array.copy() for array in self._arrays]
        for array in self._arrays:
            self._change(array)
        for array, numbers in zip(self._arrays, self._given):
            array[...] = numbers

    def __exit__(self, kind, error, trace):
        for array, was in zip(self._arrays, self._kept):
            array[...] = was
        return True


def digest_of(argument):
    """Of an array or a tensor; None for anything else, which may be there to be changed."""
    data = data_of(argument)
    numpy = sys.modules.get("numpy")
    return digest(data) if numpy is not None and isinstance(data, numpy.ndarray) else None


def digest(value):
    """What equals another digest only where the values are the same."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        data = value.tobytes()
        return value.shape, data if len(data) < LITTLE else hashlib.blake2b(data).digest()
    tensor = wire.ARRAYS.sent(value) if wire.ARRAYS is not None else None
    if isinstance(tensor, wire.Raw):
        return tensor.shape, tensor.data
    return repr(value).encode()
