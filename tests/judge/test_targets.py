"""What a fix is held against: one whole target, decided from outcomes alone; nothing is run here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.errors import EngineError
from engine.judge.decide import decide
from engine.judge.measured import Extra, Measured
from engine.judge.sampling import Plan, Planned
from engine.judge.verdict import (
    Result,
    Verdict,
    failing_checks,
    judge_build,
    judge_fix,
    shapes,
    with_extra,
)
from engine.run.types import CALL_VARIANTS, LATE, SMALL, Case, Constraint, Draw, Outcome, Raised
from engine.spec.types import Check

OWN, OTHER = 1.0, 2.0  # what the code before the break gave, and what the reference gives
VARIANT = 3.0
WRONG = 9.0


def check(id: str, **more: object) -> Check:
    return Check(id=id, shows=f"what {id} is for", probe="forward", regimes=("normal",), **more)


def outcome(value: object) -> Outcome:
    return value if isinstance(value, Outcome) else Outcome(values={"y": np.asarray(value)})


def case(component: str = "head", seed: int = 1, **more: str) -> Case:
    draw = Draw(component, "forward", "normal", seed, **more)
    return Case(draw, {"x": np.zeros((2, 3))}, {"": outcome(OTHER), "variant": outcome(VARIANT)})


def measured(
    planned: Sequence[Planned],
    cases: Sequence[Case],
    theirs: Sequence[object],
    own: Sequence[object] = (),
) -> Measured:
    """These cases, with what was given in each."""
    draws = tuple(one.draw for one in cases)
    gave, before = ({draw: outcome(v) for draw, v in zip(draws, some)} for some in (theirs, own))
    return Measured(Plan(draws, tuple(planned), 5), {c.draw: c for c in cases}, gave, before)


def heads(*names: str) -> tuple[list[Planned], list[Case]]:
    """One check and one draw of each of these components."""
    cases = [case(name, seed) for seed, name in enumerate(names)]
    checks = [Planned(c.draw.component, check(f"c{i}"), (c.draw,)) for i, c in enumerate(cases)]
    return checks, cases


def verdict(
    theirs: Sequence[object],
    components: Sequence[str] = ("head", "head"),
    own: Sequence[object] = (),
    **how: object,
) -> Verdict:
    """One check for each draw, of these components; the head is the broken one."""
    found = measured(*heads(*components), theirs, own or [OWN] * len(components))
    given = {"touched": {"head"}, "acceptable": ("variant",), **how}
    return judge_fix(found, **given)


@pytest.mark.parametrize(
    ("value", "target"), [(OWN, "before"), (OTHER, "reference"), (VARIANT, "variant")]
)
def test_each_target_is_right_where_it_is_held_throughout(value: float, target: str) -> None:
    """And it is told which one it was."""
    found = verdict([value, value])
    assert found.passed and found.target == target and found.measurements == 2
    assert found.seed == "5"


@pytest.mark.parametrize("first", [OWN, OTHER, VARIANT])
@pytest.mark.parametrize("second", [OWN, OTHER, VARIANT, WRONG])
def test_a_mixture_of_targets_is_none(first: float, second: float) -> None:
    """Each measurement agrees with something, and the whole with nothing."""
    assert verdict([first, second]).passed == (first == second)


def test_what_is_told_is_held_against_the_nearest_target() -> None:
    """The one with the fewest failures, the earlier one where there are as many."""
    found = verdict([OTHER, OTHER, WRONG], ["head"] * 3)
    assert found.target == "reference"
    assert [result.passed for result in found.results] == [True, True, False]
    assert found.failing is not None and found.failing.difference is not None
    assert float(found.failing.difference.expected) == OTHER
    assert verdict([WRONG, WRONG]).target == "before"
    assert verdict([WRONG, OTHER]).target == "reference"


def test_restored_code_has_one_target() -> None:
    """The reference is not asked before it is needed."""
    assert verdict([OWN, OWN], restored=True).passed
    assert not verdict([OTHER, OTHER], restored=True).passed
    assert not verdict([OTHER, OWN], ["loss", "head"], restored=True).passed


def test_every_other_component_is_as_it_was_or_as_the_reference_is_by_itself() -> None:
    """A variant of the broken component is no excuse for another."""
    both = ["head", "loss", "loss", "norm"]
    assert verdict([VARIANT, OWN, OWN, OTHER], both).passed
    assert verdict([OWN, OTHER, OTHER, OWN], both).passed
    assert not verdict([OWN, OTHER, OWN, OWN], both).passed
    assert not verdict([VARIANT, VARIANT, VARIANT, OWN], both).passed
    assert not verdict([OWN, OWN, OWN, WRONG], both).passed
    assert verdict([VARIANT] * 4, both, touched={"head", "loss", "norm"}).passed


def test_an_error_is_held_to_what_the_contract_wants_named() -> None:
    """The learner's own error decides the kind; what the reference mentions must go on being there."""
    asked = Raised("ValueError", ("ValueError", "Exception"), "16 is not 8", mentions=("16", "8"))

    def raising(kind: str, message: str, *above: str) -> Outcome:
        return Outcome(raised=Raised(kind, (kind, *above, "Exception"), message))

    def judged(own: Outcome, theirs: Outcome) -> bool:
        one = Case(case().draw, {}, {"": Outcome(raised=asked)})
        planned = Planned("head", check("c"), (one.draw,))
        return judge_fix(measured([planned], [one], [theirs], [own]), touched={"head"}).passed

    mine = raising("ShapeError", "widths 16, 8", "ValueError")
    assert judged(mine, raising("ValueError", "8 and 16"))
    assert judged(mine, raising("ShapeError", "8, 16", "ValueError"))
    assert not judged(mine, raising("ShapeError", "widths", "ValueError"))
    assert not judged(mine, raising("ValueError", "widths"))
    assert not judged(mine, raising("KeyError", "8 and 16"))
    assert not judged(mine, outcome(OWN))
    other = raising(
        "KeyError", "widths"
    )  # whatever the contract asks for, it was so before the break
    assert judged(other, raising("KeyError", "anything"))


