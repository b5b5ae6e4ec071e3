"""Every package of the corpus gives the same results instrumented as plain."""

from __future__ import annotations

import numpy as np
import pytest
from lab import ROOT
from test_tracer import same_outcome

from engine.flows import build as flows
from engine.flows import measuring
from engine.learner import model
from engine.run.servers import RunOptions, Servers
from engine.run.types import Draw, Tree
from engine.spec.catalogue import Catalogue

CORPUS = ROOT / "tests" / "corpus"
NAMES = sorted(folder.name for folder in CORPUS.iterdir() if (folder / "src").is_dir())
PROBES = [
    ("embedding", "attributes", "normal"),
    ("embedding", "forward", "normal"),
    ("embedding", "forward", "repeated"),
    ("embedding", "twice", "normal"),
    ("embedding", "lookup_only", "negative"),
    ("embedding", "lookup_only", "float_ids"),
    ("lm_head", "width", "normal"),
    ("lm_head", "tied", "small_vocab"),
    ("lm_head", "forward", "small_vocab"),
    ("lm_head", "pipeline", "small_vocab"),
    ("cross_entropy", "forward", "normal"),
    ("cross_entropy", "forward", "ignored"),
    ("cross_entropy", "forward", "thousand"),
    ("cross_entropy", "forward", "class_beyond"),
    ("cross_entropy", "scaled", "no_batch"),
]


def corpus(name: str, catalogue: Catalogue) -> Tree:
    """One package of the corpus."""
    contract = catalogue.contract
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    files = model.read(CORPUS / name, contract.roots, modules)
    return Tree(str(CORPUS / name), tuple(contract.roots), files, contract.roles)


def sizes_of(values: dict[str, object]) -> set[int]:
    """Element counts to record: those of the arrays that the reference records and names."""
    return {int(value.size) for value in values.values() if isinstance(value, np.ndarray)} | {1}


def compared(servers: Servers, tree: Tree, draws: list[Draw]) -> None:
    """Each draw, plain and traced, on servers of their own."""
    cases = servers.cases(draws)
    jobs = flows.jobs_of(cases)
    sizes: set[int] = set()
    for case in cases:
        sizes |= sizes_of({**case.expected[""].values, **case.named})
    trace = {"sizes": sorted(sizes), "cap": 1 << 26}
    plain = servers.outcomes(tree, jobs, server=tree.root)
    traced = servers.outcomes(
        tree, jobs, server=tree.root + " traced", options=RunOptions(trace=trace)
    )
    for case, one, two in zip(cases, plain, traced, strict=True):
        where = (case.draw, one.stopped, two.stopped, one.raised, two.raised)
        assert one.stopped is None, where
        assert same_outcome(one, two), where
        assert two.trace or one.raised, where


@pytest.mark.parametrize("name", NAMES)
def test_a_package_of_the_corpus_does_the_same_when_it_is_traced(
    name: str, servers: Servers, catalogue: Catalogue
) -> None:
    """Values to the last bit, exceptions with their frames, changed inputs."""
    tree = corpus(name, catalogue)
    dtype = measuring.dtype_of(servers, catalogue, tree)
    compared(servers, tree, [Draw(*probe, 11, dtype) for probe in PROBES])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_package_of_the_corpus_does_the_same_on_every_check(
    name: str, servers: Servers, catalogue: Catalogue
) -> None:
    """All regimes of all build checks, two seeds each."""
    tree = corpus(name, catalogue)
    dtype = measuring.dtype_of(servers, catalogue, tree)
    draws = [
        Draw(component, check.probe, regime, seed, dtype)
        for component in catalogue.contract.components
        if component in catalogue.entries
        for check in catalogue.build(component).checks
        for regime in check.regimes
        for seed in (1, 2)
    ]
    compared(servers, tree, draws)


@pytest.mark.parametrize("name", NAMES)
def test_the_trace_of_a_package_holds_what_the_reference_names(
    name: str, servers: Servers, catalogue: Catalogue
) -> None:
    """Some recorded expression is the looked-up vectors, and one the logits."""
    tree = corpus(name, catalogue)
    dtype = measuring.dtype_of(servers, catalogue, tree)
    probes = [("embedding", "forward", "normal"), ("lm_head", "forward", "small_vocab")]
    cases = servers.cases([Draw(*probe, 3, dtype) for probe in probes])
    wanted = [cases[0].expected[""].values["vectors"], cases[1].expected[""].values["logits"]]
    trace = {"sizes": sorted({int(value.size) for value in wanted} | {1}), "cap": 1 << 26}
    outcomes = servers.outcomes(
        tree, flows.jobs_of(cases), server=tree.root + " held", options=RunOptions(trace=trace)
    )
    for value, outcome in zip(wanted, outcomes, strict=True):
        held = [v for row in outcome.trace for v in row["values"] if v.size == value.size]
        assert any(
            np.allclose(v.reshape(value.shape), value, rtol=1e-4, atol=1e-5) for v in held
        ), len(held)
