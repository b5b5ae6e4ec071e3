"""Which inputs a judgement draws; nothing is run here."""

from __future__ import annotations

from collections import Counter

from engine.judge.sampling import (
    Plan,
    compared,
    derive,
    joined,
    most_looked_at,
    once,
    plan,
    some_probes,
    thinned,
    usual,
    usual_regimes,
    varied,
)
from engine.run.types import LATE
from engine.spec.types import Check


def check(id: str, probe: str = "p", *regimes: str, **more: object) -> Check:
    return Check(id=id, shows={}, probe=probe, regimes=regimes or ("normal",), **more)


def regimes_of(made: Plan, number: int) -> list[str]:
    return [draw.regime for draw in made.checks[number].draws]


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


def test_where_draws_are_spared_the_usual_regime_has_most_of_them() -> None:
    """And every other one as few as it takes, at least one, whatever the checks ask for."""
    checks = [("c", check("one", "p", "a", "normal", "b", draws=3)), ("c", check("two", "q", "b"))]

    def counts(**more: object) -> Counter[tuple[str, str]]:
        made = plan(checks, seed=1, dtype="float64", sparing=["p"], **more)
        return Counter((draw.probe, draw.regime) for draw in made.draws)

    usual = {("q", "b"): 3}
    assert counts() == usual | {("p", "normal"): 3, ("p", "a"): 1, ("p", "b"): 1}
    many = counts(at_least={"p": 20})
    assert many == usual | {("p", "normal"): 8, ("p", "a"): 6, ("p", "b"): 6}


def test_some_probes_of_each_component_in_their_usual_regime() -> None:
    """Those that are named, what most checks look at, and others by lot, costly ones last."""
    checks = [("c", check(f"c{i}", f"p{i}", "tiny", "normal")) for i in range(9)]
    checks += [("c", check("again", "p4", "tiny", "normal")), ("d", check("d", "p"))]

    def chosen(seed: int, **more: object) -> list[str]:
        found = some_probes(checks, 3, seed=seed, **more)
        assert all(one.regimes == ("normal",) for _, one in found)
        assert ("d", "d") in {(name, one.id) for name, one in found}
        return sorted({one.probe for name, one in found if name == "c"})

    seen = [chosen(seed) for seed in range(20)]
    assert all(len(one) == 3 and "p4" in one for one in seen)
    assert len({*map(tuple, seen)}) > 5 and chosen(7) == chosen(7)
    costly = {"c": [f"p{i}" for i in range(7)]}
    assert {tuple(chosen(seed, costly=costly)) for seed in range(9)} == {("p4", "p7", "p8")}
    named = {"c": ["p1", "gone"]}
    found = {tuple(chosen(seed, costly=costly, foremost=named)) for seed in range(9)}
    assert found == {("p1", "p4", "p7"), ("p1", "p4", "p8")}


def test_costly_probes_are_thinned_by_lot_but_for_their_usual_regimes() -> None:
    """So many draws a component; the others keep theirs."""
    regimes = ["normal", *(f"r{i}" for i in range(20))]
    checks = [(name, check(f"{name}{p}", p, *regimes, draws=1)) for name in "cd" for p in "pq"]
    usual = usual_regimes(checks)

    def left(seed: int, costly: dict[str, list[str]]) -> list[tuple[str, str, str]]:
        whole = plan(checks, seed=seed, dtype="float64")
        made = thinned(whole, usual, costly, 4)
        assert {(d.component, d.probe) for d in made.draws if d.regime == "normal"} == {*usual}
        return [(draw.component, draw.probe, draw.regime) for draw in made.draws]

    def counts(costly: dict[str, list[str]]) -> Counter[tuple[str, str]]:
        return Counter(key[:2] for key in left(3, costly))

    assert counts({}) == dict.fromkeys(usual, 21)
    assert counts({"c": ["p"]}) == dict.fromkeys(usual, 21) | {("c", "p"): 5}
    both = counts({"c": ["p", "q"], "d": ["p"]})
    assert both["c", "p"] + both["c", "q"] == 4 + 2
    assert (both["d", "p"], both["d", "q"]) == (4 + 1, 21)
    assert left(3, {"c": ["p"]}) != left(4, {"c": ["p"]})


