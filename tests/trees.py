"""The corpus of independent implementations as trees, and the ids of the breaks."""

from __future__ import annotations

from pathlib import Path

from engine.learner import model
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

CORPUS = Path(__file__).parent / "corpus"
NAMES = sorted(folder.name for folder in CORPUS.iterdir() if (folder / "src").is_dir())
BREAKS = [
    entry.id for entry in Catalogue.find("minimodel").entries.values() if entry.kind == "break"
]

LOUD, SILENCED = "tied-vocab-mismatch", "tied-vocab-mismatch-silenced"


def corpus_tree(name: str) -> Tree:
    """One implementation of the corpus."""
    contract = Catalogue.find("minimodel").contract
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    root = CORPUS / name
    files = model.read(root, contract.roots, modules)
    return Tree(str(root), tuple(contract.roots), files, contract.roles)
