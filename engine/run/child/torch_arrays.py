"""Arrays and tensors that a training script reads and writes: what it wrote itself, else synthetic tokens."""

from __future__ import annotations

import re

import torch

READERS = ("fromfile", "load", "loadtxt", "genfromtxt")
WEIGHTS = re.compile(r"ckpt|checkpoint|model|optim", re.I)


class Arrays:
    """numpy's and torch's files on a disk in memory; tokens(path) gives the synthetic ones."""

    def __init__(self, disk, tokens, note):
        self._disk, self._tokens, self._note = disk, tokens, note
        self._mapped, self._saved = {}, {}

    def install(self):
        self._torch()
        try:
            import numpy
        except ImportError:
            return
        for name in READERS:
            setattr(numpy, name, self._reader(numpy, getattr(numpy, name)))
        arrays = self

        class Memmap(numpy.memmap):
            def __new__(cls, path, dtype=numpy.uint16, mode="r", offset=0, shape=None, **kwargs):
                return arrays.mapped(path, numpy.dtype(dtype), mode, offset, shape)

        numpy.memmap = Memmap

    def _reader(self, numpy, real):
        def read(path, *args, **kwargs):
            kind = kwargs.get("dtype") or next((a for a in args if isinstance(a, type)), None)
            if real.__name__ == "fromfile" and self._disk.content(path) is not None:
                return numpy.frombuffer(self._disk.content(path), kind or float).copy()
            try:
                return real(path, *args, **kwargs)
            except Exception:
                return self._synthetic(path, kind)

        return read

    def _synthetic(self, path, kind=None):
        import numpy

        self._note("%s is synthetic tokens" % self._disk.shown(path))
        return numpy.array(self._tokens(path), dtype=kind or numpy.int64)  # which every use accepts

    def mapped(self, path, dtype, mode, offset, shape):
        """What numpy.memmap gives: an array in memory, of this shape where there is one."""
        import numpy

        name, content = self._disk.name(path), self._disk.content(path)
        if "w" in mode:
            self._mapped[name] = numpy.zeros(shape, dtype)
        elif name not in self._mapped and content is not None:
            self._mapped[name] = numpy.frombuffer(content[offset:], dtype).copy()
        elif name not in self._mapped:
            self._mapped[name] = self._synthetic(path, dtype)
        found = self._mapped[name]
        if shape is not None and found.shape != shape:
            found = numpy.resize(found, shape)
        return found.view(flushed(numpy))

    def _torch(self):
        loaded = torch.load

        def save(thing, path="", *args, **kwargs):
            self._note("torch.save wrote nothing")
            self._saved[self._disk.name(path)] = thing

        def load(path, *args, **kwargs):
            if self._disk.name(path) in self._saved and self._disk.name(path) is not None:
                return self._saved[self._disk.name(path)]
            try:
                return loaded(path, *args, **kwargs)
            except OSError:
                if WEIGHTS.search(str(path)):
                    raise
                self._note("%s is synthetic tokens" % self._disk.shown(path))
                return torch.tensor(self._tokens(path))

        torch.save, torch.load = save, load


def flushed(numpy):
    """The kind of array that a map of a file is: it can be flushed."""
    return type("Mapped", (numpy.ndarray,), {"flush": lambda self: None, "_mmap": None})
