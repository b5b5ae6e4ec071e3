"""Records every torch call of one run: operands, results, and the source span that made the call.

`TorchFunctionMode` sees every call, `co_positions` gives the span of the expression (Python 3.11 or
newer), nothing is instrumented. Values travel as raw bytes with a dtype name; equal bytes travel once.
"""

from __future__ import annotations

import ctypes
import sys

import torch
from torch.overrides import TorchFunctionMode

NUMBERS = 1 << 18  # entries of one value that are kept
BYTES = 16 << 20  # of all values of a trace
CALLS = 20_000
DEPTH = 12  # frames of the tree, innermost first
ITEMS = 64  # of a list among arguments
WRITES = ("__setitem__", "__iadd__", "__imul__", "__isub__", "__itruediv__", "__imatmul__")
# What is asked of a tensor beside attributes.
SHAPES = ("size", "dim", "numel", "ndimension", "__len__")
_positions = {}


def position(code, last):
    """(first line, last line, first column, last column) of the instruction at offset `last`."""
    known = _positions.get(code)
    if known is None:
        known = _positions[code] = list(code.co_positions())
    return [n if n is not None else 0 for n in known[last // 2]]


def spans(tree, frame):
    """[path, function, l0, l1, c0, c1] for each frame of the tree, innermost first."""
    start, found = tree.root + "/", []
    while frame is not None and len(found) < DEPTH:
        code = frame.f_code
        if code.co_filename.startswith(start):
            relative = tree.relative(code.co_filename)
            if relative is not None:
                found.append((relative, code.co_name, *position(code, frame.f_lasti)))
        frame = frame.f_back
    return found


def raw(tensor):
    """The bytes of a tensor, row by row, without numpy."""
    whole = tensor.detach().contiguous().cpu()
    if whole.numel() == 0:
        return b""
    return ctypes.string_at(whole.data_ptr(), whole.numel() * whole.element_size())


def storage_of(tensor):
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def tensors(values, depth=3):
    """The tensors among arguments."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)) and depth:
            yield from tensors(value[:ITEMS], depth - 1)


class Blobs:
    """Raw bytes, each kept once."""

    def __init__(self):
        self.items, self._known, self._size = [], {}, 0

    def add(self, tensor):
        """The place of a tensor's bytes, -1 where they are too many."""
        if tensor.numel() > NUMBERS or tensor.is_meta or tensor.is_sparse:
            return -1
        data = raw(tensor)
        place = self._known.get(data)
        if place is None:
            if self._size + len(data) > BYTES:
                return -1
            self._size += len(data)
            place = self._known[data] = len(self.items)
            self.items.append(data)
        return place


class Recorder(TorchFunctionMode):
    """Use as a context around a run, then `found()`."""

    def __init__(self, tree, parameters, modules, blobs):
        super().__init__()
        self._tree, self._blobs = tree, blobs
        self._names = {id(t): name for name, t in parameters}
        self._modules, self._stack = modules, []
        self._current, self._alive = {}, []
        self.used = set()  # ids of tensors that a call was given for more than their shape
        self.values, self.calls, self.frames = [], [], {}
        self._storages = {}
        self._hooks = []

    def __enter__(self):
        before = torch.nn.modules.module.register_module_forward_pre_hook
        after = torch.nn.modules.module.register_module_forward_hook
        self._hooks = [
            before(self._entered),
            after(self._left),
        ]
        return super().__enter__()

    def _entered(self, module, args):
        """The name, and whether what runs now is inside a layer that torch is the author of."""
        within = bool(self._stack) and self._stack[-1][1]
        whole = any(True for _ in module.children()) and not isinstance(module, torch.nn.Sequential)
        foreign = type(module).__module__.startswith("torch.") and (within or whole)
        self._stack.append((self._modules.get(id(module), ""), foreign))

    def _left(self, module, args, output):
        if self._stack:
            self._stack.pop()

    def __exit__(self, *error):
        for hook in self._hooks:
            hook.remove()
        return super().__exit__(*error)

    def value(self, tensor, fresh=False):
        """The number of a tensor's present value; a new one after a call has written into it."""
        known = self._current.get(id(tensor))
        if known is not None and not fresh:
            return known
        number = len(self.values)
        storage = storage_of(tensor)
        self.values.append(
            {
                "shape": list(tensor.shape),
                "dtype": str(tensor.dtype)[6:],
                "storage": self._storages.setdefault(storage, len(self._storages)),
                "leaf": not fresh,
                "name": self._names.get(id(tensor), ""),
                "learns": bool(tensor.requires_grad and tensor.is_leaf),
                "blob": self._blobs.add(tensor),
            }
        )
        self._current[id(tensor)] = number
        self._alive.append(tensor)
        return number

    def argument(self, value, depth=3):
        """What travels of an argument: {"v": number} for a tensor, plain values as they are."""
        if isinstance(value, torch.Tensor):
            return {"v": self.value(value)}
        if value is None or type(value) in (bool, int, float):
            return value if type(value) is not int or abs(value) < 1 << 62 else None
        if type(value) is str:
            return value[:80]
        if isinstance(value, (list, tuple)) and depth:
            return [self.argument(one, depth - 1) for one in list(value)[:ITEMS]]
        if isinstance(value, slice):
            return {"slice": [self.argument(n, 0) for n in (value.start, value.stop, value.step)]}
        if isinstance(value, (torch.dtype, torch.device)):
            return str(value)
        return {"other": type(value).__name__[:40]}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", str(func))
        asks = name == "__get__" or name in SHAPES
        if name == "__get__":
            name = getattr(getattr(func, "__self__", None), "__name__", "__get__")
        if len(self.calls) >= CALLS:
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunctionSubclass():
            given = [self.argument(value) for value in args]
            named = {key: self.argument(value) for key, value in kwargs.items()}
        at = spans(self._tree, sys._getframe(1))
        result = func(*args, **kwargs)
        with torch._C.DisableTorchFunctionSubclass():
            outs = self._results(name, args, result)
        if outs or not asks:
            self.used |= {id(one) for one in tensors([*args, *kwargs.values()])}
        if outs:
            frames = [self.frames.setdefault(span, len(self.frames)) for span in at]
            self.calls.append(
                {
                    "name": name[:80],
                    "args": given,
                    "kwargs": named,
                    "outs": outs,
                    "frames": frames,
                    "module": self._stack[-1][0] if self._stack else "",
                    "inside": bool(self._stack) and self._stack[-1][1],
                }
            )
        return result

    def _results(self, name, args, result):
        writes = name in WRITES or (name.endswith("_") and not name.endswith("__"))
        if writes and args and isinstance(args[0], torch.Tensor):
            return [self.value(args[0], fresh=True)]
        items = result if isinstance(result, (tuple, list)) else [result]
        given = {id(value) for value in args if isinstance(value, torch.Tensor)}
        outs = []
        for item in items:
            if isinstance(item, torch.Tensor):
                same = id(item) in given and id(item) in self._current
                outs.append(self._current[id(item)] if same else self.value(item, fresh=True))
        return outs

    def found(self):
        """The trace as plain data."""
        return {
            "values": self.values,
            "calls": self.calls,
            "frames": [list(span) for span in self.frames],
        }
