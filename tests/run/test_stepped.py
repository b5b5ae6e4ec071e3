"""An instance whose optimiser has given its parameters new arrays before the call that counts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from engine.run.child.arrays import SMALLER
from engine.run.child.call_variants import Stepped

NUMBERS = np.arange(1.0, 6.0)


class Rebinding:
    def __init__(self, parameters, lr):
        self.parameters, self.lr = parameters, lr

    def step(self):
        for p in self.parameters:
            p.data = p.data - self.lr * p.grad


class InPlace(Rebinding):
    def step(self):
        for p in self.parameters:
            p.data -= self.lr * p.grad


class Layer:
    def __init__(self, fails=False):
        self.weight = SimpleNamespace(data=NUMBERS.copy(), grad="a gradient")
        self.seen, self.fails = [], fails

    def parameters(self):
        yield self.weight

    def __call__(self):
        self.seen.append((self.weight.data, self.weight.data.copy()))
        if self.fails:
            raise ValueError("not today")


def moved(layer, optimiser):
    """The array that it had."""
    array = layer.weight.data
    stepped = Stepped({"updates": "SGD"}, SimpleNamespace(SGD=optimiser))
    stepped.before(layer, layer, ())
    assert np.array_equal(layer.weight.data, NUMBERS) and layer.weight.grad == "a gradient"
    assert np.array_equal(array, NUMBERS)
    return array


@pytest.mark.parametrize("fails", [False, True])
def test_it_is_called_with_other_numbers_in_an_array_that_goes(fails):
    """Neither the array that a graph may hold nor the one that counts."""
    layer = Layer(fails)
    old = moved(layer, Rebinding)
    [(array, numbers)] = layer.seen
    assert numbers[0] == NUMBERS[0] and numbers.sum() != np.sum(NUMBERS)
    assert sorted(numbers[1:]) == sorted(SMALLER * number for number in NUMBERS[1:])
    assert array is not old
    assert fails or array is not layer.weight.data


def test_where_arrays_stay_nothing_is_called():
    """An optimiser that works in place has nothing to show."""
    layer = Layer()
    assert moved(layer, InPlace) is layer.weight.data and not layer.seen


def test_without_an_optimiser_nothing_happens():
    """Nor without parameters."""
    layer = Layer()
    assert moved(layer, None) is layer.weight.data and not layer.seen
    Stepped({}, None).before(object(), None, ())
