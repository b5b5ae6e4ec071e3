"""Named arrays over a pipe: a JSON head and the raw bytes behind it. Never pickle.

A frame is `<4s I Q`: magic, length of the head, length of the body; then both. In the head an array
stands as `{"$array": [dtype, shape, offset, nbytes]}` and bytes as `{"$bytes": [offset, nbytes]}`;
everything else is plain JSON (with NaN and Infinity, as Python writes them).

This file is sent to the child as text: standard library only, numpy when an array comes along.
"""

from __future__ import annotations

import json
import os
import struct
import sys

MAGIC = b"EWF1"
HEADER = struct.Struct("<4sIQ")
MAX_HEAD = 64 << 20  # bytes
MAX_BODY = 1 << 30  # bytes
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES += ("float16", "float32", "float64")  # what may cross; no object, no void, no strings
CROSSING, NAMED = {}, {}  # dtype, with its low byte first -> name, and back: filled as they are met
ARRAYS = None  # `tensors`, where arrays that come are to be tensors


class WireError(Exception):
    """The bytes are not a frame, or a value cannot cross."""


class Raw:
    """An array as it crosses: the name of its dtype, its shape, its bytes with the low byte first."""

    def __init__(self, name, shape, data):
        self.name, self.shape, self.data, self.nbytes = name, shape, data, len(data)


def encode(message):
    """A message (JSON-like, with ndarrays and bytes among the leaves) -> one frame, bytes."""
    chunks = []
    size = 0

    def leaf(value):
        nonlocal size
        if isinstance(value, bytes):
            chunks.append(value)
            size += len(value)
            return {"$bytes": [size - len(value), len(value)]}
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            value = numpy.asarray(value)
        if numpy is not None and isinstance(value, numpy.ndarray):
            name = CROSSING.get(value.dtype)
            if name is None:
                name = value.dtype.name
                if name not in DTYPES:
                    raise WireError("an array of dtype %s cannot cross" % name)
                value = value.astype(value.dtype.newbyteorder("<"), copy=False)
                CROSSING[value.dtype] = name
            raw = value.tobytes()
            chunks.append(raw)
            size += len(raw)
            return {"$array": [name, list(value.shape), size - len(raw), len(raw)]}
        if isinstance(value, Raw):
            chunks.append(value.data)
            size += len(value.data)
            return {"$array": [value.name, value.shape, size - len(value.data), len(value.data)]}
        raise WireError("a %s cannot cross" % type(value).__name__)

    head = json.dumps(message, default=leaf, separators=(",", ":")).encode()
    return b"".join([HEADER.pack(MAGIC, len(head), size), head] + chunks)


def decode(head, body):
    """The two parts of a frame -> the message. Arrays are read-only views of `body`.

    Raises WireError for anything that is not what `encode` writes.
    """

    def hook(found):
        if len(found) != 1:
            return found
        if "$bytes" in found:
            start, size = _span(found["$bytes"], body)
            return bytes(body[start : start + size])
        if "$array" in found:
            name, shape, start, size = found["$array"]
            if name not in DTYPES:
                raise WireError("dtype %r" % (name,))
            start, size = _span([start, size], body)
            if ARRAYS is not None:
                return ARRAYS.received(name, shape, body[start : start + size])
            import numpy

            dtype = NAMED.get(name)
            if dtype is None:
                dtype = NAMED[name] = numpy.dtype(name).newbyteorder("<")
            count = 1
            for n in shape:
                if type(n) is not int or n < 0:
                    raise WireError("shape %r" % (shape,))
                count *= n
            if count * dtype.itemsize != size:
                raise WireError("shape %r does not fill %d bytes" % (shape, size))
            return numpy.frombuffer(body, dtype, count, start).reshape(shape)
        return found

    try:
        return json.loads(bytes(head), object_hook=hook)
    except WireError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise WireError("not a message: %s" % error) from None


def _span(pair, body):
    start, size = pair
    if type(start) is not int or type(size) is not int or start < 0 or size < 0:
        raise WireError("span %r" % (pair,))
    if start + size > len(body):
        raise WireError("span %r ends outside the frame" % (pair,))
    return start, size


class Buffer:
    """Collects bytes as they arrive and gives out whole frames."""

    def __init__(self):
        self._bytes = bytearray()

    def feed(self, data):
        self._bytes += data

    def frame(self):
        """The next whole frame as (head, body), or None while it is not all there."""
        if len(self._bytes) < HEADER.size:
            return None
        magic, head, body = HEADER.unpack_from(self._bytes)
        if magic != MAGIC or head > MAX_HEAD or body > MAX_BODY:
            raise WireError("not a frame")
        end = HEADER.size + head + body
        if len(self._bytes) < end:
            return None
        whole = bytes(self._bytes[HEADER.size : end])
        del self._bytes[:end]
        return whole[:head], whole[head:]


def write(fd, data):
    """All of `data` to a descriptor, however many calls it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def receive(fd, buffer):
    """Block until `buffer` has a whole message from the descriptor; None at its end."""
    while True:
        frame = buffer.frame()
        if frame is not None:
            return decode(*frame)
        data = os.read(fd, 1 << 18)
        if not data:
            return None
        buffer.feed(data)
