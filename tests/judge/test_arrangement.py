"""Where a wrong result has its values: rows in another order, or one of them everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from engine.judge.arrangement import reordered
from engine.judge.compare import TOLERANCES
from engine.judge.factors import Pair

ROWS = np.random.default_rng(3).normal(size=(4, 5))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (ROWS[[2, 2, 2, 2]], "Along axis 0 every position holds what is expected at position 2."),
        (ROWS[[1, 2, 3, 0]], "Along axis 0 yours are the expected values in another order: 1, 2, 3, 0."),
        (ROWS[:, [4, 0, 1, 2, 3]], "Along axis 1 yours are the expected values in another order: 4, 0, 1, 2, 3."),
        (ROWS, ""),
        (ROWS[[0, 0, 1, 1]], ""),
        (ROWS + 1.0, ""),
    ],
)  # fmt: skip
def test_where_the_rows_have_gone_is_told(given: np.ndarray, told: str) -> None:
    assert str(reordered(Pair(ROWS, given, {}), TOLERANCES["float64"])) == told
