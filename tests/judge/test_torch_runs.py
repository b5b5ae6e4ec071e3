"""Two samplers compared by what they did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.judge.torch_runs import Called, drawn
from engine.run.types import Draw


def called(probabilities: list[float]) -> Called:
    empty: Any = np.array([0])
    draw = Draw("sampler", "call", "normal", 0)
    return Called("", "", draw, empty, [np.array([probabilities])], [], empty)


@pytest.mark.parametrize(
    ("healthy", "mended", "agrees"),
    [
        ([0.5, 0.2, 0.3], [0.5, 0.2, 0.3], True),
        ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3], True),  # before: the likeliest first; now: by token
        ([0.2, 0.5, 0.3], [0.5, 0.3, 0.2], True),
        ([0.5, 0.3], [0.2, 0.0, 0.5], False),
        ([0.6, 0.4], [0.4, 0.0, 0.6], True),  # over those that are kept, and over all
        ([0.2, 0.5, 0.3], [0.5, 0.2, 0.3], False),
    ],
)
def test_distributions_agree_in_an_order_of_their_own(
    healthy: list[float], mended: list[float], agrees: bool
) -> None:
    assert (drawn(called(healthy), called(mended)) is None) is agrees
