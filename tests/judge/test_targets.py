"""What a fix is held against: one whole target, decided from outcomes alone; nothing is run here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.errors import EngineError
from engine.exam.boundary_values import Nearby
from engine.judge.sampling import Plan, Planned
from engine.judge.verdict import Verdict, also, judge_build, judge_fix, shapes
from engine.run.types import CALL_VARIANTS, LATE, Case, Constraint, Draw, Outcome, Raised
from engine.spec.types import Check

OWN, OTHER = 1.0, 2.0  # what the code before the break gave, and what the reference gives
VARIANT = 3.0
WRONG = 9.0


def check(id: str, **more: object) -> Check:
    return Check(id=id, shows=f"what {id} is for", probe="forward", regimes=("normal",), **more)


def outcome(value: object) -> Outcome:
    return value if isinstance(value, Outcome) else Outcome(values={"y": np.asarray(value)})


def case(component: str = "head", **more: str) -> Case:
    draw = Draw(component, "forward", "normal", 1, **more)
    return Case(draw, {"x": np.zeros((2, 3))}, {"": outcome(OTHER), "variant": outcome(VARIANT)})


def verdict(
    theirs: Sequence[object],
    components: Sequence[str] = ("head", "head"),
    own: Sequence[object] = (),
    **how: object,
) -> Verdict:
    """One check for each draw, of these components; the head is the broken one."""
    planned = [Planned(name, check(f"c{i}"), (i,)) for i, name in enumerate(components)]
    cases = [case(name) for name in components]
    plan = Plan(tuple(one.draw for one in cases), tuple(planned), 5)
    before = [outcome(value) for value in own or [OWN] * len(components)]
    given = {"touched": {"head"}, "acceptable": ("variant",), **how}
    return judge_fix(plan, cases, before, [outcome(value) for value in theirs], **given)


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
        plan = Plan((one.draw,), (Planned("head", check("c"), (0,)),), 1)
        return judge_fix(plan, [one], [own], [theirs], touched={"head"}).passed

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
        planned = Planned("head", check("c", rounding=rounding), (0,))
        theirs = [outcome(np.ones(1) + bound * times)]
        return judge_build(Plan((one.draw,), (planned,), 1), [one], theirs).passed

    assert judged(0.9, {}) and not judged(1.1, {})
    assert judged(2.0, {"float64": {"normal": 3.0}})
    assert not judged(2.0, {"float64": {"huge": 3.0}})
    assert not judged(2.0, {"float32": {"normal": 3.0}})
    assert not judged(3.3, {"float64": {"normal": 3.0}})


def test_further_measurements_take_a_verdict_back_and_never_give_one() -> None:
    """What is near a number that the change mentions counts like everything else."""
    passed = verdict([OWN, OWN])
    one = case()
    near = Plan((one.draw,), (Planned("head", check("c1"), (0,)),), 5)

    def after(theirs: float) -> Verdict:
        found = Nearby(40, near, [one], [outcome(OWN)], [outcome(theirs)])
        return also(passed, found, touched={"head"}, acceptable=("variant",))

    assert after(OWN).passed and after(OWN).measurements == 42
    refused = after(WRONG)
    assert not refused.passed and refused.measurements == 42
    assert [result.passed for result in refused.results] == [True, False]
    nothing = Nearby(40, Plan((), (), 5), [], [], [])
    assert also(passed, nothing, touched={"head"}).measurements == 42


def test_nothing_measured_is_no_verdict() -> None:
    """Nothing agrees with nothing."""
    with pytest.raises(EngineError, match="Nothing was measured"):
        judge_build(Plan((), (), 1), [], [])


def test_the_difference_in_the_plainest_manner_is_told() -> None:
    """A learner can make that one happen; the call variant is named where it may be what matters."""
    cases = [case(call_variant="fortran"), case(), case(call_variant="eval")]
    planned = Planned("head", check("c"), (0, 1, 2))
    plan = Plan(tuple(one.draw for one in cases), (planned,), 1)

    def told(*theirs: float) -> str:
        found = judge_build(plan, cases, [outcome(value) for value in theirs]).failing
        assert found is not None
        return found.inputs

    assert told(WRONG, WRONG, WRONG) == "x (2, 3)"
    assert told(WRONG, OTHER, WRONG) == f"x (2, 3), {CALL_VARIANTS['fortran']}"
    assert told(OTHER, OTHER, WRONG) == "x (2, 3), after eval()"
    cases = cases[:1]
    plan = Plan((cases[0].draw,), (Planned("head", check("c"), (0,)),), 1)
    assert told(WRONG) == "x (2, 3)"


def test_where_all_differ_the_first_regime_is_told() -> None:
    """Which is the simplest, as authors list them; the call variant tells nothing there. Else a plain draw is."""
    draws = [
        Draw("head", "forward", regime, 1, call_variant=call_variant)
        for regime, call_variant in (("normal", "eval"), ("steep", ""), ("gaps", "fortran"))
    ]
    plan = Plan(tuple(draws), (Planned("head", check("c"), (0, 1, 2)),), 1)
    cases = [Case(draw, {}, {"": outcome(OTHER)}) for draw in draws]
    for theirs, regime in (((WRONG,) * 3, "normal"), ((WRONG, WRONG, OTHER), "steep")):
        found = judge_build(plan, cases, [outcome(value) for value in theirs]).failing
        assert found is not None and found.regime == regime


def test_an_input_is_told_in_a_few_words() -> None:
    """Shapes of arrays, plain values, and how it was given."""
    inputs = {"x": np.zeros((2, 3)), "eps": 0.5, "rng": None}
    draw = Draw("head", "forward", "normal", 1, call_variant=LATE)
    assert shapes(Case(draw, inputs, {})) == "x (2, 3), eps = 0.5, after hundreds of calls"
    leaning = Draw("head", "forward", "normal", 1, constraint=Constraint("size", 512))
    told = shapes(Case(leaning, inputs, {}))
    assert told == "x (2, 3), eps = 0.5, near a number that the change mentions"
