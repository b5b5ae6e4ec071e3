"""Tensors off and onto the wire, in an interpreter that has torch and need not have numpy.

Sent as text: standard library, and torch.
"""

from __future__ import annotations

import ctypes

import torch

from engine.run.child import wire

DTYPES = {
    "bool": torch.bool, "uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16,
    "int32": torch.int32, "int64": torch.int64, "float16": torch.float16,
    "float32": torch.float32, "float64": torch.float64,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def received(name, shape, data):
    """A tensor of its own memory."""
    if name not in DTYPES:
        raise wire.WireError("dtype %r" % (name,))
    if not len(data):
        return torch.empty(shape, dtype=DTYPES[name])
    return torch.frombuffer(bytearray(data), dtype=DTYPES[name]).reshape(shape)


def sent(value):
    """A tensor as it crosses; None for what is none."""
    if not isinstance(value, torch.Tensor):
        return None
    name = NAMES.get(value.dtype)
    if name is None:
        return {"odd": "a tensor of dtype %s" % str(value.dtype).removeprefix("torch.")}
    try:
        with torch.no_grad():
            whole = value.detach().cpu().resolve_conj().resolve_neg().contiguous()
        size = whole.numel() * whole.element_size()
        return wire.Raw(name, list(whole.shape), ctypes.string_at(whole.data_ptr(), size))
    except RuntimeError:  # sparse, or on no device
        return {"odd": "a tensor without memory of its own"}


def size(value):
    """How many numbers a tensor that can cross has; None for what is none."""
    whole = isinstance(value, torch.Tensor) and value.dtype in NAMES
    return value.numel() if whole and value.layout is torch.strided else None


def seed(number):
    """The global generator, as each job finds it."""
    torch.manual_seed(number)
