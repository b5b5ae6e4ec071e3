"""A learner's folder on disk, a server that runs what lies in it, and what else these tests share."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

from engine.learner import model
from engine.run.jobs import Job
from engine.run.servers import Servers
from engine.run.types import Outcome, Tree

ROOT = Path(__file__).resolve().parents[2]
ROOTS = ("src", "")
# One probe for every test: the learner's `main` gets the inputs, and what it returns is recorded.
CALL = b"""
def run(learner, record, **inputs):
    record(**learner.main(**inputs))
"""

Files = str | Mapping[str, str | bytes]


def write(base: Path, files: Files) -> Path:
    """Put the files below `base`; a text alone is src/mine.py."""
    for path, text in ({"src/mine.py": files} if isinstance(files, str) else files).items():
        target = base / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
    return base


def read(base: Path, roles: Mapping[str, str] | None = None) -> Tree:
    """What the engine reads of the learner's folder `base`."""
    roles = roles or {"main": "mine:main"}
    files = model.read(base, ROOTS, {where.partition(":")[0] for where in roles.values()})
    return Tree(str(base), ROOTS, files, roles)


class Lab:
    """A learner's folder, and one server of its own that runs what lies in it."""

    def __init__(self, servers: Servers, folder: Path, name: str) -> None:
        self.servers = servers
        self.folder = folder
        self.name = name

    def tree(self, files: Files, roles: Mapping[str, str] | None = None) -> Tree:
        """The learner's tree once these files are in it."""
        return read(write(self.folder / "learner", files), roles)

    def runs(self, tree: Tree, *inputs: dict[str, Any], **options: Any) -> list[Outcome]:
        """One job for each of `inputs`, in one batch."""
        options.setdefault("server", self.name)
        return self.servers.outcomes(tree, [Job("any", "run", one) for one in inputs], **options)

    def run(self, files: Files, **inputs: Any) -> Outcome:
        """What `main(**inputs)` of src/mine.py does."""
        return self.runs(self.tree(files), inputs)[0]


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return not Path("/proc/self").exists()
    return state not in "ZX"


def gone(pid: int, patience: float = 10.0) -> bool:
    """Whether the process has ended, or ends within `patience` seconds."""
    until = time.monotonic() + patience
    while alive(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
