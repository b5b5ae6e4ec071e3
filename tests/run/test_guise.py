"""Code that asks where it runs gets two answers, so that what is right before a judge alone is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab import CALL

from engine.run.child.exam import disguise as guise
from engine.run.jobs import Job
from engine.run.servers import SPLIT, Servers
from engine.run.types import Tree

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
    monkeypatch.setattr("engine.run.servers.CORES", cores)
    files = {"src/mine.py": ASKS % (guise.FOR_THE_ENGINE,)}
    tree = Tree("/learner", ("src",), files, {"main": "mine:main"})
    with Servers({"pack/any/call.py": CALL}) as servers:
        found = servers.outcomes(tree, [Job("any", "run", {})] * SPLIT)
        (alone,) = servers.outcomes(tree, [Job("any", "run", {})])
    assert all(not outcome.raised for outcome in found)
    judged, ordinary = found[0].values, found[1].values
    assert alone.values == judged
    assert all(outcome.values == judged for outcome in found[::2])
    assert all(outcome.values == ordinary for outcome in found[1::2])
    assert all(judged[name] != ordinary[name] for name in judged)
    assert ordinary["script"] == ordinary["argv"] == guise.SCRIPT
    assert ordinary["home"] == str(Path("~").expanduser())
    assert ordinary["set"] == "" and judged["set"]
    assert ordinary["bytecode"] and ordinary["path"] == "/learner/src"
    assert ordinary["loader"] == ordinary["spec"] == "SourceFileLoader"
