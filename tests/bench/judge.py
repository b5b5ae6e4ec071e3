"""Does the judge accept right fixes and refuse wrong ones? A confusion table for each break.

    python tests/bench/judge.py pairs [--count N] [--seed S] FOLDER ...
    python tests/bench/judge.py folders --healthy DIR right|wrong FOLDER

pairs: models of all folders, at random: one's code as a fix of another's, for a random break.
folders: FOLDER/EXERCISE--MODEL--NAME each hold a candidate, DIR/MODEL the healthy code.
Verdicts that are not as they should be are printed with their explanation.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from engine.author.judge import Line, Question
from engine.author.judge import judge as run
from engine.author.reach import tree_at
from engine.exam.level import LEVELS
from engine.flows import measuring
from engine.flows.measuring import servers_for
from engine.judge.level import Level
from engine.spec.catalogue import Catalogue


def pairs(
    folders: list[Path], count: int, seed: int, level: Level
) -> Iterator[tuple[str, bool, Line]]:
    """(exercise, whether it should pass, verdict) for random pairs of models with one dtype."""
    catalogue = Catalogue.find("minimodel")
    breaks = [entry.id for entry in catalogue.entries.values() if entry.kind == "break"]
    models = [model for folder in folders for model in sorted(folder.glob("*/"))]
    with servers_for(catalogue, None) as servers:
        dtypes = {m: measuring.dtype_of(servers, catalogue, tree_at(catalogue, m)) for m in models}
    chosen = random.Random(seed)
    for _ in range(count):
        id, healthy = chosen.choice(breaks), chosen.choice(models)
        others = [m for m in models if m != healthy and dtypes[m] == dtypes[healthy]]
        if not others:
            continue
        candidate = str(chosen.choice(others))
        for line in run([candidate], Question(id, healthy=healthy, level=level)):
            yield id, True, line | {"candidate": f"{candidate} for {healthy}"}


def stored(
    folder: Path, healthy: Path, right: bool, level: Level
) -> Iterator[tuple[str, bool, Line]]:
    """The same for candidates in folders whose names tell what they are."""
    groups: dict[tuple[str, str], list[str]] = {}
    for path in sorted(folder.glob("*--*--*/")):
        id, model, _ = path.name.split("--", 2)
        groups.setdefault((id, model), []).append(str(path))
    for (id, model), candidates in groups.items():
        for line in run(candidates, Question(id, healthy=healthy / model, level=level)):
            yield id, right, line


def main() -> None:
    """Print what is wrong as it is found, then the table."""
    words = argparse.ArgumentParser()
    words.add_argument("what", choices=["pairs", "folders"])
    words.add_argument("rest", nargs="+")
    words.add_argument("--healthy", type=Path)
    words.add_argument("--count", type=int, default=200)
    words.add_argument("--level", choices=[*LEVELS], default="practice")
    words.add_argument("--seed", type=int, default=0)
    given = words.parse_args()
    if given.what == "pairs":
        lines = pairs(
            [Path(name).resolve() for name in given.rest],
            given.count,
            given.seed,
            LEVELS[given.level],
        )
    else:
        lines = stored(
            Path(given.rest[1]).resolve(),
            given.healthy,
            given.rest[0] == "right",
            LEVELS[given.level],
        )
    table: dict[str, Counter[str]] = {}
    times = []
    started = time.perf_counter()
    for id, right, line in lines:
        row = table.setdefault(id, Counter())
        row[f"{'right' if right else 'wrong'} {line['verdict']}"] += 1
        times.append(line["ms"] / 1000)
        if line["verdict"] != ("pass" if right else "fail"):
            told = line["failing"]["explanation"] if line["failing"] else ""
            print(f"{line['verdict']} {id} {line['candidate']}: {told}", flush=True)
    columns = ["right pass", "right fail", "wrong pass", "wrong fail", "right error", "wrong error"]
    print(f"{'':32}" + "".join(f"{name:>12}" for name in columns))
    for id, row in table.items():
        print(f"{id:32}" + "".join(f"{row[name]:12}" for name in columns))
    total = sum(table.values(), Counter[str]())
    print(f"{'all':32}" + "".join(f"{total[name]:12}" for name in columns))
    print(
        f"{len(times)} verdicts in {time.perf_counter() - started:.0f} s; each: median"
        f" {statistics.median(times):.2f} s, 95% {sorted(times)[int(0.95 * len(times)) - 1]:.2f} s"
    )


if __name__ == "__main__":
    main()
