"""Numbers in a pattern: each pattern is what it says, and what is not legal never comes of it."""

from __future__ import annotations

import numpy as np
import pytest

from engine.exam.targeted import STIRRED
from engine.run.child.exam.patterns import FLOATS, IDS, patterned

SHAPES = [(7,), (3, 5), (2, 3, 6), (1, 4), (4, 1)]


def rows(x):
    return x.reshape(-1, x.shape[-1])


def largest(x):
    return np.abs(x).max()


HOLDS = {
    "whole": lambda x, y: (y == np.rint(y)).all() and np.abs(y).max() == 4,
    "lone": lambda x, y: np.count_nonzero(y) == 1,
    "signs": lambda x, y: len(np.unique(np.abs(y))) == 1,
    "level": lambda x, y: (y == y[..., :1]).all(),
    "alike": lambda x, y: (rows(y) == rows(y)[0]).all(),
    "rising": lambda x, y: (np.diff(y) >= 0).all() or (np.diff(y) <= 0).all(),
    "one_sided": lambda x, y: (y >= 0).all() or (y <= 0).all(),
    "blank_rows": lambda x, y: ((y == x) | (y == 0)).all() and y.any(),
    "spread": lambda x, y: (
        np.allclose(rows(y) / rows(x), (rows(y) / rows(x))[:, :1])
        and largest(y) <= largest(x) * (1 + 1e-12)
    ),
    "peak": lambda x, y: (
        len(np.unique(np.round(y / x, 12))) == 2 and largest(y) <= largest(x) * (1 + 1e-12)
    ),
    "balanced": lambda x, y: np.allclose(y.sum(-1), 0),
    "aside": lambda x, y: abs(y.mean()) > 5 * y.std() and largest(y) <= largest(x) * (1 + 1e-12),
    "doubled": lambda x, y: len(np.unique(y)) < y.size,
    "smaller": lambda x, y: np.allclose(y, 1e-6 * x, atol=0),
    "all_one": lambda x, y: len(np.unique(y)) == 1,
    "few": lambda x, y: len(np.unique(y)) <= 3,
    "in_order": lambda x, y: (np.diff(y.reshape(-1)) >= 0).all(),
    "extreme": lambda x, y: set(np.unique(y)) <= {x.min(), x.max()},
    "rows_alike": lambda x, y: (rows(y) == rows(y)[0]).all(),
    "turns": lambda x, y: len(np.unique(y)) <= 2 and len(np.unique(y.reshape(-1)[::2])) == 1,
}


@pytest.mark.parametrize("change", [*FLOATS, *IDS], ids=lambda change: change.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_pattern_is_what_it_says(change, shape):
    """On any shape: a vector, rows, one row alone, rows of one number."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(shape) if change in FLOATS else rng.integers(0, 50, shape)
        y = np.array(change(rng, x))
        assert y.shape == x.shape
        assert HOLDS[change.__name__](x, y)
        if change in IDS:
            assert set(np.unique(y)) <= set(np.unique(x))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays_keep_their_dtype_and_inputs_their_names(dtype):
    """One array changes, or all; everything else is as it was; the given inputs stay untouched."""
    given = {
        "x": np.random.default_rng(0).standard_normal((3, 4)).astype(dtype),
        "ids": np.arange(6, dtype=np.int16), "one": np.ones(1, dtype), "eps": 0.1, "mask": None,
    }  # fmt: skip
    kept = {name: np.copy(value) for name, value in given.items()}
    changed = set()
    for which in range(STIRRED // 2):
        made = patterned(np.random.default_rng(which), given, which)
        assert made is None or made.keys() == given.keys()
        for name, value in (made or {}).items():
            if isinstance(value, np.ndarray):
                assert (value.dtype, value.shape) == (given[name].dtype, given[name].shape)
                changed |= {name} if not np.array_equal(value, given[name]) else set()
            else:
                assert value is given[name]
    assert changed == {"x", "ids"}
    assert all(np.array_equal(given[name], kept[name]) for name in ("x", "ids", "one"))


def test_what_has_to_be_positive_stays_so():
    """Limits and rates come as arrays, too."""
    limits = np.array([0.3, 1.0, 5.0, 2.0])
    for which in range(STIRRED // 2):
        made = patterned(np.random.default_rng(which), {"limits": limits}, which)
        assert made is None or (made["limits"] > 0).all()


def test_nothing_to_follow_a_pattern():
    """Settings alone, or arrays of a single number, are left alone, and the draw is not made."""
    given = {"one": np.ones(1), "eps": 1e-5, "mask": np.ones((3, 3), bool)}
    assert patterned(np.random.default_rng(0), given, 0) is None


def test_every_pattern_is_drawn():
    """Of the probe that most checks look at, and of the others, each more than once."""
    assert STIRRED // 2 >= 4 * len(FLOATS) >= 4 * len(IDS)