def test_the_manners_of_a_probe_take_turns() -> None:
    """Across its regimes; a turn counts the draws of the component that came in this call_variant before."""
    checks = [("c", check("one", "p", "a", "b", draws=2)), ("c", check("two", "q", draws=3))]
    made = plan(checks, seed=1, dtype="float64", call_variants=("", "eval", "fortran"))
    assert [(draw.probe, draw.call_variant, draw.turn) for draw in made.draws] == [
        ("p", "", 0), ("p", "eval", 0), ("p", "fortran", 0), ("p", "", 1),
        ("q", "", 2), ("q", "eval", 1), ("q", "fortran", 1),
    ]  # fmt: skip


def test_one_draw_more_comes_last() -> None:
    """In the call_variant asked for, of the probe that most checks look at, and its checks look at it."""
    checks = [
        ("c", check("one", "p")),
        ("c", check("two", "q")),
        ("c", check("three", "q", "tiny")),
    ]
    assert most_looked_at(checks) == ("c", "q")
    made = plan(checks, seed=1, dtype="float64", last=LATE)
    (late,) = [draw for draw in made.draws if draw.call_variant == LATE]
    assert late == made.draws[-1] and (late.probe, late.regime) == ("q", "normal")
    assert [late in planned.draws for planned in made.checks] == [False, True, False]
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
    """What is left keeps its order, and its seed."""
    checks = [("c", check("a", "p", "x", "y", draws=1)), ("c", check("b", "p", "y", draws=1))]
    made = plan(checks, seed=5, dtype="float64")
    x, y = made.draws
    fewer = made.only({x})
    assert fewer.draws == (x,) and fewer.seed == 5
    assert [(planned.check.id, planned.draws) for planned in fewer.checks] == [("a", (x,))]
    later = made.only([y])
    assert [(planned.check.id, planned.draws) for planned in later.checks] == [
        ("a", (y,)),
        ("b", (y,)),
    ]
    other = plan(iter(checks), seed=6, dtype="float64")
    both = joined(fewer, other.only({other.draws[1]}))
    assert [draw.regime for draw in both.draws] == ["x", "y"] and both.seed == 5
    assert [[draw.regime for draw in one.draws] for one in both.checks] == [["x"], ["y"], ["y"]]
    twice = joined(made, later)
    assert twice.draws == made.draws and len(twice.checks) == 4


def test_each_call_variant_is_drawn_at_an_even_and_an_odd_turn_in_the_usual_regime() -> None:
    """Of the probe that most checks look at: what is special about another regime may hide the bug."""
    checks = [
        ("c", check("one", "p", "zeros", "normal")),
        ("c", check("two", "q")),
        ("c", check("w", "p", "normal")),
        ("c", check("z", "p", "zeros")),
    ]
    made = varied(checks, ("eval", "primed"), seed=2, dtype="float32")
    assert [(draw.probe, draw.call_variant, draw.regime, draw.turn % 2) for draw in made.draws] == [
        ("p", "eval", "normal", 0), ("p", "eval", "normal", 1),
        ("p", "primed", "normal", 0), ("p", "primed", "normal", 1),
    ]  # fmt: skip
    assert len({draw.seed for draw in made.draws}) == 4
    assert {draw.dtype for draw in made.draws} == {"float32"}
    assert [(one.check.id, one.draws) for one in made.checks] == [
        ("one", made.draws), ("w", made.draws),
    ]  # fmt: skip
    pairs = {
        tuple(d.turn for d in varied(checks, ("eval",), seed=s, dtype="").draws) for s in range(60)
    }
    assert pairs == {(0, 1), (2, 3), (4, 5), (6, 7)}


def test_a_probe_is_glanced_at_in_one_regime() -> None:
    """By the checks that look at it there."""
    checks = [
        ("c", check("a", "p", "tiny", "normal")),
        ("c", check("b", "p", "tiny")),
        ("c", check("d", "q", "huge", "deep")),
        ("c", check("e", "q", "deep")),
    ]
    found = [(one.id, one.regimes) for _, one in usual(checks)]
    assert found == [("a", ("normal",)), ("d", ("huge",))]
    assert [one.draws for _, one in once([("c", check("a", draws=7))])] == [1]
