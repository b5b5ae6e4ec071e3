"""A single bug in a model of the corpus is WRONG by the fact that names it, at its file."""

from __future__ import annotations

import re

import pytest

from tests.facts.conftest import tree_of
from tests.facts.mutations import GENERATION, MODEL, TRAINING

UNPLACED = {"distinct_blocks", "future"}  # known of the whole model, of no line


def name(bug):
    return f"{bug.style}-{bug.fact}"


def wrong(bug, measure, **halves):
    tree = tree_of(bug.style)
    text = tree[bug.file].decode()
    assert bug.old in text, "the corpus has changed"
    tree[bug.file] = text.replace(bug.old, bug.new).encode()
    report = measure(tree, **halves)
    fact = next(fact for fact in report.facts if fact.id == bug.fact)
    assert fact.verdict == "WRONG", (fact.value, fact.why)
    assert re.fullmatch(bug.value, fact.value)
    assert fact.names
    return fact


@pytest.mark.sweep(14)
@pytest.mark.parametrize("bug", MODEL, ids=name)
def test_a_bug_in_a_model_is_named(bug, measure):
    wrong(bug, measure)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("bug", TRAINING, ids=name)
def test_a_bug_in_a_training_script_is_named(bug, measure):
    wrong(bug, measure, training=True)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("bug", GENERATION, ids=name)
def test_a_bug_in_a_sampler_is_named(bug, measure):
    wrong(bug, measure, generation=True)


def test_the_place_of_a_bug_is_the_line_that_has_it(measure):
    bug = next(b for b in MODEL if b.fact == "merge" and b.style == "fused")
    fact = wrong(bug, measure)
    assert fact.where is not None
    assert (fact.where.file, fact.where.text) == ("model.py", "y = y.contiguous().view(B, T, C)")
