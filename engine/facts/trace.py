"""What a learner's child answered, checked: shapes, numbers of values, spans, bytes. Nothing is believed.

Raises BadAnswer for whatever is not what the recorder writes, or is more than it may write.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

ITEMS = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float32": 4,
    "float64": 8,
    "bfloat16": 2,
    "float16": 2,
    "complex64": 8,
    "complex128": 16,
}  # bytes; fmt: skip
MAX_BYTES = 64 << 20
MAX_CALLS, MAX_VALUES, MAX_RUNS = 20_000, 60_000, 32
Text = str


class BadAnswer(Exception):
    """The child's answer is not of the right form."""


class Value(msgspec.Struct, frozen=True):
    """A tensor at one moment; `blob`: its bytes, -1 for none."""

    shape: list[int]
    dtype: str
    blob: int
    storage: int = 0
    leaf: bool = False
    name: str = ""
    learns: bool = False
    used: bool = True


class Call(msgspec.Struct, frozen=True):
    """One torch call: operands, results by number, the spans that made it, innermost first. inside: of a
    layer of torch's own.
    """

    name: str
    args: list[Any]
    kwargs: dict[str, Any]
    outs: list[int]
    frames: list[int]
    module: str = ""
    inside: bool = False


class Trace(msgspec.Struct, frozen=True):
    values: list[Value]
    calls: list[Call]
    frames: list[tuple[str, str, int, int, int, int]]
    tokens: int = -1


class Failure(msgspec.Struct, frozen=True):
    """An exception in the learner's code; at: (file, line), outermost first."""

    type: str
    message: str
    at: list[tuple[str, int]]


class Run(msgspec.Struct, frozen=True):
    """What one forward gave."""

    tokens: Value | None
    targets: Value | None
    logits: Value | None
    loss: Value | None
    place: dict[str, int] = {}


class Done(msgspec.Struct, frozen=True):
    """One experiment."""

    failed: Failure | None = None
    runs: list[Run] = []
    trace: Trace | None = None
    owned: list[Value] = []
    written: list[str] = []
    gradients: dict[str, float | None] | None = None


class Measured(msgspec.Struct, frozen=True):
    """What a model's job answered."""

    how: str
    notes: list[str]
    experiments: list[Done]
    targets: bool
    mask: str
    shared: list[list[str]]
    parameters: int
    module: bool = True


def converted(data: Mapping[str, Any], kind: type[Any]) -> Any:
    """The answer as a struct. Raises BadAnswer."""
    try:
        return msgspec.convert(dict(data), kind)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise BadAnswer(str(error)[:200]) from None


def failure_of(data: Mapping[str, Any]) -> Failure | None:
    """What went wrong in a job, if it did. Raises BadAnswer."""
    found = data.get("failed")
    return None if found is None else converted(found, Failure)


def array(value: Value, blobs: Sequence[bytes]) -> Any:
    """The numbers of a value; None where they did not travel. Raises BadAnswer.

    bfloat16 becomes float32, of which it is the upper half.
    """
    if any(type(n) is not int or n < 0 for n in value.shape) or len(value.shape) > 12:
        raise BadAnswer("a shape")
    if value.blob == -1 or value.dtype not in ITEMS:
        return None
    if not 0 <= value.blob < len(blobs):
        raise BadAnswer("the number of a value's bytes")
    data = blobs[value.blob]
    if math.prod(value.shape) * ITEMS[value.dtype] != len(data):
        raise BadAnswer("bytes that do not fill a shape")
    if value.dtype == "bfloat16":
        whole = np.frombuffer(data, "<u2").astype("<u4") << 16
        return whole.view("<f4").reshape(value.shape)
    if value.dtype.startswith("complex"):  # real and imaginary parts along a last axis
        part = "<f4" if value.dtype == "complex64" else "<f8"
        return np.frombuffer(data, part).reshape([*value.shape, 2])
    kind = "?" if value.dtype == "bool" else np.dtype(value.dtype).newbyteorder("<")
    return np.frombuffer(data, kind).reshape(value.shape)


