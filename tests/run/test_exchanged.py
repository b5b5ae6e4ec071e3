"""What comes before a call that counts differs from it in two inner numbers, or in a setting."""

from __future__ import annotations

import numpy as np
import pytest

from engine.run.child.arrays import arrays_of
from engine.run.child.call_variants import Beside
from engine.run.child.exam.exchange import exchange, exchanged

SHAPES = [(7,), (3,), (2,), (2, 5), (3, 4), (2, 3, 6), (9, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turn", range(8))
def test_two_numbers_of_one_row_are_exchanged(shape: tuple[int, ...], turn: int) -> None:
    was = np.random.default_rng(turn).standard_normal(shape)
    array = was.copy()
    exchange(array, turn)
    places = np.argwhere(array != was)
    assert len(places) == 2
    assert (places[0][:-1] == places[1][:-1]).all(), "in one row"
    if turn % 2:  # brought nearer to each other: what an order does not change is another now
        assert array.sum() == pytest.approx(was.sum())
        assert array.std() < was.std()
    else:
        np.testing.assert_array_equal(np.sort(array, axis=None), np.sort(was, axis=None))
    if shape[-1] > 3:
        assert {0, shape[-1] - 1}.isdisjoint(places[:, -1]), "not at an end"
    if len(shape) == 2 and shape[0] > 2:
        assert 0 < places[0][0] < shape[0] - 1, "neither in the first nor in the last row"


def test_the_sum_stays_where_it_can() -> None:
    """0.1 + 0.2 + 0.3 depends on the order; with one pair of eight it does not."""
    sums = 0
    for seed in range(40):
        was = np.random.default_rng(seed).standard_normal(9)
        array = was.copy()
        exchange(array, 0)
        sums += bool(array.sum() == was.sum())
    assert sums >= 36


def test_rows_in_turn() -> None:
    """By the second row alone, or the one in the middle, nothing can be kept."""
    found = set()
    for turn in range(8):
        array = np.arange(35.0).reshape(7, 5)
        exchange(array, turn)
        found.add(int(np.argwhere(array != np.arange(35.0).reshape(7, 5))[0][0]))
    assert found == {1, 3}


def test_ids_and_masks_stay_what_they_are() -> None:
    """Whole numbers and booleans are exchanged in every turn: what lies between them may not be one."""
    for turn in range(4):
        ids, mask = np.arange(12).reshape(3, 4), np.tri(4, dtype=bool)
        exchange(ids, turn)
        exchange(mask, turn)
        assert sorted(ids.ravel().tolist()) == list(range(12))
        assert (ids != np.arange(12).reshape(3, 4)).sum() == 2
        assert mask.sum(-1).tolist() == [1, 2, 3, 4] and (mask != np.tri(4, dtype=bool)).any()


@pytest.mark.parametrize("order", ["C", "F"])
def test_it_is_the_array_itself_and_what_it_held_comes_back(order: str) -> None:
    was = np.random.default_rng(0).standard_normal((4, 5))
    array = np.array(was, order=order)
    with exchanged([array, np.array(3.0), np.ones((0, 3)), np.ones(5)], 0):
        assert (array != was).sum() == 2
    np.testing.assert_array_equal(array, was)


def test_other_settings_include_one_that_divides_everything() -> None:
    """An attention of three times as many heads may not exist; one of a single head always does."""
    assert Beside({}, None).like(4) == [12, 1]
    assert Beside({}, None).like(1) == [3]
    assert Beside({}, None).like(0.5) == [1.5]
    assert Beside({}, None).like(True) == [False]


def test_views_that_cannot_be_written_to_are_left_alone() -> None:
    """A mask made by broadcast_to: nine right packages of 84 pairs were refused for what it raised."""
    mask = np.broadcast_to(np.tri(3, dtype=bool), (2, 3, 3))
    values = np.ones(3)
    assert [a is values for a in arrays_of((mask, values, "text", 3))] == [True]
