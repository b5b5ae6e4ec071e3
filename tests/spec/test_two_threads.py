"""Two threads read specs at the same time, as when a place for a bug is looked for and the pack is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# In a process of its own each time: a type is looked at once. The YAML is read before, so that threads meet.
SCRIPT = """
import sys, threading
from pathlib import Path
from engine.spec import load, yaml
from engine.spec.catalogue import Catalogue
from engine.spec.types import Break
entries = Catalogue.find("minimodel").entries.values()
file = next(entry.file for entry in entries if entry.kind == "break")
document = yaml.read(Path(file).read_bytes(), str(file))
document = document._replace(data=load.filled(document.data))
start = threading.Barrier(2)
sys.setswitchinterval(1e-5)
def work():
    start.wait()
    if sys.argv[1] == "convert":
        load.convert(document, Break)
    else:
        load.load(Path(file), Break)  # from the second process on, what the first has kept
threads = [threading.Thread(target=work) for _ in range(2)]
[one.start() for one in threads]
[one.join() for one in threads]
"""


@pytest.mark.parametrize("way", ["convert", "kept"])
def test_a_type_that_two_threads_meet_first_ends_nothing(way: str, tmp_path: Path) -> None:
    """msgspec looks at a type when it is first converted to: without a lock half of these processes crashed."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(6):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, way], capture_output=True, text=True, timeout=60,
            check=False, env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