def measured(data: Mapping[str, Any]) -> tuple[Measured, list[bytes]]:
    """A model's answer. Raises BadAnswer."""
    blobs = blobs_of(data)
    found: Measured = converted({k: v for k, v in data.items() if k != "blobs"}, Measured)
    if len(found.experiments) > MAX_RUNS:
        raise BadAnswer("too many experiments")
    for done in found.experiments:
        if done.trace is not None:
            check(done.trace)
    return found, blobs


def blobs_of(data: Mapping[str, Any]) -> list[bytes]:
    """The raw bytes of an answer. Raises BadAnswer."""
    blobs = data.get("blobs", [])
    if not isinstance(blobs, list) or any(type(blob) is not bytes for blob in blobs):
        raise BadAnswer("bytes")
    if sum(map(len, blobs)) > MAX_BYTES:
        raise BadAnswer("too many bytes")
    return blobs


def check(trace: Trace) -> None:
    """Every number in a trace names something that is there. Raises BadAnswer."""
    count, frames = len(trace.values), len(trace.frames)
    if count > MAX_VALUES or len(trace.calls) > MAX_CALLS:
        raise BadAnswer("a trace that is too long")
    if not -1 <= trace.tokens < count:
        raise BadAnswer("the number of the tokens")
    for call in trace.calls:
        numbers = [*call.outs, *operands([*call.args, *call.kwargs.values()])]
        if any(not 0 <= n < count for n in numbers):
            raise BadAnswer("the number of a value")
        if any(not 0 <= n < frames for n in call.frames):
            raise BadAnswer("the number of a span")


def operands(given: Sequence[Any], depth: int = 6) -> list[int]:
    """The numbers of the values among arguments, in order. Raises BadAnswer."""
    if depth == 0:
        raise BadAnswer("arguments that nest too deeply")
    found: list[int] = []
    for one in given:
        if isinstance(one, dict) and set(one) == {"v"}:
            if type(one["v"]) is not int:
                raise BadAnswer("the number of an operand")
            found.append(one["v"])
        elif isinstance(one, list):
            found += operands(one, depth - 1)
    return found


def recorded(found: Measured, blobs: Sequence[bytes]) -> dict[str, Any]:
    """What the pack's functions are given: plain data; "array" is a place in "arrays", or -1.

    Raises BadAnswer.
    """
    places: dict[tuple[int, str, tuple[int, ...]], int] = {}
    arrays: list[Any] = []

    def plain(value: Value | None) -> dict[str, Any] | None:
        if value is None:
            return None
        key = (value.blob, value.dtype, tuple(value.shape))
        if key not in places:
            made = array(value, blobs)
            places[key] = -1 if made is None else len(arrays)
            arrays.extend([] if made is None else [made])
        return {**msgspec.structs.asdict(value), "array": places[key]}

    def done(one: Done) -> dict[str, Any]:
        as_data = {
            "failed": None if one.failed is None else msgspec.structs.asdict(one.failed),
            "written": one.written,
            "gradients": one.gradients,
            "owned": [plain(value) for value in one.owned],
            "runs": [
                {
                    **{n: plain(getattr(run, n)) for n in ("tokens", "targets", "logits", "loss")},
                    "place": run.place,
                }
                for run in one.runs
            ],
            "trace": None,
        }
        if one.trace is not None:
            as_data["trace"] = {
                "values": [plain(value) for value in one.trace.values],
                "calls": [msgspec.structs.asdict(call) for call in one.trace.calls],
                "frames": [list(frame) for frame in one.trace.frames],
                "tokens": one.trace.tokens,
            }
        return as_data

    about = {n: getattr(found, n) for n in ("targets", "mask", "shared", "parameters", "module")}
    experiments = [done(one) for one in found.experiments]
    return {**about, "experiments": experiments, "arrays": arrays}


def joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two recordings as one: the second's experiments after the first's."""
    moved = len(first["arrays"])

    def shifted(found: Any) -> Any:
        if isinstance(found, dict):
            return {
                key: one + moved if key == "array" and one >= 0 else shifted(one)
                for key, one in found.items()
            }
        return [shifted(one) for one in found] if isinstance(found, list) else found

    return {
        **first,
        "experiments": first["experiments"] + shifted(second["experiments"]),
        "arrays": first["arrays"] + second["arrays"],
    }
