"""Where a training script's batches come from. Kinds of events: G a generator is seeded, N a loader gives a
batch, D a function of the tree that is told a split gives a batch, T a loader or any other function gives
one whose text is known.
"""

from __future__ import annotations

import dis
import random
import re
import sys
import zlib

import torch

from engine.run.child.torch_events import TOKENS
from engine.run.child.torch_trace import raw

LEAST, ROW = 64, 6  # tokens of a text; tokens of a row by which it is found in a text
DRAWS = 64  # batches of a split that are followed to their text


def whole_numbers(value):
    """A text as a tensor that shares its memory: whole numbers in one row, LEAST or more; or None."""
    if isinstance(value, torch.Tensor):
        if value.dim() != 1 or value.numel() < LEAST or value.is_floating_point():
            return None
        return value.detach().long()
    if hasattr(value, "__array_interface__"):
        if value.ndim != 1 or value.size < LEAST or value.dtype.kind not in "iu":
            return None
        return torch.as_tensor(value.astype("int64"))
    if type(value) is list and len(value) >= LEAST and all(type(n) is int for n in value[:LEAST]):
        return torch.tensor(value)
    return None


def memory(value):
    """(first byte, behind the last byte) of a text."""
    if isinstance(value, torch.Tensor):
        start = value.data_ptr()
        return start, start + value.numel() * value.element_size()
    if type(value) is list:
        return id(value), id(value) + 1
    start = value.__array_interface__["data"][0]
    return start, start + value.size * value.itemsize


def held(owner):
    """{name: what an object or a data set holds}, windows of a text one after the other."""
    return {name: joined(value) for name, value in list(getattr(owner, "__dict__", {}).items())}


def joined(value):
    if isinstance(value, (tuple, list)) and value and isinstance(value[0], torch.Tensor):
        rows = [one.reshape(-1) for one in value if isinstance(one, torch.Tensor)]
        return torch.cat(rows) if len({one.dtype for one in rows}) == 1 else value
    return value.reshape(-1) if getattr(value, "ndim", 0) == 2 else value


def rows_of(value):
    """The first batch of tokens, (B, T), that a function gave; None where there is none."""
    items = value.values() if isinstance(value, dict) else value
    items = items if isinstance(value, (tuple, list, dict)) else [value]
    for item in items:
        if isinstance(item, torch.Tensor) and item.dim() == 2 and not item.is_floating_point():
            return item.detach().long() if item.shape[1] >= ROW else None
    return None


def holds(text, rows):
    """Whether every row stands in the text at exactly one place."""
    width = rows.shape[1]
    if text.numel() < width:
        return False
    windows = text.unfold(0, width, 1)
    return all(int((windows == row).all(1).sum()) == 1 for row in rows[:4])


