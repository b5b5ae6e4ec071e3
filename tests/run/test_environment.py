"""Code that asks where it runs gets two answers, so that what is right before a judge alone is found."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from lab import CALL
from msgspec.structs import replace

from engine.run.child import call_variants
from engine.run.child.exam import callers, environment, exchange, repetition
from engine.run.jobs import Job
from engine.run.pool import SPLIT
from engine.run.servers import Servers
from engine.run.types import CALL_VARIANTS, EXAM_VARIANTS, Constraint, Draw, Tree

ASKS = b"""
import os, sys
def main():
    here = sys.modules['__main__']
    return {
        'script': os.path.basename(getattr(here, '__file__', '')), 'argv': '|'.join(sys.argv),
        'home': os.environ['HOME'], 'set': ' '.join(n for n in %r if n in os.environ),
        'bytecode': not sys.dont_write_bytecode, 'loader': type(__loader__).__name__,
        'spec': type(__spec__.loader).__name__, 'path': sys.path[0],
    }
"""


@pytest.mark.parametrize("cores", [1, 2])
def test_half_of_the_children_look_like_processes_of_the_learners_own(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many jobs every other one runs in such a child, however many processors there are."""
    monkeypatch.setattr("engine.run.pool.CORES", cores)
    files = {"src/mine.py": ASKS % (environment.FOR_THE_ENGINE,)}
    tree = Tree("/learner", ("src",), files, {"main": "mine:main"})
    with Servers({"pack/any/call.py": CALL}, exam=True) as servers:
        found = servers.outcomes(tree, [Job("any", "run", {})] * SPLIT)
        (alone,) = servers.outcomes(tree, [Job("any", "run", {})])
    assert all(not outcome.raised for outcome in found)
    judged, ordinary = found[0].values, found[1].values
    assert alone.values == judged
    assert all(outcome.values == judged for outcome in found[::2])
    assert all(outcome.values == ordinary for outcome in found[1::2])
    assert all(judged[name] != ordinary[name] for name in judged)
    assert ordinary["script"] == ordinary["argv"] == environment.SCRIPT
    assert ordinary["home"] == str(Path("~").expanduser())
    assert ordinary["set"] == "" and judged["set"]
    assert ordinary["bytecode"] and ordinary["path"] == "/learner/src"
    assert ordinary["loader"] == ordinary["spec"] == "SourceFileLoader"


def test_at_practice_every_child_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """What exists only against cheats is sent to nobody there."""
    sent = []
    monkeypatch.setattr("engine.run.pool.exam_modules", lambda party: sent.append(party) or [])
    files = {"src/mine.py": ASKS % (environment.FOR_THE_ENGINE,)}
    tree = Tree("/learner", ("src",), files, {"main": "mine:main"})
    with Servers({"pack/any/call.py": CALL}) as servers:
        first, *rest = servers.outcomes(tree, [Job("any", "run", {})] * SPLIT)
    assert sent == [] and first.raised is None
    assert first.values["home"] != str(Path("~").expanduser())
    assert all({**outcome.values, "home": first.values["home"]} == first.values for outcome in rest)


@pytest.mark.parametrize("name", sorted(EXAM_VARIANTS))
def test_a_call_variant_of_the_exam_is_refused_at_practice(name: str) -> None:
    """Who asks for it has made a mistake in the engine: a child without it would call as usual."""
    tree = Tree("/learner", ("src",), {"src/mine.py": ASKS % ((),)}, {"main": "mine:main"})
    with Servers({"pack/any/call.py": CALL}) as servers:
        with pytest.raises(AssertionError, match=name):
            servers.outcomes(tree, [Job("any", "run", {}, call_variant=name)])
        constrained = Draw("any", "run", "normal", 1, constraint=Constraint("size", 3))
        with pytest.raises(AssertionError, match="constraint"):
            servers.cases([constrained])


def test_the_exam_may_be_asked_for_when_servers_are_there_already() -> None:
    """A command starts them before it knows the level; from then on they have it, anew after a death."""
    tree = Tree(
        "/learner",
        ("src",),
        {"src/mine.py": b"def main():\n    return {}\n"},
        {"main": "mine:main"},
    )
    with Servers({"pack/any/call.py": CALL}) as servers:
        job = Job("any", "run", {})
        assert servers.outcomes(tree, [job])[0].raised is None
        servers.exam = True
        for _ in range(2):
            jobs = [replace(job, call_variant=name) for name in sorted(EXAM_VARIANTS)]
            found = servers.outcomes(replace(tree), jobs)
            assert [outcome.raised or outcome.stopped for outcome in found] == [None] * len(jobs)
            servers._servers["learner"]._socket.shutdown(socket.SHUT_RDWR)


def test_practice_after_an_exam_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever judges at both levels with the same servers gets the same from each."""
    monkeypatch.setattr("engine.run.pool.CORES", 2)
    files = {"src/mine.py": ASKS % (environment.FOR_THE_ENGINE,)}
    tree = Tree("/learner", ("src",), files, {"main": "mine:main"})
    with Servers({"pack/any/call.py": CALL}) as servers:
        found = []
        for exam in (False, True, False, True):
            servers.exam = exam
            outcomes = servers.outcomes(tree, [Job("any", "run", {})] * SPLIT)
            found.append([outcome.values for outcome in outcomes])
    assert found[0] == found[2] and found[1] == found[3]
    assert found[0][0] == found[1][0] and found[0][1] != found[1][1]


def test_each_call_variant_has_its_code_where_it_is_said_to_be() -> None:
    """The core's with the child, the exam's in child/exam, none in both."""
    exam = {**callers.CALL_VARIANTS, **exchange.CALL_VARIANTS, **repetition.CALL_VARIANTS}
    assert exam.keys() == EXAM_VARIANTS
    assert call_variants.CALL_VARIANTS.keys() == {"", *CALL_VARIANTS} - EXAM_VARIANTS
