"""The tape: one list of everything that was computed, in the order it was computed.

Nodes know nothing of each other. A forward pass appends Records; backward()
reads the list from the end to the beginning and every record whose output has
received a gradient hands it on to its inputs. Order on the tape *is* the
topological order, so there is nothing to sort.

The tape holds the inputs of a record but only a weak reference to its output.
When the last user of a result is gone nobody can ever ask for its gradient, and
sweep() throws the record away (which frees its inputs, which lets the records
before it go as well: one pass from the end is enough).
"""

import weakref
from contextlib import contextmanager

import numpy as np

from .operations import unbroadcast


class Record:
    __slots__ = ("operation", "inputs", "saved", "_output")

    def __init__(self, operation, inputs, output, saved):
        self.operation = operation
        self.inputs = inputs
        self.saved = saved
        self._output = weakref.ref(output)

    @property
    def output(self):
        """The tensor this record made, None once it is gone."""
        return self._output()


class Tape:
    __slots__ = ("_records", "_sweep_at", "_pauses")

    def __init__(self):
        self._records = []
        self._sweep_at = 64
        self._pauses = 0

    def __len__(self):
        return len(self._records)

    @property
    def recording(self):
        return self._pauses == 0

    @contextmanager
    def paused(self):
        """Inside `with tape.paused():` results are plain numbers, without a history."""
        self._pauses += 1
        try:
            yield self
        finally:
            self._pauses -= 1

    def record(self, operation, inputs, output, saved):
        self._records.append(Record(operation, inputs, output, saved))
        if len(self._records) > self._sweep_at:
            self.sweep()

    def sweep(self):
        """Drop the records nobody can reach any more."""
        records = self._records
        kept = []
        while records:
            record = records.pop()
            if record.output is not None:
                kept.append(record)
        records.extend(reversed(kept))
        # twice the living: the cost of sweeping stays a constant per record
        self._sweep_at = 2 * len(records) + 64

    def replay(self, tensor, grad):
        """Play the tape backwards from `tensor`; what is left over belongs to leaves."""
        self.sweep()  # the last step's graph is gone by now, do not wade through it
        pending = {id(tensor): (tensor, grad)}
        for record in reversed(self._records):
            output = record.output
            if output is None or id(output) not in pending:
                continue
            _, grad = pending.pop(id(output))
            grads = record.operation.backward(grad, record.saved)
            for source, g in zip(record.inputs, grads):
                if g is None or not source.requires_grad:
                    continue
                g = unbroadcast(np.asarray(g), source.shape).astype(source.dtype, copy=False)
                if id(source) in pending:
                    g = pending[id(source)][1] + g
                pending[id(source)] = (source, g)
        for leaf, g in pending.values():
            # always a new array: nobody else's must change under them
            leaf.grad = np.array(g if leaf.grad is None else leaf.grad + g, dtype=leaf.dtype)


TAPE = Tape()
