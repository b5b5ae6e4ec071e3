"""How long a learner waits for a whole process, in units of what Python's own imports take.

    python tests/bench/start.py [--runs N] [--only WORD ...]

What judges or breaks is compared with `python -c "import numpy"`, what only reads with `python -c "import typer"`. Each
run of a command stands beside one of its unit, in turn, so that both meet the same machine; the ratio is the median of
the ratios of these pairs. Learners are made in a temporary folder, one of each package: plain, and einsum of the
corpus. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from cold import answers
from verdicts import another_form

from engine.commands import init
from engine.spec.catalogue import Catalogue

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {  # with src/ each
    "plain": ROOT / "exercises" / "minimodel" / "models" / "plain",
    "einsum": ROOT / "tests" / "corpus" / "einsum",
}
FIXED = ("attention-no-scale", "layernorm-no-eps", "tied-vocab-mismatch")
LOUD = FIXED[-1]
NUMPY, TYPER = ("-c", "import numpy"), ("-c", "import typer")


class Timed(msgspec.Struct, frozen=True):
    """A command, the unit that it is measured in, how many of those it may take, and what makes its folder
    as it was before each run.
    """

    name: str
    words: tuple[str, ...]
    home: Path
    unit: tuple[str, ...]
    most: float
    ready: Callable[[], None]


def once(words: tuple[str, ...], home: Path) -> float:
    """Seconds of one process; whatever it says."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, *words], cwd=home, stdin=subprocess.DEVNULL, capture_output=True,
        check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return time.perf_counter() - started


def engine(home: Path, *words: str) -> None:
    """A command that has to succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "engine", *words], cwd=home, stdin=subprocess.DEVNULL, check=False,
        capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"engine {' '.join(words)}: {done.stderr or done.stdout}")


def learner(folder: Path, package: str) -> Path:
    """A learner whose code is this package, over the template's stubs."""
    init.run("ada", folder=folder / package)
    home = folder / package / "learners" / "ada"
    shutil.copytree(PACKAGES[package], home, dirs_exist_ok=True)
    return home


def restored(home: Path, kept: Path) -> Callable[[], None]:
    """Puts a learner's folder back to what it is now."""
    shutil.copytree(home, kept, symlinks=True)

    def back() -> None:
        shutil.rmtree(home)
        shutil.copytree(kept, home, symlinks=True)

    return back


def fixes(folder: Path, catalogue: Catalogue) -> Iterator[Timed]:
    """submit-fix with the healthy text, a right fix in another form, and a wrong one."""
    for package, model in PACKAGES.items():
        for id in FIXED:
            for kind in ("restored", "another form", "wrong"):
                place = folder / package / f"{id} {kind}"
                home = learner(place, package)
                file = place / "answers.yaml"
                file.write_text(json.dumps(answers(catalogue, id)))  # JSON is YAML
                engine(home, "break", id, "--answers", str(file))
                for path in (home / "practice" / id).rglob("*.py"):
                    own = model / path.relative_to(home / "practice" / id)
                    if own.exists() and own.read_bytes() != path.read_bytes():
                        right, broken = own.read_bytes(), path.read_bytes()
                        form = another_form(right, broken)
                        wrong = another_form(broken, right)
                        texts = {"restored": right, "another form": form, "wrong": wrong}
                        path.write_bytes(texts[kind])
                yield Timed(
                    f"submit-fix {id}, {package}, {kind}",
                    ("-m", "engine", "submit-fix", "--answers", str(file)),
                    home, NUMPY, 6.0, restored(home, place / "kept"),
                )  # fmt: skip


def others(folder: Path, catalogue: Catalogue) -> Iterator[Timed]:
    """Builds, a break, and what only reads."""
    for package in PACKAGES:
        home = learner(folder / "build", package)
        back = restored(home, folder / f"{package} kept")
        words = ("-m", "engine", "submit-build", "embedding")
        yield Timed(f"submit-build embedding, {package}", words, home, NUMPY, 4.0, back)
        file = folder / f"{package}.yaml"
        file.write_text(json.dumps(answers(catalogue, LOUD)))
        words = ("-m", "engine", "break", LOUD, "--answers", str(file))
        yield Timed(f"break {LOUD}, {package}", words, home, NUMPY, 6.0, back)
        words = ("-m", "engine", "break", LOUD, "--blind")
        yield Timed(f"break --blind {LOUD}, {package}", words, home, NUMPY, 6.0, back)
    home = learner(folder / "read", "plain")
    engine(home, "break", LOUD, "--answers", str(folder / "plain.yaml"))
    back = restored(home, folder / "read kept")
    for word in ("list", "status", "hint", "next"):
        yield Timed(word, ("-m", "engine", word), home, TYPER, 2.0, back)
    yield Timed("--help", ("-m", "engine", "--help"), home, TYPER, 1.3, back)


def main() -> None:
    """Print a row for each command."""
    words = argparse.ArgumentParser()
    words.add_argument("--runs", type=int, default=9)
    words.add_argument("--only", action="append", default=[], metavar="WORD")
    given = words.parse_args()
    catalogue = Catalogue.find("minimodel")
    print(f"{'':58}{'unit':>8}{'seconds':>9}{'times':>7}{'goal':>6}")
    with tempfile.TemporaryDirectory(prefix="engine-bench-") as name:
        for make in (others, fixes):
            for one in make(Path(name) / make.__name__, catalogue):
                if given.only and not any(word in one.name for word in given.only):
                    continue
                pairs = []
                for _ in range(given.runs + 1):
                    one.ready()
                    pairs.append((once(one.unit, one.home), once(one.words, one.home)))
                unit, took = zip(*pairs[1:], strict=True)  # the first finds no cache
                ratio = statistics.median(b / a for a, b in pairs[1:])
                print(
                    f"{one.name:58}{statistics.median(unit):8.3f}{statistics.median(took):9.3f}"
                    f"{ratio:7.1f}{one.most:6.1f}{' !' if ratio > one.most else ''}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
