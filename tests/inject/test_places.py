"""Expressions are found by the values that they held."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.inject.places import Recording
from engine.run.child.tracer import Recorder

SITE = ("m.py", 1, 0, 1, 5, "Call")
rng = np.random.default_rng(3)
WANTED = rng.standard_normal((2, 3, 5, 7))


def row(values: list[np.ndarray], frames: list[int], times: int = 0) -> dict[str, Any]:
    """What the tracer says of an expression; times: how often it ran, if not for these alone."""
    return {
        "site": list(SITE), "values": values, "frames": frames, "times": times or len(values),
    }  # fmt: skip


def held(values: list[np.ndarray], frames: list[int], wanted: Any) -> bool:
    """Whether one expression that had these values, in these frames, held `wanted`."""
    recording = Recording([row(values, frames)])
    found = recording.holding(np.asarray(wanted))
    assert [site.key for site in found] in ([], [("m.py", 1, 0, 1, 5)])
    return bool(found)


FORMS = {
    "as it is": [WANTED],
    "among others": [WANTED + 1, WANTED],
    "with axes merged": [WANTED.reshape(6, 35)],
    "with axes in another order": [WANTED.transpose(0, 2, 1, 3)],
    "in another order and merged": [WANTED.transpose(0, 2, 1, 3).reshape(10, 21)],
    "transposed": [WANTED.T],
    "flat": [WANTED.reshape(-1)],
    "with an axis of one": [WANTED[:, None]],
    "in float32": [WANTED.astype(np.float32)],
    "but for rounding": [WANTED * (1 + 1e-12)],
    "row by row": list(WANTED),
    "head by head": [WANTED[:, i] for i in range(3)],
    "row by row, head by head": [WANTED[i, j] for i in range(2) for j in range(3)],
}


@pytest.mark.parametrize("values", FORMS.values(), ids=FORMS)
def test_a_value_is_known_in_whatever_form_it_is_held(values: list[np.ndarray]) -> None:
    """The loop may be one frame, or a function that is called anew each time."""
    assert held(values, [0] * len(values), WANTED)
    assert held(values, list(range(len(values))), WANTED)


@pytest.mark.parametrize(
    "values",
    [
        [WANTED * 1.001],
        [WANTED[::-1]],
        [-WANTED],
        [WANTED[0]],
        [WANTED[0], WANTED[0]],
        [np.zeros(0)],
    ],
)
def test_another_value_is_not_taken_for_it(values: list[np.ndarray]) -> None:
    """Near is not equal, and part is not all."""
    assert not held(values, [0] * len(values), WANTED)


def test_infinities_and_nans_are_values_like_others() -> None:
    """Masked scores hold them."""
    masked = np.where(WANTED > 0, WANTED, -np.inf)
    assert held([masked], [0], masked)
    for bottom in (-1e9, -1e30, np.finfo(np.float64).min):  # what many write in its place
        assert held([np.where(WANTED > 0, WANTED, bottom)], [0], masked)
    assert not held([np.where(WANTED > 0, WANTED, -1e4)], [0], masked)
    assert not held([np.where(WANTED > 0, WANTED, 1e9)], [0], masked)
    assert not held([np.asarray(-1e9)], [0], -np.inf)
    blank = np.where(WANTED > 0, WANTED, np.nan)
    assert held([blank], [0], blank)
    assert not held([blank], [0], masked)


def test_scalars_and_integers() -> None:
    """A d_head, an n - 1."""
    assert held([np.asarray(16)], [0], 16)
    assert held([np.asarray(0.25)], [0], 0.25)
    assert not held([np.asarray(15)], [0], 16)


@pytest.mark.parametrize(
    ("values", "steady"), [([5], True), ([5, 5, 5], True), ([0, 5, 10], False), ([10, 5], False)]
)
def test_a_number_is_held_for_good_or_only_in_passing(values: list[int], steady: bool) -> None:
    """A loop's counter is 5 once, and no name for the head's size."""
    recorded = row([np.asarray(n) for n in values], [0] * len(values))
    (site,) = Recording([recorded]).holding(np.asarray(5))
    assert site.steady is steady


ROWS = [WANTED[:1], WANTED[1:]]


@pytest.mark.parametrize(
    ("values", "times", "common"),
    [
        ([WANTED], 1, False),
        ([WANTED], 3, False),  # of x, of the mean, of the variance
        ([WANTED], 30, True),
        ([WANTED + 1, WANTED, WANTED + 2, WANTED + 3, WANTED + 4], 5, True),
        ([WANTED] * 5, 5, False),
        (ROWS, 2, False),  # a loop over the batch
        (ROWS * 3, 6, False),
        (ROWS, 30, True),
    ],
)
def test_what_runs_for_many_other_values_is_common(
    values: list[np.ndarray], times: int, common: bool
) -> None:
    """The middle of an operation that everything goes through is no place for one layer's bug."""
    frames = [i // 2 for i in range(len(values))]
    (site,) = Recording([row(values, frames, times)]).holding(WANTED)
    assert site.common is common


def test_how_often_an_expression_ran_is_counted_for_values_of_any_size() -> None:
    """Those that are not kept, too."""
    recorder = Recorder({"sizes": [2], "cap": 1000}, [("m.py", 1, 0, 1, 9, "Name")])
    for size in (1, 2, 3, 2):
        recorder(0, np.ones(size))
    (found,) = recorder.found()
    assert (found["times"], len(found["values"])) == (4, 2)


@pytest.mark.parametrize("value", [float("-inf"), -1e30, 1e308, 2.5, 3])
def test_numbers_of_any_size_are_recorded(value: float) -> None:
    """What stands for minus infinity in a mask can be looked for."""
    recorder = Recorder({"sizes": [1], "cap": 1000}, [])
    recorder.sites.append(("m.py", 1, 0, 1, 9, "Name"))
    assert recorder(0, value) == value
    recording = Recording(recorder.found())
    assert [site.path for site in recording.holding(np.asarray(value))] == ["m.py"]


def test_an_integer_too_large_for_an_array_is_left_out() -> None:
    """It is handed on all the same."""
    recorder = Recorder({"sizes": [1], "cap": 1000}, [])
    recorder.sites.append(("m.py", 1, 0, 1, 9, "Name"))
    assert recorder(0, 1 << 80) == 1 << 80 and recorder.found() == []
