"""A fix that is wrong where numbers follow a pattern is refused, by these draws and by no others."""

from __future__ import annotations

import pytest

from engine.commands import fixes, nearby
from engine.judge.plan import STIRRED, STIRRED_FAR, Plan, patterned
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


@pytest.mark.parametrize("name", CONDITIONS)
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
    """Of every probe of the broken component, in its regimes and every manner; some of its users."""
    checks = [
        (name, Check(id=f"c{i}", shows={"en": "c"}, probe=f"p{i}", regimes=(f"r{i}", "normal")))
        for name in ("head", "user")
        for i in range(3)
    ]
    made = patterned(checks, "head", seed=1, dtype="float32", manners=("", "eval"))
    own = [draw for draw in made.draws if draw.component == "head"]
    assert (len(own), len(made.draws)) == (STIRRED, STIRRED + STIRRED_FAR)
    kinds = {(draw.probe, draw.regime, draw.manner) for draw in own}
    assert kinds == {
        (f"p{i}", r, m) for i in range(3) for r in (f"r{i}", "normal") for m in ("", "eval")
    }
    assert {draw.lean.kind for draw in made.draws} == {"pattern"}
    assert len({draw.seed for draw in made.draws}) == len(made.draws)
    assert sorted(i for one in made.checks for i in one.draws) == [*range(len(made.draws))]
    assert sum(draw.probe == "p0" for draw in own) > STIRRED / 2
    alone = patterned(checks[:3], "head", seed=1, dtype="float32")
    assert len(alone.draws) == STIRRED
