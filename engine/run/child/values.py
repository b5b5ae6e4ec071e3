"""Values that probes record, and what they raise, as plain data that can cross the wire.

Sent as text: standard library, numpy where arrays come along, and tensors where torch is at work.
"""

from __future__ import annotations

import collections
import linecache
import sys

from engine.run.child import wire

MESSAGE = 2000  # characters of an exception's message that travel
FRAMES = 40
ALLOWED = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ALLOWED += ("float16", "float32", "float64")


def readable(text):
    """Text without lone surrogates, which no terminal, file or JSON reader takes."""
    return text.encode("utf-8", "backslashreplace").decode()


def snapshot(value):
    """What a probe recorded -> a copy that can cross the wire and that nobody changes later."""
    if value is None or type(value) in (bool, int, float, str):
        if type(value) is str:
            return readable(value[:MESSAGE])
        if type(value) is int and abs(value) >= 1 << 63:
            return {"odd": "an integer of %d bits" % value.bit_length()}
        return value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        array = numpy.array(value, copy=True, subok=False)
        if array.dtype.name in ALLOWED:
            return array
        return {"odd": "an array of dtype %s" % array.dtype}
    tensor = wire.ARRAYS.sent(value) if wire.ARRAYS is not None else None
    if tensor is not None:
        return tensor
    if type(value) in (list, tuple):
        return {"list": [snapshot(item) for item in value[:10_000]]}
    return {"odd": "an object of type %s" % type(value).__name__}


def writable(inputs):
    """Arrays as they come off the wire are read-only; the learner gets ordinary ones."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return inputs
    return {k: v.copy() if isinstance(v, numpy.ndarray) else v for k, v in inputs.items()}


def cast(value, kind):
    """Float arrays in the dtype `kind`, those in lists too; anything else as it is."""
    numpy = sys.modules["numpy"]
    if isinstance(value, numpy.ndarray) and value.dtype.kind == "f":
        with numpy.errstate(over="ignore"):
            return value.astype(kind)
    if isinstance(value, dict) and "list" in value:
        return {"list": [cast(item, kind) for item in value["list"]]}
    return value


def describe(error, trees):
    """An exception -> plain data: type, ancestors, message, and the frames of known trees."""
    kind = type(error)
    try:
        message = readable(str(error)[:MESSAGE])
    except BaseException:
        message = "(its message could not be shown)"
    frames = collections.deque(maxlen=FRAMES)
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        for tree in trees:
            relative = tree.relative(code.co_filename)
            if relative is not None:
                line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
                frames.append([relative, trace.tb_lineno, code.co_name, line[:200]])
                break
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        for tree in trees:
            relative = tree.relative(error.filename or "")
            if relative is not None:
                frames.append([relative, error.lineno or 0, "", (error.text or "").strip()[:200]])
    return {
        "type": readable(str(kind.__name__))[:200],
        "ancestors": [base.__name__ for base in kind.__mro__ if base is not object],
        "message": message,
        "frames": list(frames),
    }