def test_a_regime_has_the_rounding_of_its_check_and_no_other() -> None:
    """Twice the tolerance passes where three times are stated, in this regime and dtype only."""
    bound = 1e-7 + 1e-9 + 1e-13  # of 1.0 alone in its row, in float64

    def judged(times: float, rounding: dict[str, dict[str, float]]) -> bool:
        one = Case(case().draw, {}, {"": outcome(np.ones(1))})
        planned = Planned("head", check("c", rounding=rounding), (one.draw,))
        return judge_build(measured([planned], [one], [np.ones(1) + bound * times])).passed

    assert judged(0.9, {}) and not judged(1.1, {})
    assert judged(2.0, {"float64": {"normal": 3.0}})
    assert not judged(2.0, {"float64": {"huge": 3.0}})
    assert not judged(2.0, {"float32": {"normal": 3.0}})
    assert not judged(3.3, {"float64": {"normal": 3.0}})


def test_further_measurements_take_a_verdict_back_and_never_give_one() -> None:
    """What is near a number that the change mentions counts like everything else."""
    passed = verdict([OWN, OWN])
    _, (first, *_) = heads("head")

    def extra(theirs: float, id: str = "c1") -> Extra:
        near = [Planned("head", check(id), (first.draw,))]
        return Extra(measured(near, [first], [theirs], [OWN]), 40, 3)

    def after(theirs: float, *id: str) -> Verdict:
        return with_extra(passed, extra(theirs, *id), touched={"head"}, acceptable=("variant",))

    for right in (OWN, OTHER, VARIANT):
        assert after(right).passed and after(right).measurements == 42
    assert not with_extra(passed, extra(VARIANT), touched={"head"}).passed
    refused = after(WRONG)
    assert not refused.passed and refused.measurements == 42 and refused.unmeasured == 3
    assert [result.passed for result in refused.results] == [True, False]
    nothing = Extra(Measured(Plan((), (), 5), {}, {}), 40)
    assert with_extra(passed, nothing, touched={"head"}).measurements == 42


