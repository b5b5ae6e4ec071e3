"""The same call gives the same result each time: what is held against what in the call variant "late"."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from lab import CALL

from engine.run.child.exam.repetition import AGAIN, Late, Results, alike, differs, leaves
from engine.run.jobs import Job
from engine.run.servers import Servers
from engine.run.types import Tree

X = np.array([1.0, -2.0, np.inf])


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (X.copy(), True),
        (X * (1 + 1e-13), True),
        (X * (1 + 1e-10), False),
        (np.array([1.0, -2.0, np.nan]), False),
        (X.astype(np.float32), False),
        (X[:2], False),
        (1.0, False),
    ],
)
def test_arrays_are_alike_but_for_rounding(other, same):
    """Where they lie in memory may change the last bits, and no more."""
    assert alike(X, other) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (3, 3, True),
        (3, 4, False),
        ("a", "b", False),
        (True, 1, False),
        (None, None, True),
        (None, 0, False),
        (object(), object(), True),
        (np.array([1, 2]), np.array([1, 3]), False),
    ],
)
def test_other_leaves(one, other, same):
    """Of objects that are no numbers only the kind counts."""
    assert alike(one, other) is same


def test_leaves_are_copies_of_what_tensors_hold():
    """Of tuples, lists and dicts: what a call writes into later is not what it gave."""
    x = np.ones(2)
    found = list(leaves({"a": (SimpleNamespace(data=x), [2.5]), "b": 7}))
    x[...] = 0.0
    assert found[0].tolist() == [1.0, 1.0] and float(found[1]) == 2.5 and found[2] == 7


def test_results_are_held_against_the_first():
    """In number, too."""
    for others, differ in (([X, X.copy()], False), ([X, -X], True), ([X, (X, X)], True)):
        results = Results()
        for one in (X, *others):
            results.add(one)
        assert results.differ is differ


@pytest.mark.parametrize(("period", "told"), [(None, False), (100, True), (7, True), (400, False)])
def test_a_call_that_is_another_one_some_time_is_told(period, told):
    """Each one counts, whichever it is; not what comes later than the last."""
    calls = []

    def call():
        calls.append(1)
        return X + 1 if period and len(calls) % period == 0 else X

    assert differs(call, 300, []) is told


def test_what_a_call_raises_is_left_to_the_one_that_counts():
    """It is no result."""

    def call():
        raise ValueError("not today")

    assert differs(call, 300, []) is False


@pytest.mark.parametrize(("period", "told"), [(1000, False), (8, True)])
def test_a_function_that_counts_its_calls_is_told(period, told):
    """What a child says of it, however right the call is that counts."""
    source = b"calls = []\ndef main(x):\n    calls.append(1)\n    return {'y': x + (len(calls) %% %d == 0)}\n"
    tree = Tree("/learner", ("src",), {"src/mine.py": source % period}, {"main": "mine:main"})
    job = Job("any", "run", {"x": X[:2]}, call_variant="late", repeats=20)
    with Servers({"pack/any/call.py": CALL}, exam=True) as servers:
        (outcome,) = servers.outcomes(tree, [job])
    assert outcome.raised is None and outcome.values["y"].tolist() == X[:2].tolist()
    assert (AGAIN in outcome.changed) is told


@pytest.mark.parametrize("period", [None, 40])
def test_a_probe_that_records_something_else_some_time_is_told(period):
    """With the same numbers and the same generators at its start."""
    calls, begun = [], []

    def probe(learner, record, x):
        calls.append(1)
        record(y=x * (2 if period and len(calls) % period == 0 else 1), n=len(begun) == len(calls))

    wrong = Late({"repeats": 60}, None).rehearse(probe, {"x": X[:2]}, None, lambda: begun.append(1))
    assert wrong == (() if period is None else (AGAIN,)) and len(begun) == len(calls) == 60
