"""Warm servers and trees to run on."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest

from engine.author.models import models
from engine.flows.measuring import servers_for
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue


def pytest_configure(config: pytest.Config) -> None:
    """What commands keep between runs lies in a folder of these tests' own, and all lots are the same each time;
    `ENGINE_SEED= pytest` draws them anew.
    """
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="engine-cache-")
    os.environ.setdefault("ENGINE_SEED", "tests")


def pytest_unconfigure(config: pytest.Config) -> None:
    """And is gone with them."""
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test that is marked `sweep(n)`, n are run, spread over all; the others are slow."""
    swept: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sweep") and not item.get_closest_marker("slow"):
            swept.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in swept.values():
        mark = cases[0].get_closest_marker("sweep")
        kept = {i * len(cases) // mark.args[0] for i in range(mark.args[0])} if mark else set()
        for i, item in enumerate(cases):
            if i not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """The pack minimodel."""
    return Catalogue.find("minimodel")


@pytest.fixture(scope="session")
def plain(catalogue: Catalogue) -> Tree:
    """The pack's own plain model."""
    return models(catalogue)["plain"]


@pytest.fixture(scope="module")
def servers(catalogue: Catalogue) -> Iterator[Servers]:
    """Warm servers for one test module."""
    with servers_for(catalogue, None) as warm:
        yield warm
