"""Draws near numbers, of each size and way; nothing is run here."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from engine.exam.targeted import (
    ENTRIES,
    FEW_PLACES,
    FEWEST,
    FURTHEST,
    LARGEST_SIZE,
    MIXES,
    PAST,
    PLACES,
    VALUES,
    leaning,
    mixed,
)
from engine.run.types import LATE, Constraint
from engine.spec.types import Check


def check(id: str, probe: str = "p", *regimes: str, **more: object) -> Check:
    return Check(id=id, shows={}, probe=probe, regimes=regimes or ("normal",), **more)


@pytest.mark.parametrize("number", [3.0, 64.0, LARGEST_SIZE, LARGEST_SIZE + 1.0, FURTHEST])
def test_a_whole_number_is_a_size_and_a_count_of_calls(number: float) -> None:
    """Itself, one more, twice and eight times as much, or as much as goes; beyond, a little more alone. Above
    what any input has, arrays have more entries.
    """
    made = leaning([("c", check("a"))], [number], seed=1, dtype="float64")
    sizes = Counter(draw.constraint.number for draw in made.draws if draw.constraint.kind == "size")
    if number <= LARGEST_SIZE:
        wanted = {number, number + 1, 2 * number, min(number * 8, LARGEST_SIZE)}
        assert sizes == {n: PLACES for n in wanted if n <= LARGEST_SIZE}
    else:
        assert sizes == {min(number + PAST, FURTHEST + 1): FEW_PLACES}
    calls = [draw for draw in made.draws if draw.constraint.kind == "calls"]
    assert len(calls) == (1 if number <= LARGEST_SIZE else 0)
    entries = [draw.constraint.which for draw in made.draws if draw.constraint.kind == "entries"]
    assert entries == (list(range(PLACES)) if number > FEWEST else [])
    assert {draw.call_variant for draw in calls} <= {LATE}
    assert sum(draw.constraint.kind == "value" for draw in made.draws) == VALUES
    assert len({draw.seed for draw in made.draws}) == len(made.draws)


@pytest.mark.parametrize("number", [2.0, 0.5, 1e-8, 1e8, 2.5])
def test_other_numbers_are_values_alone(number: float) -> None:
    """Two and less are sizes that every draw has near."""
    made = leaning([("c", check("a"))], [number], seed=1, dtype="float64")
    assert [(draw.constraint.kind, draw.constraint.number) for draw in made.draws] == [
        ("value", number)
    ] * VALUES
    assert [draw.constraint.which for draw in made.draws] == list(range(VALUES))


def test_what_is_too_far_off_is_nothing() -> None:
    """Sizes that nobody makes, and values that are next to nothing or to everything."""
    far = [0.9e-8, 1.1e8]
    assert leaning([("c", check("a"))], far, seed=1, dtype="float64").draws == ()
    beyond = leaning([("c", check("a"))], [FURTHEST + 1.0], seed=1, dtype="float64")
    assert {draw.constraint.kind for draw in beyond.draws} == {"value", "entries"}
    beyond = leaning([("c", check("a"))], [ENTRIES + 1.0], seed=1, dtype="float64")
    assert {draw.constraint.kind for draw in beyond.draws} == {"value"}


def test_callers_call_from_inside_and_each_probe_is_in_its_usual_regime() -> None:
    """One draw a name and probe."""
    checks = [("c", check("a", "p", "tiny", "normal")), ("c", check("b", "q", "deep"))]
    made = leaning(checks, [], seed=1, dtype="float64", callers=("model.head", "forward"))
    assert [
        (draw.constraint, draw.call_variant, draw.probe, draw.regime) for draw in made.draws
    ] == [
        (Constraint("caller", name=name), "inside", probe, regime)
        for name in ("model.head", "forward")
        for probe, regime in (("p", "normal"), ("q", "deep"))
    ]
    assert [planned.draws for planned in made.checks] == [made.draws[::2], made.draws[1::2]]


def test_a_mix_is_of_every_regime_with_sizes_that_the_numbers_are() -> None:
    """Mostly with another of them as a value; a value alone where none is a size."""
    regimes = [f"r{i}" for i in range(40)]
    made = mixed([("c", check("a", "p", *regimes))], [64.0, 0.5], seed=2, dtype="float64")
    constraints = [draw.constraint for draw in made.draws]
    assert Counter(draw.regime for draw in made.draws) == dict.fromkeys(regimes, 4)
    assert {constraint.kind for constraint in constraints} == {"size"}
    assert {constraint.number for constraint in constraints} == {64.0, 65.0, 8 * 64.0}
    assert Counter(constraint.also for constraint in constraints).keys() == {0.0, 0.5}
    assert 0.7 < sum(constraint.also == 0.5 for constraint in constraints) / len(constraints) < 0.9
    assert {constraint.which for constraint in constraints} == set(range(PLACES))
    assert {constraint.way for constraint in constraints} == set(range(VALUES))
    alone = mixed([("c", check("a", "p", *regimes))], [0.5, 2e8, 2.0], seed=2, dtype="float64")
    assert {(draw.constraint.kind, draw.constraint.number) for draw in alone.draws} == {
        ("value", 0.5),
        ("value", 2.0),
    }


def test_a_mix_goes_no_further_than_the_largest_size() -> None:
    """Eight times a number is cut off there, and what is larger itself is no size."""
    regimes = [f"r{i}" for i in range(40)]
    made = mixed([("c", check("a", "p", *regimes))], [900.0, 5000.0], seed=2, dtype="float64")
    assert {draw.constraint.number for draw in made.draws} == {900.0, 901.0, LARGEST_SIZE}
    assert {draw.constraint.also for draw in made.draws} == {0.0, 5000.0}
    assert sorted({*MIXES}) == [0, 1, 8]


def test_numbers_give_the_same_draws_with_the_same_seed() -> None:
    """A verdict can be repeated, and another seed asks other things."""
    checks = [("c", check("a", "p", "x", "y"))]
    for make in (leaning, mixed):
        one, same, other = (make(checks, [64.0], seed=s, dtype="float64") for s in (1, 1, 2))
        assert one == same
        pairs = itertools.zip_longest(one.draws, other.draws)
        assert all(mine.seed != theirs.seed for mine, theirs in pairs)
