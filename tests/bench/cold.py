"""How long a learner waits: `engine break`, `submit-fix` and `submit-build`, each a cold process.

    python tests/bench/cold.py [--every N] [FOLDER ...]

FOLDER holds models, tests/corpus by default. For each model and break a learner of that model is made
in a temporary folder; the break is put in, the bug's file put back, the fix submitted. A build is
submitted RUNS times for each model. Nothing here is asserted; compare the figures of one run with each
other, the machines are noisy.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.commands import init
from engine.spec.catalogue import Catalogue

RUNS = 5
CORPUS = Path(__file__).resolve().parents[1] / "corpus"


def answers(catalogue: Catalogue, id: str) -> dict[str, Any]:
    """Some answer to every question of a break."""
    spec = catalogue.break_(id)
    first = {"number": lambda q: 0.0, "choice": lambda q: q.options[0].id, "text": lambda q: "this"}
    given = {q.id: {"answer": first[q.kind](q), "confidence": 50} for q in spec.predictions}
    return {"predictions": given, "cause": {"answer": spec.cause.options[0].id, "confidence": 50}}


def timed(words: list[str], home: Path) -> tuple[str, float]:
    """What went wrong, "" when nothing did, and the seconds of one command."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "engine", *words],
        cwd=home, stdin=subprocess.DEVNULL, capture_output=True, check=False, encoding="utf-8",
    )  # fmt: skip
    wrong = done.stderr + done.stdout if done.returncode else ""
    return wrong, time.perf_counter() - started


def both(catalogue: Catalogue, model: Path, id: str) -> tuple[float, float] | None:
    """Seconds for the break and for the verdict on its fix; None where it cannot be put in."""
    with tempfile.TemporaryDirectory(prefix="engine-bench-") as name:
        folder = Path(name)
        init.run("ada", folder=folder, model=model)
        home = folder / "learners" / "ada"
        file = folder / "answers.yaml"
        file.write_text(json.dumps(answers(catalogue, id)))  # JSON is YAML
        wrong, waited = timed(["break", id, "--answers", str(file)], home)
        if wrong:
            return None
        for path in (home / "practice").rglob("src/**/*.py"):
            healthy = model.joinpath(*path.parts[path.parts.index("src") :])
            shutil.copyfile(healthy, path)
        wrong, judged = timed(["submit-fix", "--answers", str(file)], home)
        if wrong:
            print(f"{id} in {model.name}: the healthy code was refused: {wrong}", flush=True)
        return waited, judged


def builds(model: Path, component: str) -> list[float]:
    """Seconds of each submission of a build."""
    with tempfile.TemporaryDirectory(prefix="engine-bench-") as name:
        folder = Path(name)
        init.run("ada", folder=folder, model=model)
        runs = [
            timed(["submit-build", component], folder / "learners" / "ada") for _ in range(RUNS)
        ]
    for wrong, _ in runs:
        if wrong:
            print(f"{component} of {model.name}: right code was refused: {wrong}", flush=True)
    return [seconds for _, seconds in runs]


def told(name: str, seconds: list[float]) -> None:
    """Median, 95th percentile and the longest."""
    ordered = sorted(seconds)
    high = ordered[max(0, int(0.95 * len(ordered)) - 1)]
    print(
        f"{name:12} {len(ordered):4} times: median {statistics.median(ordered):.2f} s,"
        f" 95% {high:.2f} s, longest {ordered[-1]:.2f} s"
    )


def main() -> None:
    """Print the figures."""
    words = argparse.ArgumentParser()
    words.add_argument("folders", nargs="*", type=Path)
    words.add_argument("--every", type=int, default=1)
    given = words.parse_args()
    catalogue = Catalogue.find("minimodel")
    breaks = [entry.id for entry in catalogue.entries.values() if entry.kind == "break"]
    models = [m for f in given.folders or [CORPUS] for m in sorted(f.resolve().glob("*/"))]
    pairs = [(model, id) for model in models for id in breaks][:: given.every]
    found = [both(catalogue, model, id) for model, id in pairs]
    times = [pair for pair in found if pair is not None]
    print(f"{len(times)} of {len(pairs)} injected")
    told("break", [waited for waited, _ in times])
    told("submit-fix", [judged for _, judged in times])
    told("submit-build", [seconds for model in models for seconds in builds(model, "embedding")])


if __name__ == "__main__":
    main()
