"""Every component that a change reaches was foretold, in code that nobody wrote for it.

A function of a package of the corpus, chosen at random, raises as soon as it is called. Whatever then
measures otherwise must be among the components that names lead to, and have run the function before.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

import msgspec
import pytest
from trees import NAMES, corpus_tree

from engine.code.functions import changed_functions
from engine.code.reachability import Reachability
from engine.code.source import Edit, Source
from engine.flows import build as flows
from engine.flows import impact as extent
from engine.flows import measuring
from engine.inject.oracle import Item
from engine.judge.compare import difference
from engine.judge.sampling import plan
from engine.run.servers import RunOptions, Servers
from engine.run.types import Case, Outcome, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import BEFORE

Function = tuple[Source, ast.FunctionDef]
SAMPLE = ("einsum", "oddities", "spanish")
FEW, MANY = 2, 40  # functions of a package


def functions(tree: Tree) -> list[Function]:
    """Every function of a package, in reading order."""
    sources = [Source(path, data) for path, data in tree.files.items() if path.endswith(".py")]
    return [
        (source, node)
        for source in sources
        for node in ast.walk(source.module)
        if isinstance(node, ast.FunctionDef)
    ]


def raising(source: Source, function: ast.FunctionDef) -> bytes:
    """The file with `raise RuntimeError` as the first statement of a function."""
    first = function.body[0]
    line = min(node.lineno for node in (first, *getattr(first, "decorator_list", ())))
    start, at = source.offset(line, 0), source.span(first)[0]
    indent = re.match(r"[ \t\f]*", source.text(start, at))[0]
    alone = line != first.lineno or len(indent.encode()) == at - start
    place, text = (
        (start, f"{indent}raise RuntimeError\n") if alone else (at, "raise RuntimeError; ")
    )
    new = source.apply([Edit(source.path, place, place, text)])
    body = next(
        node.body
        for node in ast.walk(ast.parse(new))
        if isinstance(node, ast.FunctionDef)
        and (node.lineno, node.name) == (function.lineno, function.name)
    )
    assert isinstance(body[0], ast.Raise)
    return new


class Measured:
    """A package of the corpus with what the build checks of every component give."""

    def __init__(self, servers: Servers, catalogue: Catalogue, tree: Tree) -> None:
        checks = [
            (component, msgspec.structs.replace(check, draws=1))
            for component in catalogue.contract.components
            for check in catalogue.build(component).checks
        ]
        dtype = measuring.dtype_of(servers, catalogue, tree)
        self.cases: list[Case] = servers.cases(plan(checks, seed=3, dtype=dtype).draws)
        self.servers = servers
        self.telling = frozenset(tree.files)
        self.before = self.outcomes(tree, covered=self.telling)

    def outcomes(self, tree: Tree, *, covered: Collection[str] = ()) -> list[Outcome]:
        """What this code gives on the inputs."""
        jobs = flows.jobs_of(self.cases)
        options = RunOptions(covered=covered)
        return self.servers.outcomes(tree, jobs, server="candidates", options=options)

    def changed(self, tree: Tree) -> list[Item]:
        """What is not as it was."""
        after = self.outcomes(tree)
        return [
            Item(case, BEFORE, old, covered=self.telling)
            for case, old, new in zip(self.cases, self.before, after, strict=True)
            if difference(old, new, dtype=case.draw.dtype)
        ]


def missed(
    servers: Servers, catalogue: Catalogue, tree: Tree, chosen: Sequence[Function]
) -> Iterator[str]:
    """The functions that change a component which was not foretold."""
    reach, measured = Reachability(tree.files, tree.roots), Measured(servers, catalogue, tree)
    for source, function in chosen:
        broken = tree.replaced({source.path: raising(source, function)})
        told = extent.by_names(catalogue, reach, broken)
        changed = measured.changed(broken)
        unforeseen = {item.case.draw.component for item in changed} - told
        places = changed_functions(tree.files, broken.files)
        assert places is None or len(places) == 1
        missed = {item.probe for item in changed if places and not item.runs_any(places)}
        if unforeseen or missed:
            where = f"{source.path}:{function.lineno} {function.name}"
            yield f"{where}: {sorted(unforeseen)}, not run in {sorted(missed)}"


@cache
def shuffled(name: str) -> list[Function]:
    """The functions of a package in an order that is always the same."""
    found = functions(corpus_tree(name))
    random.Random(name).shuffle(found)
    return found


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", SAMPLE)
def test_what_a_function_reaches_is_foretold(servers, catalogue, name):
    """A few functions of a few packages."""
    assert not list(missed(servers, catalogue, corpus_tree(name), shuffled(name)[:FEW]))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_any_function_reaches_is_foretold(servers, catalogue, name):
    """Many functions of every package."""
    assert not list(missed(servers, catalogue, corpus_tree(name), shuffled(name)[:MANY]))


@pytest.mark.parametrize("name", ["einsum", "loops", "scalar", "spanish"])
@pytest.mark.parametrize(
    ("method", "components"),
    [("AdamW.step", {"adamw", "train"}), ("RMSNorm.forward", {"rmsnorm"})],
)
def test_a_change_is_not_said_to_reach_everything(catalogue, name, method, components):
    """Foretelling every component for every change would be sound, and would tell nothing."""
    tree = corpus_tree(name)
    kind, _, called = method.partition(".")
    source, function = next(
        (source, function)
        for source, function in functions(tree)
        for node in ast.walk(source.module)
        if isinstance(node, ast.ClassDef) and node.name == kind and function in node.body
        if function.name == called
    )
    broken = tree.replaced({source.path: raising(source, function)})
    assert extent.by_names(catalogue, Reachability(tree.files, tree.roots), broken) == components
