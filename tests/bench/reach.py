"""Into how much code the breaks go: a table of exercise x implementation, and what each proposer adds.

    python tests/bench/reach.py [--ablate] [FOLDER ...]

FOLDER holds models, tests/corpus by default. A cell is the proposer that won, the changed lines and
the seconds of the injection without server start. Nothing here is asserted.
"""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from pathlib import Path

from engine.author.reach import Line
from engine.author.reach import reach as run

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
WAYS = ("pattern", "role", "graft", "append", "rewrite")


def measured(models: list[Path], only: tuple[str, ...] = ()) -> list[Line]:
    """One line for each exercise and model."""
    return list(run(models, only=only)[1])


def table(lines: list[Line]) -> None:
    """Rows are exercises, columns models."""
    names = list(dict.fromkeys(line["model"] for line in lines))
    found = {(line["exercise"], line["model"]): line for line in lines}
    print(" " * 32 + "".join(f"{name[:12]:14}" for name in names))
    for exercise in dict.fromkeys(line["exercise"] for line in lines):
        cells = [found[exercise, name] for name in names]
        print(f"{exercise:32}" + "".join(f"{cell(line):14}" for line in cells))


def cell(line: Line) -> str:
    """role 1 0.31"""
    if line["outcome"] != "injected":
        return str(line["outcome"])
    return f"{line['how'][:4]} {line['changed_lines']} {line['ms'] / 1000:.2f}"


def summary(lines: list[Line]) -> str:
    """Counts, and the times of those that went in."""
    good = [line for line in lines if line["outcome"] == "injected"]
    times = sorted(line["ms"] / 1000 for line in good)
    ways = ", ".join(f"{n} {way}" for way, n in Counter(line["how"] for line in good).most_common())
    long = sum(line["changed_lines"] > 4 for line in good)
    return (
        f"{len(good)} of {len(lines)} injected ({ways}), {long} with more than 4 lines; seconds:"
        f" median {statistics.median(times):.2f}, 95% {times[int(0.95 * len(times)) - 1]:.2f}"
    )


def main(words: list[str]) -> None:
    """Print the table, and with --ablate what is left without each proposer."""
    folders = [Path(word) for word in words if not word.startswith("--")] or [CORPUS]
    models = [model for folder in folders for model in sorted(folder.glob("*/"))]
    lines = measured(models)
    table(lines)
    print(summary(lines))
    for way in WAYS if "--ablate" in words else ():
        left = measured(models, tuple(other for other in WAYS if other != way))
        print(f"without {way}: {summary(left)}")


if __name__ == "__main__":
    main(sys.argv[1:])
