"""One interpreter with torch, and one for the pack's functions, for all tests of facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.commands.interpreters import pack_folder
from engine.facts import files, pack
from engine.facts.experiments import Candidate
from engine.facts.report import judged
from engine.flows import check, training
from engine.run.forks import FACTS, TORCH, Folder, Forks
from engine.run.pool import own_paths
from engine.run.pythons import own_python

GPTS = Path(__file__).parent.parent / "gpts"


@pytest.fixture(scope="session")
def forks() -> Iterator[tuple[Forks, Forks]]:
    pytest.importorskip("torch", reason="torch is not installed")
    hidden = [*own_paths(), pack_folder()]
    with Forks(own_python(), TORCH, hidden) as learner, Forks(own_python(), FACTS, hidden) as facts:
        learner.greeting()
        facts.hold("pack", Folder("/pack", ("",), pack.code(pack_folder()), compiled=True))
        yield learner, facts


@pytest.fixture(scope="session")
def measure(forks):
    """check(files, ...) -> the report, on warm interpreters."""
    learner, facts = forks
    declared = pack.load(pack_folder())

    def run(tree, *, model="", call="", train="", training=False, generation=False):
        learner.hold("model", check.folder(tree))
        if training:
            learner.hold("script", check.folder(tree), "optimizer")
        bench = check.Bench(learner, facts, declared, dict(tree))
        asked = check.Asked(model, call, train, training, generation)
        return check.check(bench, asked, lambda _: None)

    return run


@pytest.fixture(scope="session")
def scripted(forks):
    """scripted(files, the model's file) -> the facts of the training script alone."""
    learner, facts = forks
    declared = pack.load(pack_folder())

    def run(tree, path):
        learner.hold("script", check.folder(tree), "optimizer")
        bench = check.Bench(learner, facts, declared, dict(tree))
        half = training.script(bench, "", Candidate(path), lambda _: None)
        return [judged(declared, raw, bench.files) for raw in check.raw_facts(half.facts)]

    return run


def tree_of(style: str) -> dict[str, bytes]:
    return files.read(GPTS / style)
