"""The bug bites in code that nobody wrote for it, and nowhere but where it should."""

from __future__ import annotations

import ast

import pytest
from trees import BREAKS, LOUD, NAMES, corpus_tree

from engine.errors import NotApplicable
from engine.flows import break_ as planning
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.spec.catalogue import Catalogue


def pairs():
    """Every break with every implementation; CI takes one in thirty-one, of each implementation but one."""
    for i, id in enumerate(BREAKS):
        for j, name in enumerate(NAMES):
            marks = () if (8 * i + j) % 31 == 0 and name != "scalar" else (pytest.mark.slow,)
            yield pytest.param(id, name, marks=marks)


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("id", "name"), list(pairs()))
def test_every_break_bites_in_every_implementation(servers, catalogue, id, name):
    """A few lines of one file change, the file parses, and the judge tells broken from healthy."""
    tree = corpus_tree(name)
    planned = planning.plan_break(servers, catalogue, id, tree, seed=11)
    assert planned.injection.changed_lines <= 8
    for path, data in planned.injection.files.items():
        assert data != tree.files[path]
        ast.parse(data)
    broken = tree.replaced(planned.injection.files)
    assert not fixes.grade_fix(servers, catalogue, id, tree, broken, seed=12).passed
    assert fixes.grade_fix(servers, catalogue, id, tree, tree, seed=13).passed


def builds():
    """Every part of every implementation; CI takes each part of two of them, by turns."""
    parts = [
        entry.id for entry in Catalogue.find("minimodel").entries.values() if entry.kind == "build"
    ]
    for j, name in enumerate(NAMES):
        for i, component in enumerate(parts):
            often = (i + j) % 4 == 0 if name != "scalar" else i % 8 == 0
            marks = () if often else pytest.mark.slow
            yield pytest.param(name, component, marks=marks)


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("name", "component"), list(builds()))
def test_every_implementation_passes_every_build_check(servers, catalogue, name, component):
    """The corpus is correct wherever the pack looks."""
    verdict = flows.grade_build(servers, catalogue, component, corpus_tree(name), seed=17)
    assert verdict.passed, verdict.failing


def test_code_that_is_not_healthy_is_refused_with_the_build_to_mend(servers, catalogue, plain):
    """A head without its transposed product is named before anything is tried."""
    path = "src/minimodel/nn/lm_head.py"
    broken = plain.files[path].replace(b"weight.transpose((1, 0))", b"weight")
    with pytest.raises(NotApplicable) as caught:
        planning.plan_break(servers, catalogue, LOUD, plain.replaced({path: broken}), seed=1)
    assert "engine submit-build lm_head" in caught.value.next


def test_a_refusal_says_where_it_looked_and_what_came_nearest(
    servers, catalogue, plain, monkeypatch
):
    """With every proposer switched off there is nothing to try, and that is what is said."""
    with pytest.raises(NotApplicable) as caught:
        planning.plan_break(servers, catalogue, LOUD, plain, seed=1, only=["none"])
    assert "looked in" in caught.value.where
    assert "learner.yaml" in caught.value.next


def test_a_refusal_says_when_code_does_not_run_under_observation(servers, catalogue, plain):
    """Then no value was found because none was recorded."""
    path = "src/minimodel/nn/lm_head.py"
    ends = b"\nimport builtins, os\nif hasattr(builtins, '__engine_rec__'):\n    os._exit(1)\n"
    tree = plain.replaced({path: plain.files[path] + ends})
    with pytest.raises(NotApplicable) as caught:
        planning.plan_break(servers, catalogue, LOUD, tree, seed=1, only=["role"])
    assert "a run whose values were to be recorded ended: " in caught.value.where


def test_a_fault_elsewhere_is_no_hindrance(servers, catalogue, plain):
    """An embedding that forgets to check its ids does not keep the head from being broken."""
    path = "src/minimodel/nn/embedding.py"
    careless = plain.files[path].replace(b"if outside.any():", b"if False:")
    tree = plain.replaced({path: careless})
    assert not flows.grade_build(servers, catalogue, "embedding", tree, seed=2).passed
    assert planning.plan_break(servers, catalogue, LOUD, tree, seed=2).injection.files
