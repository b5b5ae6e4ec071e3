"""Golden verdicts: what is decided about healthy and broken code and three silencers of each break.

Recorded in golden.json beside this file: the decision, the target, and the first failing check; no floats. After a
change that is meant to change them:

    ENGINE_RECORD=1 pytest tests/judge/test_golden.py -m ''     # all of them: minutes

and name each change of golden.json in the commit.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from trees import BREAKS

from engine.author import models
from engine.flows import break_ as planning
from engine.flows import fix as fixes
from engine.run.types import Tree

FILE = Path(__file__).parent / "golden.json"
PLANS, SILENCERS = 7, 3
SEEDS = (11, 12)
KINDS = ("healthy", "broken", *(f"silencer {i}" for i in range(SILENCERS)))
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


@pytest.mark.sweep(16)
@pytest.mark.parametrize(("id", "kind", "seed"), CASES)
def test_a_verdict_is_what_it_was(servers, catalogue, plain, broken, id, kind, seed):
    """At level exam: the decision, the target and the first check that fails."""
    tree = candidate(kind, plain, broken(id), catalogue.break_(id).silencers)
    if tree is None:
        pytest.skip("the break has fewer silencers")
    verdict = fixes.grade_fix(servers, catalogue, id, plain, tree, seed)
    first = verdict.failing
    told: dict[str, Any] = {
        "passed": verdict.passed,
        "target": verdict.target,
        "first": f"{first.component}.{first.id}" if first else None,
    }
    key = f"exam/{id}/{kind}/{seed}"
    if os.environ.get("ENGINE_RECORD"):
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        known[key] = told
        lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(known.items())]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    assert json.loads(FILE.read_text())[key] == told
