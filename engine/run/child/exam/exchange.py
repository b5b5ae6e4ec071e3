"""The call variant "swapped": called before with two inner numbers exchanged. Whoever keeps a result by the
first and last numbers, the shape and the sum of its inputs, as no honest cache does, gives the old one.

Sent to the child at the level exam: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import sys

from engine.run.child.arrays import arrays_of, numbers_of, scrambled
from engine.run.child.calls import CallVariant

TRIES = 8  # pairs of numbers to be exchanged


class Swapped(CallVariant):
    """Called with two numbers of each argument exchanged, and with two of each parameter, in turn the one or
    the other last.
    """

    mode_first = True

    def before_instance(self, one, call, args):
        groups = [arrays_of(args), numbers_of(one)]
        if self.turn // 2 % 2:
            groups.reverse()
        for group in groups:
            with exchanged(group, self.turn):
                call(*args)

    def before_function(self, call, args):
        with exchanged(arrays_of(args), self.turn):
            call(*args)


CALL_VARIANTS = {"swapped": Swapped}


def exchanged(arrays, turn):
    """Within, two inner numbers of each array are exchanged, or nearer to each other."""
    return scrambled(arrays, change=lambda array: exchange(array, turn))


def exchange(array, turn):
    """Exchange two numbers of the second row or, four turns in eight, of the one in the middle; bring them
    nearer to each other, every other turn, where they are floats. Both ends, the first and the last row
    and, where that can be, the sum stay what they are.
    """
    if not array.size or not array.ndim:
        return
    lead = array.shape[:-1]
    rows = array.size // array.shape[-1]
    which = rows // 2 if turn % 8 > 3 else min(1, rows - 1)
    row = array[sys.modules["numpy"].unravel_index(which, lead)] if lead else array
    inner = range(1, len(row) - 1) if len(row) > 3 else range(len(row))
    pairs = [(i, j) for i, j in zip(inner, inner[1:]) if row[i] != row[j]][:TRIES]
    if turn % 2 and array.dtype.kind == "f":
        for i, j in pairs[:1]:
            row[i], row[j] = 0.75 * row[i] + 0.25 * row[j], 0.25 * row[i] + 0.75 * row[j]
        return
    total = array.sum()
    for i, j in pairs:
        row[i], row[j] = row[j], row[i]
        if array.sum() == total:
            return
        row[i], row[j] = row[j], row[i]
    for i, j in pairs[:1]:  # the sum differs in its last bit
        row[i], row[j] = row[j], row[i]
