"""Warm servers and trees to run on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.commands.dev_check import models
from engine.commands.warm import servers_for
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.load import Catalogue


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
