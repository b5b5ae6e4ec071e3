"""Right code is right in every draw: no verdict hangs on which inputs were drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import pytest
from trees import NAMES, corpus_tree

from engine.flows.measuring import dtype_of
from engine.judge.measured import Measured
from engine.judge.sampling import plan
from engine.judge.verdict import judge_build
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

MANY, SOME = 16, 10  # draws of each regime, but of those that take long

TENSOR = "src/minimodel/tensor.py"
SHIFTED = b"e = np.exp(x - np.max(x, axis=dim, keepdims=True))\n        p = e / np.sum(e, axis=dim, keepdims=True)"
LOGSUMEXP = b"""top = np.max(x, axis=dim, keepdims=True)
        p = np.exp(x - (top + np.log(np.sum(np.exp(x - top), axis=dim, keepdims=True))))"""


def wrong(
    servers: Servers, catalogue: Catalogue, tree: Tree, components: Sequence[str], draws: int
) -> Iterator[str]:
    """What the build checks of these components hold against a tree, with so many draws a regime."""
    dtype = dtype_of(servers, catalogue, tree)
    for component in components:
        checks = [
            (component, msgspec.structs.replace(check, draws=draws if check.draws > 1 else 1))
            for check in catalogue.build(component).checks
        ]
        made = plan(checks, seed=19, dtype=dtype)
        cases = servers.cases(made.draws)
        assert len(cases) > draws
        gave = servers.outcomes(tree, jobs_of(cases))
        by_draw = (dict(zip(made.draws, some, strict=True)) for some in (cases, gave))
        found = judge_build(Measured(made, *by_draw))
        yield from (
            f"{component}.{result.id} ({result.regime}): {result.difference}"
            for result in found.results
            if not result.passed
        )


@pytest.mark.sweep(1)
@pytest.mark.parametrize("component", ["sdpa", "attention"])
def test_a_softmax_by_logsumexp_is_right_at_every_depth(servers, catalogue, plain, component):
    """It keeps fewer digits where scores lie far from 0, and is what many write."""
    assert plain.files[TENSOR].count(SHIFTED) == 1
    tree = plain.replaced({TENSOR: plain.files[TENSOR].replace(SHIFTED, LOGSUMEXP)})
    assert list(wrong(servers, catalogue, tree, [component], MANY)) == []


SINGLE = {  # the two places where the float32 package of the corpus takes a softmax
    TENSOR: (
        b"y = e / e.sum(axis=dim, keepdims=True)",
        b"""top = self.data.max(axis=dim, keepdims=True)
        y = np.exp(self.data - (top + np.log(e.sum(axis=dim, keepdims=True))))""",
    ),
    "src/minimodel/nn/attention.py": (
        b"p = e / np.where(total > 0, total, 1)",
        b"""lse = top + np.log(np.where(total > 0, total, 1))
    p = np.exp(np.where(allowed, s - lse, -np.inf))""",
    ),
}


def by_logsumexp(dtype: str) -> Tree:
    """The package of the corpus that is in float32 with such a softmax, in this dtype throughout."""
    tree = corpus_tree("float32")
    for path, (old, new) in SINGLE.items():
        assert tree.files[path].count(old) == 1
        tree = tree.replaced({path: tree.files[path].replace(old, new)})
    files = {
        path: text.replace(b"np.float32", f"np.{dtype}".encode())
        for path, text in tree.files.items()
    }
    return tree.replaced(files)


@pytest.fixture
def single() -> Tree:
    """In float32, by logsumexp."""
    return by_logsumexp("float32")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("component", ["sdpa", "attention", "tensor"])
def test_a_softmax_by_logsumexp_is_right(servers, catalogue, component, dtype):
    """Where it keeps few digits it needs the `rounding` that the builds allow."""
    tree = by_logsumexp(dtype)
    assert dtype_of(servers, catalogue, tree) == dtype
    assert list(wrong(servers, catalogue, tree, [component], MANY)) == []
    assert "float32" in catalogue.build(component).rounding


def test_without_that_rounding_it_is_refused_where_the_build_says(
    servers, catalogue, single, monkeypatch
):
    """So the rounding does something, and in those regimes alone."""
    build = catalogue.build("sdpa")
    bare = tuple(msgspec.structs.replace(check, rounding={}) for check in build.checks)
    monkeypatch.setitem(catalogue._builds, "sdpa", msgspec.structs.replace(build, checks=bare))
    found = list(wrong(servers, catalogue, single, ["sdpa"], MANY))
    assert found
    assert all(any(f"({r})" in one for r in build.rounding["float32"]) for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_package_of_the_corpus_is_right_in_every_draw(servers, catalogue, name):
    """All components of all packages."""
    components = [one for one in catalogue.contract.components if one in catalogue.entries]
    assert list(wrong(servers, catalogue, corpus_tree(name), components, SOME)) == []
