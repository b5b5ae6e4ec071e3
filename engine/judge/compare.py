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
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.errors import Message, Said
from engine.judge.shown import apart, apart_in_shape, quoted, short, show
from engine.run.child.exam.repetition import AGAIN
from engine.run.types import UNRUN, Outcome, Raised

FEW = 4096  # numbers
THREADS = "threading.threads"  # among what a call has changed: see run/child/jobs.py
SLOW = Message("no answer within the time limit")
NO_ERROR, NOT_RUN = Message("no error"), Message("not run")
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

    `aspect`: stopped, raised, missing, shape, dtype, value, inputs, or again, where the same call gave
    another result. `value`: the recorded name.
    `index`: position of the first differing element. `differing` of `total` elements differ.
    """

    aspect: str
    value: Said
    expected: Said
    got: Said
    index: tuple[int, ...] = ()
    differing: int = 0
    total: int = 0
    shape: tuple[int, ...] = ()


AGAIN_DIFFERS = Difference(
    "again",
    Message("the result of the same call"),
    Message("the same each time"),
    Message("another one some time"),
)


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
        return Difference("stopped", "", Message("an answer"), stopped(got))
    if expected.stopped:
        return Difference("stopped", "", stopped(expected), Message("an answer"))
    if "raised" in aspects:
        found = _raised(expected.raised, got.raised)
        if found:
            return found
    elif got.raised and not expected.raised:
        return Difference("raised", "", NO_ERROR, _error(got.raised))
    tolerance = Tolerance(*(times * part for part in tolerances[dtype]))
    for name, wanted in expected.values.items():
        if values and name not in values:
            continue
        if name not in got.values:
            return Difference("missing", name, show(wanted), Message("nothing"))
        found = _value(name, wanted, got.values[name], tolerance, aspects)
        if found:
            return found
    if "inputs" in aspects and set(got.changed) - set(expected.changed):
        return _changed(sorted(set(got.changed) - set(expected.changed))[0])
    return None


def _changed(name: str) -> Difference:
    """What a call did beside giving its result; name: as run/child/jobs.py has it."""
    if name == AGAIN:
        return AGAIN_DIFFERS
    if name == THREADS:
        threads = Message("no thread that goes on"), Message("one that goes on")
        return Difference("inputs", name, *threads)
    if "." in name:
        return Difference("inputs", name, Message("as Python has it"), Message("replaced"))
    return Difference("inputs", name, Message("as it was"), Message("modified"))


def stopped(outcome: Outcome) -> Said:
    """Why there is no answer."""
    known = {
        "timeout": SLOW,
        "output": Message("more than 1 MB printed"),
        UNRUN: NOT_RUN,
        "died": Message("the process ended by itself (status {status})", status=outcome.status),
    }
    return known.get(outcome.stopped or "", str(outcome.stopped))


def _error(raised: Raised) -> str:
    return f"{raised.type}: {raised.message}"[:300]


def _raised(expected: Raised | None, got: Raised | None) -> Difference | None:
    if expected is None:
        return Difference("raised", "", NO_ERROR, _error(got)) if got else None
    wanted: Said = expected.type
    if expected.mentions:
        named = ", ".join(expected.mentions)
        wanted = Message("{type} naming {named}", type=expected.type, named=named)
    if got is None:
        return Difference("raised", "", wanted, NO_ERROR)
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
        return Difference("value", name, show(expected), show(got))
    if isinstance(expected, dict) and "within" in expected:
        low, high = expected["within"]
        if isinstance(got, (int, float)) and not isinstance(got, bool) and low <= got <= high:
            return None
        return Difference("value", name, show(expected), show(got))
    if isinstance(expected, dict) and "list" in expected and isinstance(got, dict):
        return _items(name, expected["list"], got.get("list", ()), tolerance, aspects)
    if isinstance(expected, np.ndarray):
        return _array(name, expected, got, tolerance, aspects)
    if "value" not in aspects:
        return None
    if isinstance(expected, float) and isinstance(got, (int, float)):
        close = within(np.asarray(expected), np.asarray(float(got)), tolerance)
        return None if bool(close) else Difference("value", name, *apart(expected, got))
    if type(expected) is not type(got):
        if got is None:
            return Difference("value", name, quoted(expected), "None")
        wanted, given = (
            Message("{value} ({type})", value=quoted(v), type=type(v).__name__)
            for v in (expected, got)
        )
        return Difference("value", name, wanted, given)
    if expected != got:
        return Difference("value", name, show(expected), show(got))
    return None


def _items(
    name: str,
    expected: Sequence[Any],
    got: Sequence[Any],
    tolerance: Tolerance,
    aspects: Collection[str],
) -> Difference | None:
    """The first item of a list that differs, and how many do; a short list of plain values is told whole."""
    if short(expected) and short(got):
        if [*expected] == [*got]:
            return None
        wanted, given = (show({"list": [*items]}) for items in (expected, got))
        return Difference("value", name, wanted, given)
    if len(expected) != len(got):
        pairs = enumerate(zip(expected, got))
        apart = (i for i, (a, b) in pairs if _value(name, a, b, tolerance, aspects))
        first = next(apart, None)
        wanted, given = (Message("{count} items", count=len(items)) for items in (expected, got))
        if first is None:  # one of them only goes on
            return Difference("shape", name, wanted, given)
        items = quoted(expected[first]), quoted(got[first])
        return Difference(
            "shape",
            name,
            Message("{count}; the first that differs: {item}", count=wanted, item=items[0]),
            Message("{count}; the first that differs: {item}", count=given, item=items[1]),
            index=(first,),
        )
    parts = [_value(name, a, b, tolerance, aspects) for a, b in zip(expected, got, strict=True)]
    wrong = [i for i, part in enumerate(parts) if part]
    if not wrong:
        return None
    first = wrong[0]
    part = parts[first]
    assert part is not None
    return msgspec.structs.replace(
        part, index=(first, *part.index), differing=len(wrong), total=len(parts)
    )


def _array(
    name: str, expected: np.ndarray, got: Any, tolerance: Tolerance, aspects: Collection[str]
) -> Difference | None:
    if not isinstance(got, np.ndarray):
        return Difference("value", name, show(expected), show(got))
    if got.shape != expected.shape:
        if not {"shape", "value"} & set(aspects):
            return None
        return Difference("shape", name, *apart_in_shape(expected, got))
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
