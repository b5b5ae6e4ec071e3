"""Two recordings of one model, before and after an edit: does anything that comes out differ, and where does
the difference begin?
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

SEEN = 1e-6  # relative: less is rounding


def differs(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether logits, losses, gradients or parameters of a model differ, or what a script or sampler did."""
    if "events" in before:
        return bool(before["events"] != after["events"])
    if "experiments" not in before:
        return True  # a sampler: its facts are made of what it drew from
    if before["parameters"] != after["parameters"] or before["shared"] != after["shared"]:
        return True
    pairs = zip(before["experiments"], after["experiments"], strict=False)
    return any(_outcomes_differ(one, other, before, after) for one, other in pairs)


def _outcomes_differ(
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> bool:
    if len(one["runs"]) != len(other["runs"]) or bool(one["failed"]) != bool(other["failed"]):
        return True
    if not same_gradients(one["gradients"], other["gradients"]):
        return True
    for a, b in zip(one["runs"], other["runs"], strict=True):
        for name in ("logits", "loss"):
            x, y = _array(a[name], before), _array(b[name], after)
            if (x is None) != (y is None) or (x is not None and not same(x, y)):
                return True
    return False


def same_gradients(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether norms of gradients are the same by name."""
    if one is None or other is None:
        return one is other
    if one.keys() != other.keys():
        return False
    for name, a in one.items():
        b = other[name]
        if (a is None) != (b is None):
            return False
        if a is not None and abs(a - b) > SEEN * max(abs(a), abs(b), 1e-12):
            return False
    return True


def same(x: Any, y: Any) -> bool:
    """Whether two arrays are equal but for rounding."""
    if x.shape != y.shape:
        return False
    x, y = x.astype(np.float64), y.astype(np.float64)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return bool(np.array_equal(x, y, equal_nan=True))
    return bool(np.abs(x - y).max(initial=0.0) <= SEEN * max(np.abs(x).max(initial=0.0), 1e-12))


def _array(found: Mapping[str, Any] | None, recorded: Mapping[str, Any]) -> Any:
    return None if found is None or found["array"] < 0 else recorded["arrays"][found["array"]]


def began_elsewhere(
    before: Mapping[str, Any], after: Mapping[str, Any], lines: Collection[tuple[str, int]]
) -> bool:
    """Whether the first call that differs in the first traced run was made by none of these lines of the
    healthy code. Where a constructor or a table was edited, none of the calls is, and nothing can be said.
    Memory that is made empty holds what was there until all of it has been written, so it is not compared.
    """
    if "experiments" not in before:
        return False
    one, other = before["experiments"][0]["trace"], after["experiments"][0]["trace"]
    if one is None or other is None or not _ran(one, lines):
        return False
    empty = _made_empty(one)
    for place, call in enumerate(one["calls"]):
        if call["outs"] and all(one["values"][out]["storage"] in empty for out in call["outs"]):
            continue
        if place >= len(other["calls"]) or not _same_call(
            one, call, other, other["calls"][place], before, after
        ):
            return not _made_by(one, call, lines) and _before_lines(one, place, lines)
    return False


def _made_empty(trace: Mapping[str, Any]) -> set[int]:
    """The storages of what `torch.empty` and its like made."""
    calls = [call for call in trace["calls"] if call["name"].startswith("empty")]
    return {trace["values"][out]["storage"] for call in calls for out in call["outs"]}


def _ran(trace: Mapping[str, Any], lines: Collection[tuple[str, int]]) -> bool:
    return any(_made_by(trace, call, lines) for call in trace["calls"])


def _made_by(
    trace: Mapping[str, Any], call: Mapping[str, Any], lines: Collection[tuple[str, int]]
) -> bool:
    for number in call["frames"]:
        path, _, first, last, *_ = trace["frames"][number]
        if any(path == p and first <= line <= last for p, line in lines):
            return True
    return False


def _before_lines(trace: Mapping[str, Any], place: int, lines: Collection[tuple[str, int]]) -> bool:
    """Whether the edited lines make their first call only after this one."""
    first = next(i for i, call in enumerate(trace["calls"]) if _made_by(trace, call, lines))
    return place < first


def _same_call(one, call, other, again, before, after) -> bool:  # type: ignore[no-untyped-def]
    if call["name"] != again["name"] or len(call["outs"]) != len(again["outs"]):
        return False
    for a, b in zip(call["outs"], again["outs"], strict=True):
        x, y = (_array(one["values"][a], before), _array(other["values"][b], after))
        if (x is None) != (y is None):
            return False
        if x is not None and (x.shape != y.shape or x.tobytes() != y.tobytes()):
            return False
    return True
