"""Two training scripts, and two samplers, compared by what they did."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from engine.judge.torch_runs import Called, Trained, drawn, trainings
from engine.run.types import Draw


def script(losses: list[float], norms: list[float] | None = None) -> Trained:
    count = len(losses)
    return Trained(
        batches=[[1, 2]] * count, losses=losses, targets=[[2, 3]] * count, norms=norms or [1.0] * count,
        rates=[(0.1,)] * count, moved=[(3, 3)] * count, groups=[[]] * count,
    )  # fmt: skip


def failing(wanted: Trained, got: Trained) -> list[str]:
    return [one.id for one in trainings(wanted, got, alike=True) if not one.passed]


def test_the_same_script_agrees() -> None:
    assert failing(script([4.0, 3.9]), script([4.0, 3.9])) == []


@pytest.mark.parametrize(
    ("losses", "agrees"),
    [
        ([4.00002, 3.9], True),  # rounding
        ([4.001, 3.9], False),  # label smoothing at the start
        ([4.0, 3.903], True),  # rounding that has added up
        ([4.0, 3.95], False),
        ([4.0], False),  # one backward pass fewer
    ],
)
def test_losses_agree_closely_at_first_and_less_so_later(losses: list[float], agrees: bool) -> None:
    assert (failing(script([4.0, 3.9]), script(losses)) == []) is agrees


@pytest.mark.parametrize(("targets", "agrees"), [([2, 3], True), ([1, 2], False)])
def test_targets_agree_also_where_no_gradient_comes_of_them(
    targets: list[int], agrees: bool
) -> None:
    got = msgspec.structs.replace(script([4.0, 3.9]), targets=[[2, 3], targets])
    assert (failing(script([4.0, 3.9]), got) == []) is agrees


def test_a_loss_that_is_computed_in_another_way_shows_no_targets() -> None:
    got = msgspec.structs.replace(script([4.0, 3.9]), targets=[])
    assert failing(script([4.0, 3.9]), got) == []


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
