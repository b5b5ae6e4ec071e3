"""Code of a course as a learner's tree, with or without a mistake in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from engine.commands import sources
from engine.learner.learner import Learner, Settings
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

Edit = tuple[str, str, str]  # file, what stands there once, what takes its place


def tree_of(pack: Catalogue, root: Path, home: Path, edits: Iterable[Edit] = ()) -> Tree:
    """The tree of this code after these edits. home: of a learner who need not be there."""
    learner = Learner(home, Settings(name="x", pack=pack.pack, model=str(root)))
    files = dict(sources.read(learner, pack))
    for file, old, new in edits:
        text = files[file].decode()
        assert text.count(old) == 1, (file, old)
        files[file] = text.replace(old, new).encode()
    return learner.tree(pack, files, root)
