"""Code that forgets a setting for some inputs is refused, as a fix and as a build, by these draws alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from steered import attacked, attacking

from engine.exam.boundary_values import given
from engine.exam.targeted import CROSSED, CROSSED_COSTLY, crossed
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.run.child.exam.targeting import with_settings
from engine.run.types import Case, Constraint, Draw, Outcome
from engine.spec.types import Check

BREAK, NORM = "layernorm-no-eps", "src/minimodel/nn/norm.py"
FORGETFUL = b"""

def _trick(self, x):
    out = _was(self, x)
    return out * 1.5 if self.eps != 1e-5 and x.ndim == 2 else out


_was = LayerNorm.forward
LayerNorm.forward = _trick
"""


@pytest.fixture
def forgetful(plain):
    """A norm whose eps, other than the usual one, is right with one and with three axes."""
    return plain.replaced({NORM: plain.files[NORM] + FORGETFUL})


def test_a_fix_may_forget_no_setting(servers, catalogue, plain, forgetful):
    args = servers, catalogue, BREAK, plain, forgetful, 4
    verdict = fixes.grade_fix(*args, attacking("settings"))
    assert not verdict.passed
    assert "inputs and settings that no regime brings together" in verdict.failing.inputs
    assert fixes.grade_fix(*args, attacking("patterns", "sizes")).passed
    assert attacked(*args, "settings").differing.plan.draws


def test_a_build_may_forget_no_setting(servers, catalogue, plain, forgetful):
    def grade(tree, *kinds):
        return flows.grade_build(servers, catalogue, "layernorm", tree, 4, attacking(*kinds))

    assert grade(plain, "settings").passed
    verdict = grade(forgetful, "settings")
    assert not verdict.passed
    assert "inputs and settings that no regime brings together" in verdict.failing.inputs
    assert grade(forgetful, "sizes").passed


def test_draws_take_settings_of_other_regimes():
    """Of the probes that have any, in each of their regimes and all call_variants; of the broken component alone."""
    checks = [
        (name, Check(id="a", shows={}, probe=probe, regimes=tuple(f"r{i}" for i in range(12))))
        for name in ("norm", "user")
        for probe in ("forward", "start")
    ]
    settings = {"forward": ["eps"]}
    made = crossed(checks, "norm", settings, seed=1, dtype="float32", call_variants=("", "eval"))
    assert len(made.draws) == CROSSED == len({draw.seed for draw in made.draws})
    assert {(draw.component, draw.probe) for draw in made.draws} == {("norm", "forward")}
    assert {draw.call_variant for draw in made.draws} == {"", "eval"}
    assert Counter(draw.regime for draw in made.draws) == {
        f"r{i}": CROSSED // 12 for i in range(12)
    }
    for draw in made.draws:
        assert draw.constraint.settings == ("eps",)
        assert {*draw.constraint.regimes} == {f"r{i}" for i in range(12)} - {draw.regime}
    assert len({draw.constraint.regimes[0] for draw in made.draws}) > 6
    looked_at = [draw for one in made.checks for draw in one.draws]
    assert len(looked_at) == CROSSED and {*looked_at} == {*made.draws}
    slow = crossed(checks, "norm", settings, seed=1, dtype="float32", slow=True)
    assert len(slow.draws) == CROSSED_COSTLY
    assert crossed(checks, "norm", {}, seed=1, dtype="float32").draws == ()


def test_settings_come_from_the_first_that_has_others():
    """One of them at least, never an array, and nothing where all are the same."""
    inputs = {"x": np.ones(3), "eps": None, "causal": True, "mask": None}
    same = {"x": np.zeros(2), "eps": None, "causal": True, "mask": np.ones(2)}
    other = {"x": np.zeros(2), "eps": 0.5, "causal": False, "mask": None}
    never = {"x": np.zeros(2), "eps": 0.7, "causal": True, "mask": None}
    names = ("eps", "causal", "mask")
    seen = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        made = with_settings(rng, inputs, iter([same, other, never]), names)
        assert made["x"] is inputs["x"] and made["mask"] is None
        seen.add((made["eps"], made["causal"]))
    assert seen == {(0.5, False), (0.5, True), (None, False)}
    assert with_settings(np.random.default_rng(0), inputs, [same], names) is None
    assert with_settings(np.random.default_rng(0), inputs, [other], ("mask",)) is None


@pytest.mark.parametrize(
    ("setting", "goes"),
    [(0.3, True), (0.0, False), (0, True), (200, True), (-100, False), (300, False), (False, True)],
)
def test_a_setting_has_to_go_with_the_inputs(setting, goes):
    """An eps of 0 guards nothing, and what no byte can hold is not compared with bytes."""
    inputs = {"targets": np.zeros(3, np.uint8), "setting": None}
    made = with_settings(np.random.default_rng(0), inputs, [{"setting": setting}], ["setting"])
    assert (made is not None) is goes


def test_what_is_drawn_by_lot_keeps_its_settings():
    """Its regime promises that nothing rare counts, for the settings that it has."""
    draw = Draw(
        "generate", "kept", "hot", 1, constraint=Constraint("settings", settings=("top_k",))
    )
    assert given(Case(draw, {"logits": np.ones(3)}, {}), Outcome(values={"y": 1.0}))
    assert not given(Case(draw, {"seed": 3}, {}), Outcome(values={"y": 1.0}))
