"""A fix that is wrong where numbers follow a pattern is refused, by these draws and by no others."""

from __future__ import annotations

import pytest

from engine.exam import attack as nearby
from engine.exam.targeted import STIRRED, STIRRED_COSTLY, STIRRED_FAR, patterned
from engine.flows import fix as fixes
from engine.judge.sampling import Plan
from engine.run.child.exam.patterns import FLOATS
from engine.spec.types import Check

LOUD, HEAD = "tied-vocab-mismatch", "src/minimodel/nn/lm_head.py"
WRAPPED = """

import numpy as np


def _trick(self, h):
    x = h.data
    return _was(self, h) * 1.5 if {condition} else _was(self, h)


_was = LMHead.forward
LMHead.forward = _trick
"""
CONDITIONS = {
    "whole numbers": "len(np.unique(x)) > 3 and np.array_equal(x, np.rint(x))",
    "rows in order": "x.size > 30 and x.shape[-1] > 4 and np.all(np.diff(x) > 0)",
    "no two signs": "x.size > 20 and np.all(x > 0)",
    "far from zero": "x.size > 20 and abs(x.mean()) > 10 * x.std() > 0",
    "two sizes of a number": "x.size > 20 and len(np.unique(x)) == 2",
}


SLOW = {"no two signs", "far from zero", "two sizes of a number"}


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in CONDITIONS],
)
def test_a_pattern_is_seen(servers, catalogue, plain, name, monkeypatch):
    """No other draw has such numbers."""
    text = WRAPPED.format(condition=CONDITIONS[name])
    tree = plain.replaced({HEAD: plain.files[HEAD] + text.encode()})
    monkeypatch.setattr(fixes, "fresh_numbers", lambda *_: ())
    verdict = fixes.grade_fix(servers, catalogue, LOUD, plain, tree, seed=78)
    assert not verdict.passed
    assert "numbers in a pattern" in verdict.failing.inputs
    monkeypatch.setattr(nearby, "patterned", lambda *_, **__: Plan((), (), 0))
    assert fixes.grade_fix(servers, catalogue, LOUD, plain, tree, seed=78).passed


def test_draws_that_follow_a_pattern():
    """Of every probe of the broken component, in its regimes and every call variant; some of its users."""
    checks = [
        (name, Check(id=f"c{i}", shows={"en": "c"}, probe=f"p{i}", regimes=(f"r{i}", "normal")))
        for name in ("head", "user")
        for i in range(3)
    ]
    made = patterned(checks, "head", seed=1, dtype="float32", call_variants=("", "eval"))
    own = [draw for draw in made.draws if draw.component == "head"]
    assert (len(own), len(made.draws)) == (STIRRED, STIRRED + STIRRED_FAR)
    kinds = {(draw.probe, draw.regime, draw.call_variant) for draw in own}
    assert kinds == {
        (f"p{i}", r, m) for i in range(3) for r in (f"r{i}", "normal") for m in ("", "eval")
    }
    assert {draw.constraint.kind for draw in made.draws} == {"pattern"}
    assert len({draw.seed for draw in made.draws}) == len(made.draws)
    assert sorted(i for one in made.checks for i in one.draws) == [*range(len(made.draws))]
    assert sum(draw.probe == "p0" for draw in own) > STIRRED / 2
    assert {draw.constraint.which for draw in made.draws if draw.component == "user"} == {
        *range(STIRRED_FAR)
    }
    alone = patterned(checks[:3], "head", seed=1, dtype="float32")
    assert len(alone.draws) == STIRRED


def test_no_probe_keeps_to_a_few_patterns():
    """Seven probes in turn, and fourteen patterns in turn, would go in step."""
    checks = [
        ("head", Check(id=f"c{i}", shows={"en": "c"}, probe=f"p{i}", regimes=("normal",)))
        for i in range(7)
    ]
    made = patterned(checks, "head", seed=1, dtype="float32")
    kinds = {
        f"p{i}": {
            draw.constraint.which % len(FLOATS) for draw in made.draws if draw.probe == f"p{i}"
        }
        for i in range(7)
    }
    assert kinds["p0"] == {*range(len(FLOATS))}
    assert min(map(len, kinds.values())) > 3


def test_a_story_of_a_break_follows_no_pattern(catalogue):
    """Its probes make inputs of what they are given, which may come to NaN; those of builds take any."""
    id = "mask-after-softmax"
    spec, checks = catalogue.break_(id), fixes.checks_of_a_fix(catalogue, id)
    free = fixes._free(spec, checks, {"sdpa"})
    assert {name for name, _ in free} == {"sdpa"}
    probes = {check.probe for _, check in free}
    assert "forward" in probes
    assert not probes & {"future", "row_sums"} and "future" in {c.probe for c in spec.judged_by}


def test_where_probes_take_long_fewer_draws_follow_a_pattern(
    servers, catalogue, plain, monkeypatch
):
    """A model is not a head."""
    asked = {}

    def noted(_checks, component, *, most, **_more):
        asked[component] = most
        return Plan((), (), 0)

    monkeypatch.setattr(nearby, "patterned", noted)
    for id, path in ((LOUD, HEAD), ("final-norm-missing", "src/minimodel/mini_gpt.py")):
        tree = plain.replaced({path: plain.files[path] + b"\n\nLEFT = None\n"})
        assert fixes.grade_fix(servers, catalogue, id, plain, tree, seed=5).passed
    assert asked == {"lm_head": STIRRED, "mini_gpt": STIRRED_COSTLY}
