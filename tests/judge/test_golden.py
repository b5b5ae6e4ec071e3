"""Golden verdicts: what is decided about healthy and broken code and three silencers of each break.

Recorded in golden.json beside this file, at each level: the decision, the target, and the first failing check; no
floats. After a change that is meant to change them:

    ENGINE_RECORD=1 pytest tests/judge/test_golden.py -m ''               # all of them: minutes
    ENGINE_RECORD=1 pytest tests/judge/test_golden.py -m '' -k practice   # those at one level

in one process (xdist's would overwrite each other's), and name each change of golden.json in the commit.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from trees import BREAKS

from engine.author import models
from engine.exam.level import EXAM, LEVELS
from engine.flows import break_ as planning
from engine.flows import fix as fixes
from engine.judge.level import PRACTICE
from engine.run.types import Tree

FILE = Path(__file__).parent / "golden.json"
PLANS, SILENCERS = 7, 3
SEEDS = (11, 12)
# asks for id(model), which differs from process to process: so does the check that notices it first
BY_CHANCE = "zero-grad-missing/silencer 0"
KINDS = ("healthy", "broken", *(f"silencer {i}" for i in range(SILENCERS)))
RECORDED: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
CASES = [(id, kind, seed) for id in BREAKS for kind in KINDS for seed in SEEDS]


@pytest.fixture(scope="module")
def broken(servers, catalogue, plain):
    """The broken tree of each break, made once."""
    made: dict[str, Tree] = {}

    def of(id: str) -> Tree:
        if id not in made:
            plan = planning.plan_break(servers, catalogue, id, plain, PLANS)
            made[id] = plain.replaced(plan.injection.files)
        return made[id]

    return of


def candidate(kind: str, plain: Tree, broken: Tree, silencers) -> Tree | None:
    """The tree of this kind; None where the break has fewer silencers of the plain model."""
    if kind in ("healthy", "broken"):
        return plain if kind == "healthy" else broken
    mine = [one for one in silencers if one.on == "plain"]
    number = int(kind.split()[1])
    if number >= len(mine):
        return None
    return broken.replaced(models.edited(broken, mine[number]))


def decided(servers, catalogue, plain, broken, id, kind, seed, level) -> dict[str, Any]:
    """The decision, the target and the first check that fails."""
    tree = candidate(kind, plain, broken(id), catalogue.break_(id).silencers)
    if tree is None:
        pytest.skip("the break has fewer silencers")
    verdict = fixes.grade_fix(servers, catalogue, id, plain, tree, seed, level)
    first = verdict.failing
    return {
        "passed": verdict.passed,
        "target": verdict.target,
        "first": f"{first.component}.{first.id}" if first else None,
    }


def held(key: str, told: dict[str, Any]) -> None:
    """What was decided is what was recorded; or it is recorded now."""
    if os.environ.get("ENGINE_RECORD"):
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        known[key] = told
        lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(known.items())]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    wanted = json.loads(FILE.read_text())[key]
    if BY_CHANCE in key:
        wanted, told = wanted | {"first": ""}, told | {"first": ""}
    assert wanted == told


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("id", "kind", "seed"), CASES)
def test_a_verdict_at_exam_is_what_it_was(servers, catalogue, plain, broken, id, kind, seed):
    """With all draws and attacks."""
    told = decided(servers, catalogue, plain, broken, id, kind, seed, EXAM)
    held(f"exam/{id}/{kind}/{seed}", told)


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("id", "kind", "seed"), CASES)
def test_a_verdict_at_practice_is_what_it_was(servers, catalogue, plain, broken, id, kind, seed):
    """As a learner gets it."""
    key = f"practice/{id}/{kind}/{seed}"
    if key not in RECORDED and not os.environ.get("ENGINE_RECORD"):
        pytest.skip("not recorded yet")
    held(key, decided(servers, catalogue, plain, broken, id, kind, seed, PRACTICE))


def test_what_is_recorded_is_asked_about():
    """No key of a case that is gone; healthy code passes and broken code does not, whatever the level. That a
    silencer is refused is for the proof of its spec.
    """
    for key, told in RECORDED.items():
        level, id, kind, seed = key.split("/")
        assert level in LEVELS and (id, kind, int(seed)) in CASES, key
        assert told["passed"] == (told["first"] is None), key
        if kind in ("healthy", "broken"):
            assert told["passed"] == (kind == "healthy"), key