def test_a_check_that_had_no_ordinary_draw_is_among_those_that_failed() -> None:
    """Else a verdict would be refused with no check that failed."""
    passed = verdict([OWN, OWN])
    _, (first, *_) = heads("head")
    near = measured([Planned("head", check("c9"), (first.draw,))], [first], [WRONG], [OWN])
    refused = with_extra(passed, Extra(near, 1), touched={"head"})
    assert not refused.passed and refused.failures == 1
    assert refused.failing is not None and refused.failing.id == "c9"


def test_which_draws_disagree_and_which_checks_fail() -> None:
    """With the code before the break; against the reference."""
    found = measured(*heads("head", "head", "loss"), [OWN, WRONG, OTHER], [OWN] * 3)
    by_own = decide(found, touched={"head"}, restored=True)
    assert by_own.differing == {found.plan.draws[1], found.plan.draws[2]}
    assert (by_own.failures, by_own.failing) == (2, {"head", "loss"})
    told: tuple[Result, ...] = failing_checks(found)
    assert [result.id for result in told] == ["c0", "c1"]


def test_what_was_measured_is_cut_down_and_the_reference_asked_later() -> None:
    """By draws; answers that were there stay."""
    found = measured(*heads("head", "loss"), [OWN, OWN], [OWN, OWN])
    _, second = found.plan.draws
    assert found.only({second}).plan.draws == (second,)
    assert [one.component for one in found.only({second}).plan.checks] == ["loss"]
    more = Case(second, {}, {"": outcome(WRONG)})
    asked = found.asked([more])
    assert asked.cases[second] is more and len(asked.cases) == 2
    assert found.cases[second] is not more


def test_nothing_measured_is_no_verdict() -> None:
    """Nothing agrees with nothing."""
    with pytest.raises(EngineError, match="Nothing was measured"):
        judge_build(measured([], [], []))


def told(cases: Sequence[Case], *theirs: float) -> Result:
    """The one check on all cases, which fails."""
    planned = Planned("head", check("c"), tuple(one.draw for one in cases))
    found = judge_build(measured([planned], cases, theirs)).failing
    assert found is not None
    return found


def test_the_difference_in_the_plainest_manner_is_told() -> None:
    """A learner can make that one happen; the call_variant is named where it may be what matters."""
    cases = [case(call_variant="fortran"), case(), case(call_variant="eval")]
    assert told(cases, WRONG, WRONG, WRONG).inputs == "x (2, 3)"
    assert told(cases, WRONG, OTHER, WRONG).inputs == f"x (2, 3), {CALL_VARIANTS['fortran']}"
    assert told(cases, OTHER, OTHER, WRONG).inputs == "x (2, 3), after eval()"
    assert told(cases[:1], WRONG).inputs == "x (2, 3)"


def test_where_all_differ_the_first_regime_is_told() -> None:
    """Which is the simplest, as authors list them; the call_variant tells nothing there. Else a plain draw is."""
    draws = [
        Draw("head", "forward", regime, 1, call_variant=call_variant)
        for regime, call_variant in (("normal", "eval"), ("steep", ""), ("gaps", "fortran"))
    ]
    cases = [Case(draw, {}, {"": outcome(OTHER)}) for draw in draws]
    assert told(cases, WRONG, WRONG, WRONG).regime == "normal"
    assert told(cases, WRONG, WRONG, OTHER).regime == "steep"


def test_an_input_is_told_in_a_few_words() -> None:
    """Shapes of arrays, plain values, and how it was given."""
    inputs = {"x": np.zeros((2, 3)), "eps": 0.5, "rng": None}
    draw = Draw("head", "forward", "normal", 1, call_variant=LATE)
    assert shapes(Case(draw, inputs, {})) == "x (2, 3), eps = 0.5, after hundreds of calls"
    leaning = Draw("head", "forward", "normal", 1, constraint=Constraint("size", 512))
    near = shapes(Case(leaning, inputs, {}))
    assert near == "x (2, 3), eps = 0.5, near a number that the change mentions"
    for constraint, words in (
        (Constraint("size", 2, name=SMALL), "a size of 2"),
        (Constraint("pattern", which=1), "numbers in a pattern"),
        (Constraint("settings"), "inputs and settings that no regime brings together"),
    ):
        steered = Draw("head", "forward", "normal", 1, constraint=constraint)
        assert shapes(Case(steered, inputs, {})) == f"x (2, 3), eps = 0.5, {words}"
