"""The call variant "doubled": two calls in one graph, and the numbers of one."""

from __future__ import annotations

import numpy as np
import pytest

from engine.run.child.call_variants import Doubled
from engine.run.child.calls import watched_function


class Tensor:
    """As much of a learner's tensor as it takes."""

    def __init__(self, data, kind=np.float64):
        self.data = np.asarray(data, kind)

    def backward(self):
        raise AssertionError("nobody asked for a gradient")

    def __add__(self, other):
        return Tensor(self.data + other.data)

    def __mul__(self, number):
        return Tensor(self.data * number)


def called(result, *args):
    """What a function of the learner's gives in this call variant, and how often it ran."""
    calls = []

    def function(*_args):
        calls.append(1)
        return result

    return watched_function(function, Doubled({}, None))(*args), len(calls)


def test_a_tensor_is_made_of_two_calls():
    """A quarter of the one, three quarters of the other."""
    one = Tensor([1.0, -8.0])
    both, calls = called(one, Tensor([3.0]))
    assert calls == 2 and both is not one
    assert both.data.tolist() == [1.0, -8.0]
    rises = iter([Tensor([4.0]), Tensor([8.0])])
    assert Doubled({}, None).combined(next(rises), lambda: next(rises)).data.tolist() == [7.0]


@pytest.mark.parametrize("result", [2.5, np.ones(3), (Tensor([1.0]),), None])
def test_what_is_no_tensor_is_left_as_it_is(result):
    """And not asked for again: a step of training would be two."""
    found, calls = called(result, Tensor([3.0]))
    assert found is result and calls == 1


def test_what_a_second_call_would_change_is_called_once():
    """A generator has drawn other numbers by then."""
    one = Tensor([1.0])
    assert called(one, np.random.default_rng(0)) == (one, 1)


def test_another_dtype_is_no_result():
    """Where a tensor times a number is something else, the first call stands."""
    one = Tensor([1.0], np.float32)
    assert called(one, Tensor([3.0])) == (one, 2)
