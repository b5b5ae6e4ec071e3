"""Two recordings of one model: does anything that comes out differ, and did the difference begin at the edit?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.flows.prefix import began_elsewhere, differs

LINES = {("model.py", 12)}


def recording(
    first: float = 1.0, second: float = 2.0, logits: float = 3.0, gradient: float = 1.0
) -> dict[str, Any]:
    """Two calls, made by lines 10 and 12, and what came out."""
    arrays = [np.array([n]) for n in (first, second, logits)]
    calls = [{"name": name, "outs": [i], "frames": [i]} for i, name in enumerate(("mul", "add"))]
    frames = [("model.py", "forward", line, line, 0, 9) for line in (10, 12)]
    trace = {
        "values": [{"array": 0, "storage": 0}, {"array": 1, "storage": 1}],
        "calls": calls,
        "frames": frames,
    }
    experiment = {
        "trace": trace,
        "failed": None,
        "gradients": {"w": gradient},
        "runs": [{"logits": {"array": 2}, "loss": None}],
    }
    return {"experiments": [experiment], "arrays": arrays, "parameters": 1, "shared": []}


def test_the_same_twice_differs_in_nothing() -> None:
    assert not differs(recording(), recording())


@pytest.mark.parametrize("other", [{"logits": 3.1}, {"gradient": 1.1}, {"logits": float("nan")}])
def test_what_comes_out_differs(other: dict[str, float]) -> None:
    assert differs(recording(), recording(**other))


def test_rounding_is_no_difference() -> None:
    assert not differs(recording(), recording(logits=3.0 + 1e-9))


def test_another_number_of_parameters_is_a_difference() -> None:
    assert differs(recording(), {**recording(), "parameters": 2})


def test_a_script_differs_where_its_events_do() -> None:
    assert differs({"events": [1, 2]}, {"events": [1, 3]})
    assert not differs({"events": [1, 2]}, {"events": [1, 2]})


def test_a_difference_at_the_edited_line_began_there() -> None:
    assert not began_elsewhere(recording(), recording(second=2.5), LINES)


def test_a_difference_before_the_edited_line_began_elsewhere() -> None:
    assert began_elsewhere(recording(), recording(first=1.5), LINES)


def test_of_an_edit_that_no_call_is_made_by_nothing_is_said() -> None:
    """A constructor: its line runs before the trace begins."""
    assert not began_elsewhere(recording(), recording(first=1.5), {("model.py", 3)})


def test_one_bit_is_a_difference_before_the_edit() -> None:
    """What runs before an edit is the same to the last bit, or something else is at work."""
    near = float(np.nextafter(1.0, 2.0))
    assert began_elsewhere(recording(), recording(first=near), LINES)


def test_memory_that_is_made_empty_is_not_compared() -> None:
    """Half of it holds anything until the other half has been written, too."""
    before, after = recording(), recording(first=1.5)
    for found in (before, after):
        trace = found["experiments"][0]["trace"]
        trace["calls"].insert(0, {"name": "empty_like", "outs": [0], "frames": [0]})
        trace["calls"][1]["name"] = "__setitem__"
    assert not began_elsewhere(before, after, LINES)
