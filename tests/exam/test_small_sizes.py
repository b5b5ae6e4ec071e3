"""Code that is wrong where a size is as small as can be is refused, as a fix and as a build."""

from __future__ import annotations

import numpy as np
import pytest
from steered import attacking

from engine.exam import boundary_values as near
from engine.exam.deciding import Pair, decided_by
from engine.exam.targeted import FEWER_PLACES, LEAST, PLACES, small
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.run.types import SMALL, Case, Constraint, Draw, Outcome
from engine.spec.types import Check

LOUD, HEAD, NORM = "tied-vocab-mismatch", "src/minimodel/nn/lm_head.py", "src/minimodel/nn/norm.py"
TWO_IDS = b"""

def _trick(self, h):
    out = _was(self, h)
    return out * 1.5 if out.shape[-1] == 2 else out


_was = LMHead.forward
LMHead.forward = _trick
"""
TWO_FEATURES = b"""

def _trick(self, x):
    out = _was(self, x)
    return out * 0.75 if x.shape[-1] == 2 else out


_was = LayerNorm.forward
LayerNorm.forward = _trick
"""


def test_two_ids_are_seen_in_a_fix(servers, catalogue, plain):
    """No other draw has a vocabulary of two: a size that learners are shown; and 2 stands in any code."""
    tree = plain.replaced({HEAD: plain.files[HEAD] + TWO_IDS})
    args = servers, catalogue, LOUD, plain, tree, 3
    verdict = fixes.grade_fix(*args, attacking("sizes"))
    assert not verdict.passed
    assert "a size of 2" in verdict.failing.inputs
    assert fixes.grade_fix(*args, attacking("settings")).passed


def test_two_features_are_seen_in_a_build_which_tells_of_it(servers, catalogue, plain):
    """Though the gradient of a norm's input all but cancels there."""
    tree = plain.replaced({NORM: plain.files[NORM] + TWO_FEATURES})

    def grade(tree, *kinds):
        level = attacking(*kinds)
        return flows.grade_build(servers, catalogue, "layernorm", tree, 5, level)

    verdict = grade(tree, "sizes")
    assert not verdict.passed and "a size of 2" in verdict.failing.inputs
    whole = grade(plain, "sizes")
    assert whole.passed
    fewer = grade(tree, "patterns")  # of which a build has none
    assert fewer.passed and fewer.measurements < whole.measurements


def test_each_size_in_turn_is_as_small_as_can_be():
    """Of the probe that most checks look at to 1, 2, 3 and 4; of others, and of what takes long, to 2."""
    checks = [
        ("head", Check(id="a", shows={}, probe="p", regimes=("tiny", "normal"))),
        ("head", Check(id="b", shows={}, probe="p", regimes=("normal",))),
        ("head", Check(id="c", shows={}, probe="q", regimes=("deep",))),
        ("user", Check(id="d", shows={}, probe="p", regimes=("normal",))),
    ]
    made = small(checks, "head", seed=1, dtype="float32")
    assert {(d.component, d.probe, d.regime, d.call_variant) for d in made.draws} == {
        ("head", "p", "normal", ""),
        ("head", "q", "deep", ""),
    }
    first = [d.constraint for d in made.draws if d.probe == "p"]
    assert {(constraint.number, constraint.which) for constraint in first} == {
        (n, i) for n in LEAST for i in range(PLACES)
    }
    rest = [d.constraint for d in made.draws if d.probe == "q"]
    assert [(constraint.number, constraint.which) for constraint in rest] == [
        (2, i) for i in range(FEWER_PLACES)
    ]
    assert {(constraint.kind, constraint.name) for constraint in first + rest} == {("size", SMALL)}
    assert len({d.seed for d in made.draws}) == len(made.draws)
    assert {planned.check.id for planned in made.checks} == {"a", "b", "c"}
    slow = small(checks, "head", seed=1, dtype="float32", slow=True)
    assert {d.constraint.number for d in slow.draws} == {2}
    assert len(slow.draws) == PLACES + FEWER_PLACES


def test_where_there_is_little_to_draw_of_chance_decides_nothing():
    """Two batches of two ids may be the same, and right."""
    draw = Draw("data", "windows", "normal", 1, constraint=Constraint("size", 2, name=SMALL))
    own = Outcome(values={"differ": True})
    assert near.given(Case(draw, {"x": np.ones(2)}, {}), own)
    assert not near.given(Case(draw, {"seed": 7}, {}), own)
    other = Draw("data", "windows", "normal", 1, constraint=Constraint("size", 300))
    assert near.given(Case(other, {"seed": 7}, {}), own)


def test_what_is_not_steady_takes_nothing_from_what_is():
    """A gradient that rounding decides says nothing; the output beside it does."""
    draw = Draw("norm", "forward", "normal", 1, constraint=Constraint("size", 2, name=SMALL))

    def gave(y, grad):
        return Outcome(values={"y": np.array([y]), "grad": np.array([grad])})

    own, moved = gave(1.0, 1e-9), gave(1.0, 2e-9)
    case = Case(draw, {}, {"": own})
    assert near.steady(own, moved, "float64") == {"y"}
    assert near.steady(own, Outcome(), "float64") == set()
    assert near.only(own, {"y"}).values.keys() == {"y"}

    def decided(theirs):
        pair = Pair(case, own, theirs)
        again = [theirs, theirs]
        return decided_by([pair], [moved], again, dtype="float64", coarse="")

    (told,) = decided(gave(1.5, 3e-9))
    assert told.healthy.values == told.case.expected[""].values == {"y": own.values["y"]}
    assert told.candidate.values["y"] == 1.5 and "grad" not in told.candidate.values
    assert decided(gave(1.0, 5e-1)) == []


def test_a_model_meets_ids_with_one_to_four_axes(servers, catalogue):
    """What is right for two may be wrong for three."""
    for component in ("mini_gpt", "embedding_layer"):
        regimes = {
            regime
            for check in catalogue.build(component).checks
            if check.probe == "forward"
            for regime in check.regimes
        }
        draws = [Draw(component, "forward", regime, 7) for regime in sorted(regimes)]
        found = {case.inputs["ids"].ndim for case in servers.cases(draws, healthy=False)}
        assert found == {1, 2, 3, 4}, component


@pytest.mark.parametrize("regime", ["square", "equal_for_all"])
def test_attention_meets_one_mask_for_as_many_sequences_as_positions(servers, regime):
    """A mask of (T, T) could be taken for one of (batch, T) only there."""
    draws = [Draw("sdpa", "forward", regime, seed) for seed in range(4)]
    for case in servers.cases(draws, healthy=False):
        q, mask = case.inputs["q"], case.inputs["mask"]
        assert q.shape[-3] == q.shape[-2] and mask.shape == (q.shape[-2],) * 2
        assert not (mask == mask[:1]).all()
