"""How long `engine break --blind` and `engine submit-fix` take on a PyTorch GPT, in units of its own imports.

    python tests/bench/torch_start.py [--runs N] [--model PATH] [--imports "import torch; import model"] [--only WORD]

The unit is a Python that imports torch and the model's files. Each run of a command stands beside one of its unit, in
turn, so that both meet the same machine; the ratio is the median of the ratios of these pairs. CPU is the processor
time of a command and of what it waited for: of servers that are killed at the end it is not counted. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from start import ROOT, Timed, engine, once, restored

TEMPLATE = ROOT / "templates" / "gpt"
BREAKS = {  # a break -> the kind of its fix
    "scores-not-scaled": "model",
    "zero-grad-gone": "training script",
    "top-k-off-by-one": "sampler",
}
BREAK, FIX = 4.0, 3.0  # how often the unit may go into each


class Spent(NamedTuple):
    """Seconds of one process and its children."""

    wall: float
    cpu: float


def spent(words: tuple[str, ...], home: Path) -> Spent:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = once(words, home)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def learner(folder: Path, model: Path) -> Path:
    """A learner around a copy of this model, whose tree was looked at."""
    shutil.copytree(model, folder / "model", ignore=shutil.ignore_patterns(".git"))
    engine(folder, "init", "ada", "--pack", "gpt", "--model", str(folder / "model"))
    return folder / "learners" / "ada"


def commands(folder: Path, model: Path, imports: str) -> Iterator[Timed]:
    """A break by name, the same after which the healthy text is put back, and one by lot."""
    own = folder / "first"
    own.mkdir()
    home = learner(own, model)
    unit = ("-c", f"import sys; sys.path.insert(0, {str(own / 'model')!r}); {imports}")
    back = restored(home, own / "kept")
    for id, kind in BREAKS.items():
        words = ("-m", "engine", "break", id, "--blind")
        yield Timed(f"break --blind {id}", words, home, unit, BREAK, back)
        back()
        try:
            engine(home, "break", id, "--blind")
        except SystemExit as error:
            print(f"{id} is left out: {str(error).splitlines()[0][:80]}")
            continue
        practice = home / "practice" / "blind-1"
        for path in practice.rglob("*.py"):
            path.write_bytes((own / "model" / path.relative_to(practice)).read_bytes())
        fixed = restored(home, own / f"kept {id}")
        yield Timed(f"submit-fix, {kind}", ("-m", "engine", "submit-fix"), home, unit, FIX, fixed)
        back()


def main() -> None:
    """Print a row for each command."""
    words = argparse.ArgumentParser()
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--model", type=Path, default=TEMPLATE)
    words.add_argument("--imports", default="import torch, model")
    words.add_argument("--only", default="")
    given = words.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{given.model}, load {load} on {os.cpu_count()} cores")
    print(f"{'':38}{'unit':>7}{'seconds':>9}{'times':>7}{'cpu':>7}{'times':>7}{'goal':>6}")
    with tempfile.TemporaryDirectory(prefix="engine-bench-") as name:
        for one in commands(Path(name), given.model, given.imports):
            if given.only not in one.name:
                continue
            pairs = []
            for _ in range(given.runs + 1):
                one.ready()
                pairs.append((spent(one.unit, one.home), spent(one.words, one.home)))
            unit, took = zip(*pairs[1:], strict=True)  # the first finds no cache
            wall = statistics.median(b.wall / a.wall for a, b in pairs[1:])
            cpu = statistics.median(b.cpu / a.cpu for a, b in pairs[1:])
            print(
                f"{one.name:38}{statistics.median(a.wall for a in unit):7.2f}"
                f"{statistics.median(b.wall for b in took):9.2f}{wall:7.1f}"
                f"{statistics.median(b.cpu for b in took):7.2f}{cpu:7.1f}{one.most:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
