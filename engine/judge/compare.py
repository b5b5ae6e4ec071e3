"""Does one outcome agree with another? The first thing that differs, or None.

Tolerances. A float result may differ from the exact one by rounding only. A sum of products carries
an error of about `eps * terms` times the largest term, so the bound has three parts: relative to the
element itself, to the largest element of its row (the last axis), and, far smaller, to the largest
element of the array, for sums that cancel. float64: eps = 2.2e-16, float32: eps = 1.2e-7; the parts
leave three orders of magnitude and more to the rounding of long sums, and are still thousands of
times smaller than the effect of any bug in the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.run.child.exam.repetition import AGAIN
from engine.run.types import Outcome, Raised

FEW = 4096  # numbers
THREADS = "threading.threads"  # among what a call has changed: see run/child/jobs.py
ASPECTS = ("raised", "shape", "dtype", "value", "inputs")


class Tolerance(NamedTuple):
    """|got - expected| <= element * |expected| + row * max|row| + array * max|array|."""

    element: float
    row: float
    array: float


TOLERANCES = {
    "float64": Tolerance(1e-7, 1e-9, 1e-13),
    "float32": Tolerance(1e-3, 1e-4, 2e-6),
    "float16": Tolerance(3e-2, 1e-2, 2e-3),
}


class Difference(msgspec.Struct, frozen=True):
    """The first measurement that differs.

    `aspect`: stopped, raised, missing, shape, dtype, value or inputs. `value`: the recorded name.
    `index`: position of the first differing element. `differing` of `total` elements differ.
    """

    aspect: str
    value: str
    expected: str
    got: str
    index: tuple[int, ...] = ()
    differing: int = 0
    total: int = 0
    shape: tuple[int, ...] = ()


def difference(
    expected: Outcome,
    got: Outcome,
    *,
    dtype: str = "float64",
    values: Collection[str] = (),
    aspects: Collection[str] = ASPECTS,
    tolerances: Mapping[str, Tolerance] = TOLERANCES,
    times: float = 1.0,
) -> Difference | None:
    """The first difference between two outcomes in the given aspects, None when they agree.

    values: the recorded names that count; all that `expected` has, when empty. tolerances: by dtype; a
    result may differ so many `times` as much.
    """
    if got.stopped:
        return Difference("stopped", "", "an answer", _stopped(got))
    if expected.stopped:
        return Difference("stopped", "", _stopped(expected), "an answer")
    if "raised" in aspects:
        found = _raised(expected.raised, got.raised)
        if found:
            return found
    elif got.raised and not expected.raised:
        return Difference("raised", "", "no error", _error(got.raised))
    tolerance = Tolerance(*(times * part for part in tolerances[dtype]))
    for name, wanted in expected.values.items():
        if values and name not in values:
            continue
        if name not in got.values:
            return Difference("missing", name, show(wanted), "nothing")
        found = _value(name, wanted, got.values[name], tolerance, aspects)
        if found:
            return found
    if "inputs" in aspects and set(got.changed) - set(expected.changed):
        name = sorted(set(got.changed) - set(expected.changed))[0]
        if name == AGAIN:
            what = "the result of the same call"
            return Difference("inputs", what, "the same each time", "another one some time")
        if name == THREADS:
            return Difference("inputs", name, "no thread that goes on", "one that goes on")
        if "." in name:
            return Difference("inputs", name, "as Python has it", "replaced by this code")
        return Difference("inputs", name, "the input as it was", "the input was modified")
    return None


def _stopped(outcome: Outcome) -> str:
    return {
        "timeout": "no answer within the time limit",
        "output": "more than 1 MB printed",
        "not run": "not run",
        "died": f"the process ended by itself (status {outcome.status})",
    }.get(outcome.stopped or "", str(outcome.stopped))


def _error(raised: Raised) -> str:
    return f"{raised.type}: {raised.message}"[:300]


def _raised(expected: Raised | None, got: Raised | None) -> Difference | None:
    if expected is None:
        return Difference("raised", "", "no error", _error(got)) if got else None
    wanted = f"{expected.type} naming {' and '.join(expected.mentions)}"
    wanted = wanted if expected.mentions else expected.type
    if got is None:
        return Difference("raised", "", wanted, "no error")
    if expected.type not in got.ancestors:
        return Difference("raised", "", wanted, _error(got))
    for mention in expected.mentions:
        if not mentioned(mention, got.message):
            return Difference("raised", "", wanted, _error(got))
    return None


def mentioned(what: str, message: str) -> bool:
    """Whether the numbers of `what` stand in the message, in a row: "(3, 4)" is in "got 3x4"."""
    wanted = re.findall(r"-?\d+", what)
    for text in (message, re.sub(r"(?<=\d)[,_](?=\d{3}\b)", "", message)):
        found = re.findall(r"(?:(?<![\w)])-)?\d+", text)
        for start in range(len(found) - len(wanted) + 1):
            if found[start : start + len(wanted)] == wanted:
                return True
    return False


def _value(
    name: str, expected: Any, got: Any, tolerance: Tolerance, aspects: Collection[str]
) -> Difference | None:
    if isinstance(expected, dict) and "offered" in expected:
        offered = expected["offered"]
        return None if isinstance(got, str) else _value(name, offered, got, tolerance, aspects)
    if isinstance(got, dict) and "odd" in got and not (isinstance(expected, dict)):
        return Difference("value", name, show(expected), str(got["odd"]))
    if isinstance(expected, dict) and "within" in expected:
        low, high = expected["within"]
        if isinstance(got, (int, float)) and not isinstance(got, bool) and low <= got <= high:
            return None
        return Difference("value", name, f"between {low:.4g} and {high:.4g}", show(got))
    if isinstance(expected, dict) and "list" in expected and isinstance(got, dict):
        wanted, given = expected["list"], got.get("list", ())
        if len(wanted) != len(given):
            return Difference("shape", name, f"{len(wanted)} items", f"{len(given)} items")
        parts = (_value(name, a, b, tolerance, aspects) for a, b in zip(wanted, given, strict=True))
        return next((part for part in parts if part), None)
    if isinstance(expected, np.ndarray):
        return _array(name, expected, got, tolerance, aspects)
    if "value" not in aspects:
        return None
    if isinstance(expected, float) and isinstance(got, (int, float)):
        close = within(np.asarray(expected), np.asarray(float(got)), tolerance)
        return None if bool(close) else Difference("value", name, *apart(expected, got))
    if type(expected) is not type(got):
        wanted, given = (f"{show(v)} ({type(v).__name__})" for v in (expected, got))
        return Difference("value", name, wanted, given)
    if expected != got:
        return Difference("value", name, show(expected), show(got))
    return None


def _array(
    name: str, expected: np.ndarray, got: Any, tolerance: Tolerance, aspects: Collection[str]
) -> Difference | None:
    if not isinstance(got, np.ndarray):
        return Difference("value", name, f"an array {_shape(expected.shape)}", show(got))
    if got.shape != expected.shape:
        if not {"shape", "value"} & set(aspects):
            return None
        return Difference("shape", name, _shape(expected.shape), _shape(got.shape))
    if "dtype" in aspects and got.dtype != expected.dtype and expected.dtype.kind == "f":
        return Difference("dtype", name, str(expected.dtype), str(got.dtype))
    if "value" not in aspects or _same(expected, got) or _near(expected, got, tolerance):
        return None
    good = within(expected, got, tolerance) if expected.dtype.kind == "f" else expected == got
    if bool(np.all(good)):
        return None
    wrong = np.argwhere(~np.atleast_1d(good))
    index = tuple(int(i) for i in wrong[0]) if expected.ndim else ()
    return Difference(
        "value", name, *apart(expected[index], got[index]), index, len(wrong),
        int(expected.size), expected.shape,
    )  # fmt: skip


def _same(expected: np.ndarray, got: np.ndarray) -> bool:
    """Whether two arrays of one shape are equal: of small ones it is quickest to tell bit for bit."""
    if expected.size < FEW and expected.dtype == got.dtype:
        if expected.tobytes() == got.tobytes():
            return True
    return bool(np.array_equal(got, expected))


def _near(expected: np.ndarray, got: np.ndarray, tolerance: Tolerance) -> bool:
    """Whether every element is near by itself, which is quick to tell; where not, rows may decide."""
    if expected.dtype.kind != "f" or expected.dtype != got.dtype:
        return False
    with np.errstate(all="ignore"):  # infinities apart are NaN, which is near nothing
        return bool((np.abs(got - expected) <= tolerance.element * np.abs(expected)).all())


def within(expected: np.ndarray, got: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """Element by element, whether `got` is `expected` but for rounding. NaN equals NaN."""
    wanted = expected.astype(np.float64)
    with np.errstate(invalid="ignore"):  # an integer may be compared with what is none
        given = got.astype(np.float64)
    with np.errstate(invalid="ignore"):
        close = np.abs(given - wanted) <= allowed(wanted, tolerance)
    same = (given == wanted) | (np.isnan(given) & np.isnan(wanted))
    return np.asarray(same | (close & np.isfinite(wanted)))


def allowed(expected: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """By how much each element may differ."""
    size = np.abs(np.where(np.isfinite(expected), expected, 0.0))
    bound = tolerance.element * size
    if expected.ndim:
        bound = bound + tolerance.row * size.max(-1, keepdims=True, initial=0.0)
        bound = bound + tolerance.array * size.max(initial=0.0)
    return np.asarray(bound)


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def apart(expected: Any, got: Any) -> tuple[str, str]:
    """Two numbers that differ, with as many digits as it takes to see it."""
    wanted, given = show(expected), show(got)
    if wanted != given:
        return wanted, given
    return f"{float(expected):.17g}", f"{float(got):.17g}"


def show(value: Any) -> str:
    """A recorded value in a few words."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array {_shape(value.shape)}"
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        if "odd" in value:
            return str(value["odd"])
        if "list" in value:
            return "[" + ", ".join(show(item) for item in value["list"]) + "]"
        if "offered" in value:
            return show(value["offered"])
        if "within" in value:
            return "between {:.4g} and {:.4g}".format(*value["within"])
    return str(value)[:200]
