"""Which inputs a judgement draws; nothing is run here."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from engine.judge.plan import (
    FEW_PLACES,
    FURTHEST,
    LARGEST_SIZE,
    MIXES,
    PLACES,
    VALUES,
    Plan,
    compared,
    derive,
    joined,
    leaning,
    mixed,
    most_looked_at,
    plan,
    usual_regimes,
)
from engine.run.types import LATE, Lean
from engine.spec.types import Check


def check(id: str, probe: str = "p", *regimes: str, **more: object) -> Check:
    return Check(id=id, shows={}, probe=probe, regimes=regimes or ("normal",), **more)


def regimes_of(made: Plan, number: int) -> list[str]:
    return [made.draws[i].regime for i in made.checks[number].draws]


def test_a_draw_is_made_once_for_all_checks_that_look_at_it() -> None:
    """As many as the most demanding check of a regime asks for, one after the other."""
    made = plan(
        [
            ("c", check("one", "p", "normal", "tiny", draws=2)),
            ("c", check("two", "p", "tiny", draws=4)),
            ("other", check("three", "p", "tiny", draws=1)),
        ],
        seed=7,
        dtype="float32",
    )
    assert regimes_of(made, 0) == ["normal"] * 2 + ["tiny"] * 4
    assert regimes_of(made, 1) == ["tiny"] * 4
    assert set(made.checks[1].draws) < set(made.checks[0].draws)
    assert len(made.draws) == 7 and made.seed == 7
    assert [draw.component for draw in made.draws] == ["c"] * 6 + ["other"]
    assert {draw.dtype for draw in made.draws} == {"float32"}
    assert len({draw.seed for draw in made.draws}) == 7


def test_draws_at_least_are_spread_over_the_regimes_of_a_probe() -> None:
    """Rounded up, so that there are never fewer; a regime that has more keeps them."""
    checks = [("c", check("one", "p", "a", "b", "c", draws=1)), ("c", check("two", "q", draws=1))]
    checks.append(("c", check("three", "p", "b", draws=12)))
    made = plan(checks, seed=1, dtype="float64", at_least={"p": 10})
    counts = Counter((draw.probe, draw.regime) for draw in made.draws)
    assert counts == {("p", "a"): 4, ("p", "b"): 12, ("p", "c"): 4, ("q", "normal"): 1}


def test_the_manners_of_a_probe_take_turns() -> None:
    """Across its regimes; a turn counts the draws of the component that came in this manner before."""
    checks = [("c", check("one", "p", "a", "b", draws=2)), ("c", check("two", "q", draws=3))]
    made = plan(checks, seed=1, dtype="float64", manners=("", "eval", "fortran"))
    assert [(draw.probe, draw.manner, draw.turn) for draw in made.draws] == [
        ("p", "", 0), ("p", "eval", 0), ("p", "fortran", 0), ("p", "", 1),
        ("q", "", 2), ("q", "eval", 1), ("q", "fortran", 1),
    ]  # fmt: skip


def test_one_draw_more_comes_last() -> None:
    """In the manner asked for, of the probe that most checks look at, and its checks look at it."""
    checks = [
        ("c", check("one", "p")),
        ("c", check("two", "q")),
        ("c", check("three", "q", "tiny")),
    ]
    assert most_looked_at(checks) == ("c", "q")
    made = plan(checks, seed=1, dtype="float64", last=LATE)
    late = [i for i, draw in enumerate(made.draws) if draw.manner == LATE]
    assert late == [len(made.draws) - 1]
    assert (made.draws[late[0]].probe, made.draws[late[0]].regime) == ("q", "normal")
    assert [late[0] in planned.draws for planned in made.checks] == [False, True, False]
    assert len({draw.seed for draw in made.draws}) == len(made.draws)
    assert plan([], seed=1, dtype="float64", last=LATE).draws == ()


def test_a_seed_is_of_63_bits_and_hangs_on_every_part() -> None:
    """The same for the same, another for the same texts cut elsewhere."""
    parts = [
        (1, "c", "p", 0),
        (2, "c", "p", 0),
        (1, "d", "p", 0),
        (1, "c", "q", 0),
        (1, "c", "p", 1),
    ]
    seeds = [derive(*some) for some in parts]
    assert len({*seeds}) == len(parts) and all(0 <= seed < 1 << 63 for seed in seeds)
    assert seeds == [derive(*some) for some in parts]
    assert any(derive(1, i) >= 1 << 62 for i in range(64))


def test_a_regime_of_the_usual_kind_is_normal_or_the_first_named() -> None:
    """Whichever check names it."""
    checks = [("c", check("a", "p", "tiny")), ("c", check("b", "p", "huge", "normal"))]
    checks += [("c", check("c", "q", "deep", "huge")), ("c", check("d", "q", "huge"))]
    assert usual_regimes(checks) == {("c", "p"): "normal", ("c", "q"): "deep"}


def test_what_is_compared_is_what_some_check_compares() -> None:
    """All of it where one check names nothing; a check of shapes alone compares no value."""
    assert compared([check("a", values=("y",)), check("b", values=("grad", "y"))]) == ("grad", "y")
    assert compared([check("a", values=("y",)), check("b")]) == ()
    assert compared([check("a", values=("y",), aspects=("shape",))]) == ()
    made = plan(
        [("c", check("a", "p", "normal", values=("y",), draws=1)), ("c", check("b", "q", draws=1))],
        seed=1,
        dtype="float64",
    )
    assert made.compared() == [("y",), ()]


def test_dropped_draws_take_checks_that_had_no_others_along() -> None:
    """What is left keeps its order, and checks find theirs."""
    checks = [("c", check("a", "p", "x", "y", draws=1)), ("c", check("b", "p", "y", draws=1))]
    made = plan(checks, seed=5, dtype="float64")
    fewer = made.without({1})
    assert [draw.regime for draw in fewer.draws] == ["x"] and fewer.seed == 5
    assert [(planned.check.id, planned.draws) for planned in fewer.checks] == [("a", (0,))]
    later = made.without({0})
    assert [(planned.check.id, planned.draws) for planned in later.checks] == [
        ("a", (0,)),
        ("b", (0,)),
    ]
    both = joined(fewer, plan(iter(checks), seed=6, dtype="float64").without({0}))
    assert [draw.regime for draw in both.draws] == ["x", "y"] and both.seed == 5
    assert [planned.draws for planned in both.checks] == [(0,), (1,), (1,)]


@pytest.mark.parametrize("number", [3.0, 64.0, LARGEST_SIZE, LARGEST_SIZE + 1.0, FURTHEST])
def test_a_whole_number_is_a_size_and_a_count_of_calls(number: float) -> None:
    """Itself, one more, and eight times as much where that is not too much; beyond, one more alone."""
    made = leaning([("c", check("a"))], [number], seed=1, dtype="float64")
    sizes = Counter(draw.lean.number for draw in made.draws if draw.lean.kind == "size")
    if number <= LARGEST_SIZE:
        wanted = [number, number + 1, number * 8]
        assert sizes == {n: PLACES for n in wanted if n <= LARGEST_SIZE}
    else:
        assert sizes == {number + 1: FEW_PLACES}
    calls = [draw for draw in made.draws if draw.lean.kind == "calls"]
    assert len(calls) == (2 if number <= LARGEST_SIZE else 0)
    assert {draw.manner for draw in calls} <= {LATE}
    assert sum(draw.lean.kind == "value" for draw in made.draws) == VALUES
    assert len({draw.seed for draw in made.draws}) == len(made.draws)


@pytest.mark.parametrize("number", [2.0, 0.5, 1e-8, 1e8, 2.5])
def test_other_numbers_are_values_alone(number: float) -> None:
    """Two and less are sizes that every draw has near."""
    made = leaning([("c", check("a"))], [number], seed=1, dtype="float64")
    assert [(draw.lean.kind, draw.lean.number) for draw in made.draws] == [
        ("value", number)
    ] * VALUES
    assert [draw.lean.which for draw in made.draws] == list(range(VALUES))


def test_what_is_too_far_off_is_nothing() -> None:
    """Sizes that nobody makes, and values that are next to nothing or to everything."""
    far = [0.9e-8, 1.1e8]
    assert leaning([("c", check("a"))], far, seed=1, dtype="float64").draws == ()
    beyond = leaning([("c", check("a"))], [FURTHEST + 1.0], seed=1, dtype="float64")
    assert {draw.lean.kind for draw in beyond.draws} == {"value"}


def test_callers_call_from_inside_and_each_probe_is_in_its_usual_regime() -> None:
    """One draw a name and probe."""
    checks = [("c", check("a", "p", "tiny", "normal")), ("c", check("b", "q", "deep"))]
    made = leaning(checks, [], seed=1, dtype="float64", callers=("model.head", "forward"))
    assert [(draw.lean, draw.manner, draw.probe, draw.regime) for draw in made.draws] == [
        (Lean("caller", name=name), "inside", probe, regime)
        for name in ("model.head", "forward")
        for probe, regime in (("p", "normal"), ("q", "deep"))
    ]
    assert [planned.draws for planned in made.checks] == [(0, 2), (1, 3)]


def test_a_mix_is_of_every_regime_with_sizes_that_the_numbers_are() -> None:
    """Mostly with another of them as a value; a value alone where none is a size."""
    regimes = [f"r{i}" for i in range(40)]
    made = mixed([("c", check("a", "p", *regimes))], [64.0, 0.5], seed=2, dtype="float64")
    leans = [draw.lean for draw in made.draws]
    assert Counter(draw.regime for draw in made.draws) == dict.fromkeys(regimes, 4)
    assert {lean.kind for lean in leans} == {"size"}
    assert {lean.number for lean in leans} == {64.0, 65.0, 8 * 64.0}
    assert Counter(lean.also for lean in leans).keys() == {0.0, 0.5}
    assert 0.7 < sum(lean.also == 0.5 for lean in leans) / len(leans) < 0.9
    assert {lean.which for lean in leans} == set(range(PLACES))
    assert {lean.way for lean in leans} == set(range(VALUES))
    alone = mixed([("c", check("a", "p", *regimes))], [0.5, 2e8, 2.0], seed=2, dtype="float64")
    assert {(draw.lean.kind, draw.lean.number) for draw in alone.draws} == {
        ("value", 0.5),
        ("value", 2.0),
    }


def test_a_mix_goes_no_further_than_the_largest_size() -> None:
    """Eight times a number is cut off there, and what is larger itself is no size."""
    regimes = [f"r{i}" for i in range(40)]
    made = mixed([("c", check("a", "p", *regimes))], [900.0, 5000.0], seed=2, dtype="float64")
    assert {draw.lean.number for draw in made.draws} == {900.0, 901.0, LARGEST_SIZE}
    assert {draw.lean.also for draw in made.draws} == {0.0, 5000.0}
    assert sorted({*MIXES}) == [0, 1, 8]


def test_numbers_give_the_same_draws_with_the_same_seed() -> None:
    """A verdict can be repeated, and another seed asks other things."""
    checks = [("c", check("a", "p", "x", "y"))]
    for make in (leaning, mixed):
        one, same, other = (make(checks, [64.0], seed=s, dtype="float64") for s in (1, 1, 2))
        assert one == same
        pairs = itertools.zip_longest(one.draws, other.draws)
        assert all(mine.seed != theirs.seed for mine, theirs in pairs)
