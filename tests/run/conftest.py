"""Warm servers with one probe, and for each test a learner's folder with a server of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab import CALL, Lab

from engine.run.servers import Servers


@pytest.fixture(scope="session")
def warm() -> Iterator[Servers]:
    """Servers that hold the probe `any.run` and nothing else."""
    with Servers({"pack/any/call.py": CALL}, exam=True) as started:
        yield started


@pytest.fixture
def lab(warm: Servers, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A learner's folder and a server that no other test uses."""
    name = request.node.nodeid
    yield Lab(warm, tmp_path, name)
    if name in warm._servers:
        warm._drop(name)


@pytest.fixture
def confined(lab: Lab) -> Lab:
    """The same, on a machine whose kernel confines learner code."""
    if lab.servers.sandbox_of(lab.name).landlock == 0:
        pytest.skip("this kernel has no Landlock")
    return lab
