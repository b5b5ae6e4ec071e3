"""What a mended model gives in train mode, beside what it gave before the break, in whole sentences."""

from __future__ import annotations

import numpy as np

from engine.judge import torch_parts
from engine.words import said

COUNT, WIDE = torch_parts.MANY, 12


def runs(spread, mean=0.0, seed=1, wide=WIDE):
    drawn = np.random.default_rng(seed).normal(mean, spread, (COUNT, wide))
    return list(drawn + np.arange(wide))


def told(wanted, got):
    found = torch_parts.dropped_otherwise(wanted, got)
    return found and (said(found.value), said(found.expected), said(found.got))


def test_as_much_dropped_with_other_random_numbers_agrees():
    assert told(runs(0.1), runs(0.1, seed=2)) is None


def test_more_that_is_dropped_is_told_as_a_standard_deviation():
    name, expected, got = told(runs(0.1), runs(0.3, seed=2))
    assert name.startswith("the standard deviation of an output")
    assert abs(float(expected) - 0.1) < 0.02
    assert abs(float(got) - 0.3) < 0.05


def test_another_mean_and_another_shape_are_told():
    name, *pair = told(runs(0.1), runs(0.1, mean=1.0, seed=2))
    assert name.startswith("the mean of the outputs")
    assert pair == ["the usual one", "another one"]
    _, expected, got = told(runs(0.1), runs(0.1, wide=5))
    assert (expected, got) == (f"{COUNT} results of shape [12]", f"{COUNT} results of shape [5]")
