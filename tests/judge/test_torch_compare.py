"""Draws of two models compared: what is told of them."""

from __future__ import annotations

import numpy as np

from engine.judge.torch_compare import Case, compared

OUTPUT, GRADIENT = ("output", "logits"), ("gradient", "w")


def case(output: float, gradient: float) -> Case:
    """A draw in which the model before the break gave ones."""
    wanted = {OUTPUT: np.ones(3), GRADIENT: np.ones(3)}
    return Case(
        "normal", "", wanted, None, {OUTPUT: np.full(3, output), GRADIENT: np.full(3, gradient)}
    )


def test_what_comes_after_the_first_difference_is_not_told():
    """Outputs differ in one draw, gradients alone in another: that outputs agree would be a lie."""
    found = compared([case(2.0, 2.0), case(1.0, 2.0)])
    assert [(one.id, one.passed) for one in found] == [
        ("raised", True), ("finite", True), ("output", False),
    ]  # fmt: skip


def test_of_a_model_that_gives_no_numbers_nothing_else_is_known():
    found = compared([case(np.nan, np.nan)])
    assert [(one.id, one.passed) for one in found] == [("raised", True), ("finite", False)]


def test_where_all_agrees_all_is_told():
    found = compared([case(1.0, 1.0)])
    assert all(one.passed for one in found) and {"output", "gradient"} <= {one.id for one in found}