class Data:
    """Hooks into what draws batches, for a process that is thrown away."""

    def __init__(self, events, job, tree):
        self._events, self._tree = events, tree
        self._splits = [(re.compile(pattern, re.I), kind) for pattern, kind in job["splits"]]
        self._kept, self._numbers = [], {}
        self._drawn, self._followed = 0, 0

    def number(self, thing):
        """A number for an object, which is kept so that its memory is not used again."""
        if id(thing) not in self._numbers:
            self._kept.append(thing)
            self._numbers[id(thing)] = len(self._numbers)
        return self._numbers[id(thing)]

    def install(self):
        self._seeds()
        loaders = torch.utils.data.dataloader
        real = loaders._BaseDataLoaderIter.__next__
        made = loaders._BaseDataLoaderIter.__init__

        def init(this, loader, *args, **kwargs):
            this._engine_loader = loader
            return made(this, loader, *args, **kwargs)

        def following(this):
            batch = real(this)
            loader = this._engine_loader
            try:
                count = len(loader)
            except TypeError:
                count = 0
            self._events.add(
                "N",
                frame=sys._getframe(1),
                loader=self.number(loader),
                source=self.number(loader.dataset),
                beginning=self.number(this),
                count=count,
            )
            self._loaded(batch, loader.dataset, sys._getframe(1))
            return batch

        loaders._BaseDataLoaderIter.__init__ = init
        loaders._BaseDataLoaderIter.__next__ = following

    def _seeds(self):
        places = [(torch, "manual_seed"), (random, "seed")]
        if "numpy" in sys.modules:
            places.append((sys.modules["numpy"].random, "seed"))
        for module, name in places:
            real = getattr(module, name)

            def seed(*args, _real=real, **kwargs):
                given = next((n for n in [*args, *kwargs.values()] if type(n) is int), None)
                if given is not None and abs(given) < 1 << 31:
                    self._events.add("G", frame=sys._getframe(1), given=given)
                return _real(*args, **kwargs)

            setattr(module, name, seed)

    def _loaded(self, batch, dataset, frame):
        """The text of a loader's batch, and which part of it the loader is for."""
        rows, part = rows_of(batch) if self._followed < DRAWS else None, 0
        if rows is None:
            return
        self._followed += 1
        while hasattr(dataset, "indices") and hasattr(dataset, "dataset"):
            part = zlib.crc32(repr([int(i) for i in dataset.indices]).encode(), part)
            dataset = dataset.dataset
        texts = ({name: value} for name, value in held(dataset).items())  # inputs before targets
        found = (self._holding(text, rows) for text in texts)
        self._follow(frame, rows, next((one for one in found if one), None), part)

    def _follow(self, frame, rows, found, part=0):
        if found is not None and rows.numel() <= TOKENS:
            self._events.add("T", frame=frame, source=found[1] ^ part, x=rows.tolist())

    def profile(self, frame, event, value):
        """A function of the tree has given a batch: from which text?"""
        code = frame.f_code
        if event != "return" or value is None or code.co_argcount > 6:
            return
        if not code.co_filename.startswith(self._tree.root + "/"):
            return
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
        words = [word for word in given if type(word) is str]
        kind = next((k for w in words for pattern, k in self._splits if pattern.search(w)), None)
        count = self._followed if kind is None else self._drawn
        rows = rows_of(value) if count < DRAWS else None
        if rows is None:
            return
        self._followed, self._drawn = self._followed + (not kind), self._drawn + bool(kind)
        found = self._text(frame, rows)
        if found is None or kind is None:
            owned = held(frame.f_locals.get("self"))
            self._follow(frame, rows, found or self._holding(owned, rows))
        else:
            (start, end), content, line = found
            path = self._tree.relative(code.co_filename)
            at = [[path, code.co_name, line, line, 0, 0]] if path else None
            self._events.add(
                "D", frame=frame, at=at, name=kind, memory=[start, end], source=content,
                x=rows.tolist() if rows.numel() <= TOKENS else [],
            )  # fmt: skip

    def _text(self, frame, rows):
        """(memory, checksum, line) of the text that these rows were taken from: of those that a function
        names itself, else of those it was given or finds in its module. None where it is not known.
        """
        code = frame.f_code
        stored = {s.argval for s in dis.get_instructions(code) if s.opname.startswith("STORE")}
        known = {n: frame.f_globals[n] for n in code.co_names if n in frame.f_globals}
        known.update(frame.f_locals)
        own = {name: value for name, value in known.items() if name in stored}
        for scope in (own, known):
            found = self._holding(scope, rows)
            if found is not None:
                place, content, name = found
                return place, content, line_of(frame, name)
        return None

    def _holding(self, scope, rows):
        """(memory, checksum, name) of the smallest text that holds these rows; None where there is none, or
        where several do that are neither equal nor parts of each other.
        """
        found = []
        for name, value in list(scope.items()):
            text = whole_numbers(value)
            if text is not None and holds(text, rows):
                self._kept.append(value)
                found.append((memory(value), zlib.crc32(raw(text)), name))
        found.sort(key=lambda one: one[0][1] - one[0][0])
        for (inner, content, _), (outer, other, _) in zip(found, found[1:]):
            if content != other and not (outer[0] <= inner[0] and inner[1] <= outer[1]):
                return None
        return found[0] if found else None


def line_of(frame, name):
    """The line of a function where this name gets its value, else where the function ended."""
    for step in dis.get_instructions(frame.f_code):
        if step.opname.startswith("STORE") and step.argval == name and step.positions:
            return step.positions.lineno or frame.f_lineno
    return frame.f_lineno
