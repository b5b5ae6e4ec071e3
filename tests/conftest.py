"""Trees to run on: the pack's own models and the corpus of independent implementations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.commands import flows
from engine.commands.dev_check import models
from engine.practice import model
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.load import Catalogue

CORPUS = Path(__file__).parent / "corpus"
NAMES = sorted(folder.name for folder in CORPUS.iterdir() if (folder / "src").is_dir())
BREAKS = [
    entry.id for entry in Catalogue.find("minimodel").entries.values() if entry.kind == "break"
]


def corpus_tree(name: str) -> Tree:
    """One implementation of the corpus."""
    contract = Catalogue.find("minimodel").contract
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    root = CORPUS / name
    files = model.read(root, contract.roots, modules)
    return Tree(str(root), tuple(contract.roots), files, contract.roles)


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
    with flows.servers_for(catalogue, None) as warm:
        yield warm
