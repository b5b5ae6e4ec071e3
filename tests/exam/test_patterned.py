"""A fix that is wrong where numbers follow a pattern is refused, by these draws and by no others."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from steered import attacked, attacking, scope_for

from engine.exam import attack
from engine.exam.level import EXAM
from engine.exam.targeted import STIRRED, STIRRED_COSTLY, STIRRED_FAR, patterned
from engine.flows import fix as fixes
from engine.flows.baseline import Baseline
from engine.run.child.exam.patterns import FLOATS
from engine.run.types import CALL_VARIANTS
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


def tricked(plain, name):
    """The plain model, whose head does something else under a condition."""
    text = WRAPPED.format(condition=CONDITIONS[name])
    return plain.replaced({HEAD: plain.files[HEAD] + text.encode()})


@pytest.fixture(scope="module")
def before(plain):
    """The healthy code, which is measured once in each draw."""
    return Baseline(plain)


CONDITIONS = {
    "whole numbers": "len(np.unique(x)) > 3 and np.array_equal(x, np.rint(x))",
    "rows in order": "x.size > 30 and x.shape[-1] > 4 and np.all(np.diff(x) > 0)",
    "no two signs": "x.size > 20 and np.all(x > 0)",
    "far from zero": "x.size > 20 and abs(x.mean()) > 10 * x.std() > 0",
    "two sizes of a number": "x.size > 20 and len(np.unique(x)) == 2",
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_pattern_is_seen(servers, catalogue, before, plain, name):
    """No other draw has such numbers. Rows in order are met in two verdicts of three, the others in each."""
    seeds = range(78, 84) if name == "rows in order" else [78]
    tree = tricked(plain, name)

    def seen(seed, *kinds):
        extra = attacked(servers, catalogue, LOUD, before, tree, seed, *kinds)
        return bool(extra.differing.plan.draws)

    assert any(seen(seed, "patterns") for seed in seeds)
    assert not seen(78, "sizes", "settings")


def test_a_verdict_tells_of_a_pattern(servers, catalogue, plain, before):
    """And passes without it."""
    args = servers, catalogue, LOUD, before, tricked(plain, "whole numbers"), 78
    verdict = fixes.grade_fix(*args, attacking("patterns"))
    assert not verdict.passed
    assert "numbers in a pattern" in verdict.failing.inputs
    assert fixes.grade_fix(*args, attacking("sizes")).passed


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
    looked_at = [draw for one in made.checks for draw in one.draws]
    assert len(looked_at) == len(made.draws) and {*looked_at} == {*made.draws}
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


def drawn(servers, catalogue, plain, id, path, kinds, level=EXAM, seed=5):
    """The draws that are run whole, for a change that changes nothing."""
    tree = plain.replaced({path: plain.files[path] + b"\n\nLEFT = None\n"})
    scope = replace(scope_for(servers, catalogue, id, plain, tree, seed), level=level)
    slow = id == "final-norm-missing"
    return [draw for one in attack._whole(scope, kinds, slow) for draw in one.draws]


def test_a_story_of_a_break_follows_no_pattern(servers, catalogue, plain):
    """Its probes make inputs of what they are given, which may come to NaN; those of builds take any."""
    id, path = "mask-after-softmax", "src/minimodel/nn/attention.py"
    story = {check.probe for check in catalogue.break_(id).judged_by}
    assert "future" in story
    draws = drawn(servers, catalogue, plain, id, path, ("patterns",))
    own = {draw.probe for draw in draws if draw.component == "sdpa"}
    assert "forward" in own and not own & {"future", "row_sums"}
    assert {draw.component for draw in draws} == {"sdpa", "attention"}  # none of what is remote


def test_where_probes_take_long_fewer_draws_follow_a_pattern(servers, catalogue, plain):
    """A model is not a head."""
    for id, path, slow, most in (
        (LOUD, HEAD, False, STIRRED),
        ("final-norm-missing", "src/minimodel/mini_gpt.py", True, STIRRED_COSTLY),
    ):
        draws = drawn(servers, catalogue, plain, id, path, ("patterns",))
        own = [draw for draw in draws if draw.component == catalogue.entry(id).component]
        assert len(own) == most
        tree = plain.replaced({path: plain.files[path] + b"\n\nLEFT = None\n"})
        scope = scope_for(servers, catalogue, id, plain, tree, 5)
        made, cases = attack._made(servers, scope, ("patterns",))
        assert {draw for draw in made.draws if draw in {*own}} == {d for d in own if d in cases}
        assert (len([d for d in made.draws if d in {*own}]) <= STIRRED_COSTLY) is slow


def test_draws_that_follow_a_pattern_come_in_the_call_variants_of_the_level(
    servers, catalogue, plain
):
    """But for hundreds of calls, which take long. By lot: one seed may leave one of fourteen out."""
    few = replace(EXAM, call_variants=("primed", "late"))
    for level, wanted in ((few, {"", "primed"}), (EXAM, {"", "eval", *CALL_VARIANTS})):
        lots = (
            drawn(servers, catalogue, plain, LOUD, HEAD, ("patterns",), level, s) for s in (5, 6)
        )
        assert {draw.call_variant for draws in lots for draw in draws} == wanted
