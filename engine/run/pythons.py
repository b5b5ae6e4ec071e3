"""Interpreters that somebody's code may be meant for."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def own_python() -> str:
    """The engine's own interpreter."""
    return sys.executable


def interpreters(tree: Path, named: str | None) -> list[str]:
    """Interpreters to try for a tree: the one that is named, else its environment, the active one, ours."""
    if named:
        return [named]
    found = [folder / env for folder in (tree, tree.parent) for env in (".venv", "venv")]
    found += [Path(os.environ[v]) for v in ("VIRTUAL_ENV", "CONDA_PREFIX") if os.environ.get(v)]
    paths = [str(path / "bin" / "python") for path in found]
    return list(dict.fromkeys([*(p for p in paths if os.access(p, os.X_OK)), own_python()]))


def with_package(package: str, tree: Path, named: str | None) -> str:
    """The first of these that has a package installed, else the first; none of them is started."""
    found = interpreters(tree, named)
    return next((python for python in found if has(python, package)), found[0])


def has(python: str, package: str) -> bool:
    """Whether an interpreter has a package, as far as its folders show it."""
    if python == own_python():
        return any(os.path.isdir(os.path.join(path, package)) for path in sys.path)
    environment = Path(python).parent.parent
    return any(environment.glob(f"lib/python3*/site-packages/{package}/__init__.py"))
