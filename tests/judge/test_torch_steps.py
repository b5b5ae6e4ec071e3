"""Two training scripts compared by what their steps use."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.judge.torch_steps import Trained, texts_of, trainings

TEXTS = {"train": {1}, "validation": {2}, "training": {1}, "evaluation": {1, 2}}
SETTINGS = {"rate": 0.1, "decay": 0.0, "betas": [0.9, 0.95], "eps": 1e-8}


def parameter(name: str, gradient: float = 1.0, **settings: Any) -> dict[str, Any]:
    return {"name": name, "size": 4, "gradient": gradient, **SETTINGS, **settings}


def script(
    losses: list[list[float]], gradients: list[float] | None = None, **settings: Any
) -> Trained:
    """One row for each step; the second of two parameters has these settings."""
    count = len(losses)
    return Trained(
        batches=[[1, 2]] * count, texts=TEXTS, modes=[(True, False)] * count, losses=losses, targets=[[2, 3]] * count, moved=[(2, 2)] * count,
        parameters=[
            [parameter("w", norm), parameter("b", norm, **settings)]
            for norm in gradients or [1.0] * count
        ],
    )  # fmt: skip


def failing(wanted: Trained, got: Trained) -> list[str]:
    return [one.id for one in trainings(wanted, got, alike=True) if not one.passed]


HEALTHY = script([[2.0, 2.0], [1.9, 2.0]])


def test_the_same_script_agrees() -> None:
    assert failing(HEALTHY, HEALTHY) == []


@pytest.mark.parametrize(
    ("losses", "agrees"),
    [
        ([[2.00001, 2.0], [1.9, 2.0]], True),  # rounding
        ([[2.0, 2.0], [1.903, 2.0]], True),  # rounding that has added up
        ([[4.0, 4.0], [3.8, 4.0]], True),  # gradients are divided, not losses
        ([[4.0], [3.9]], True),  # one backward pass of the sum
        ([[2.0, 2.0], [1.9, 2.1]], False),
    ],
)
def test_how_a_loss_came_to_its_gradients_may_differ(
    losses: list[list[float]], agrees: bool
) -> None:
    assert (failing(HEALTHY, script(losses)) == []) is agrees


@pytest.mark.parametrize(
    ("gradients", "agrees"),
    [([1.00001, 1.0], True), ([1.001, 1.0], False), ([1.0, 1.005], True), ([1.0, 1.05], False)],
)
def test_gradients_agree_closely_at_first_and_less_so_later(
    gradients: list[float], agrees: bool
) -> None:
    got = script([[2.0, 2.0], [1.9, 2.0]], gradients)
    assert (failing(HEALTHY, got) == []) is agrees


def test_losses_that_differ_are_told_where_gradients_do() -> None:
    got = script([[4.0, 4.0], [3.8, 4.0]], [2.0, 2.0])
    assert failing(HEALTHY, got) == ["losses", "norms"]


def test_losses_that_are_no_numbers_are_refused() -> None:
    endless = float("inf")
    assert "losses" in failing(HEALTHY, script([[endless, -endless], [1.9, 2.0]]))


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"rate": 0.2}, "rates"), ({"decay": 0.1}, "groups"), ({"decay": None}, "groups"),
        ({"betas": [0.95, 0.9]}, "groups"), ({"betas": []}, "groups"), ({"eps": 1e-5}, "groups"),
    ],
)  # fmt: skip
def test_the_optimizer_treats_each_parameter_as_it_did(settings: dict[str, Any], kind: str) -> None:
    assert failing(HEALTHY, script([[2.0, 2.0], [1.9, 2.0]], **settings)) == [kind]


@pytest.mark.parametrize("renamed", [False, True])
def test_groups_may_come_in_another_order_and_under_other_names(renamed: bool) -> None:
    rows = [[parameter("w", 1.0, decay=0.1), parameter("b", 2.0)]]
    others = [[parameter("x" if renamed else "b", 2.0), parameter("w", 1.0, decay=0.1)]]
    wanted, got = (
        msgspec.structs.replace(script([[2.0]]), parameters=one) for one in (rows, others)
    )
    assert failing(wanted, got) == []


@pytest.mark.parametrize(
    ("change", "agrees"),
    [
        ({"train": {2}, "validation": {1}}, False),  # exchanged
        ({"training": {2}}, False),
        ({"evaluation": {1}}, False),
        ({"train": {3}}, True),  # kept in another form
        ({"train": set(), "training": set()}, True),  # not followed
    ],
)
def test_batches_come_from_the_text_that_they_came_from(
    change: dict[str, set[int]], agrees: bool
) -> None:
    got = msgspec.structs.replace(HEALTHY, texts={**TEXTS, **change})
    failed = [one.id for one in trainings(HEALTHY, got, alike=False) if not one.passed]
    assert failed == ([] if agrees else ["texts"])


def test_a_batch_that_was_drawn_ahead_is_found_again() -> None:
    train, other = [[1, 2]], [[3, 4]]
    events: list[dict[str, Any]] = [
        {"kind": "D", "name": "train", "source": 1, "x": train},
        {"kind": "D", "name": "validation", "source": 2, "x": other},
        {"kind": "F", "grad": False, "x": other},
        {"kind": "F", "grad": True, "x": train},
        {"kind": "B"},
    ]
    uses = {"train": {1}, "validation": {2}, "training": {1}, "evaluation": {2}}
    assert texts_of(events) == uses


@pytest.mark.parametrize("mode", [(False, False), (True, True)])
def test_the_whole_model_is_in_the_mode_it_was_in(mode: tuple[bool, bool]) -> None:
    got = msgspec.structs.replace(HEALTHY, modes=[(True, False), mode])
    assert failing(HEALTHY, got) == ["modes"]


@pytest.mark.parametrize(("targets", "agrees"), [([2, 3], True), ([1, 2], False)])
def test_targets_agree_also_where_no_gradient_comes_of_them(
    targets: list[int], agrees: bool
) -> None:
    got = msgspec.structs.replace(HEALTHY, targets=[[2, 3], targets])
    assert (failing(HEALTHY, got) == []) is agrees


def test_a_loss_that_is_computed_in_another_way_shows_no_targets() -> None:
    got = msgspec.structs.replace(HEALTHY, targets=[])
    assert failing(HEALTHY, got) == []
