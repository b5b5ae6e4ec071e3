"""Which functions of a tree run in each job. What a change to a function can alter runs that function.

Sent to the child as text: standard library only.
"""

from __future__ import annotations

import sys


class Coverage:
    """The functions of a tree that ran, as numbers into a table that grows.

    A function that runs while modules are imported may leave its mark on whatever comes later, so it
    counts for all later jobs.
    """

    def __init__(self, tree):
        self._tree = tree
        self._numbers = {}  # by code object; None for what is not the tree's
        self._sent = 0
        self._table = []
        self._always = set()
        self._called = set()
        self._modules = 0
        called = self._called

        def note(frame, event, _):
            if event == "call":
                called.add(frame.f_code)

        self._note = note

    def start(self):
        """From here on, functions that run are noted, for the next job or for those after."""
        self._modules = len(sys.modules)
        sys.setprofile(self._note)

    def imported(self):
        """What ran since the start ran on import."""
        sys.setprofile(None)
        self._always |= self._numbers_of_called()

    def found(self):
        """What ran since the start: numbers, and the (path, first line) that the table has gained; no
        numbers where something else has taken the place of this.
        """
        whole = sys.getprofile() is self._note
        sys.setprofile(None)
        ran = self._numbers_of_called()
        if len(sys.modules) != self._modules:
            self._always |= ran
        new, self._sent = self._table[self._sent :], len(self._table)
        return {"ran": sorted(ran | self._always) if whole else None, "new": new}

    def _numbers_of_called(self):
        for code in self._called - self._numbers.keys():
            path = self._tree.relative(code.co_filename)
            self._numbers[code] = None if path is None else len(self._table)
            if path is not None:
                self._table.append([path, code.co_firstlineno])
        numbers = {self._numbers[code] for code in self._called} - {None}
        self._called.clear()
        return numbers
