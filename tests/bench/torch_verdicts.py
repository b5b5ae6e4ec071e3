"""How long a warm verdict takes on a PyTorch GPT: what `engine watch` says from the second saving on.

    python tests/bench/torch_verdicts.py [--model PATH] [--only WORD]

Each break that goes in is judged four times by one watch: the broken tree twice (the first time is cold and not
counted), then the healthy one twice, a comment added each time, so that no verdict is known already. A second lies
between them, as between the savings of a learner. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from start import engine, restored
from torch_start import TEMPLATE, learner

from engine.commands import watch
from engine.commands.session import Session
from engine.spec.catalogue import Catalogue

PAUSE = 1.0  # seconds


def verdicts(home: Path, model: Path) -> list[float]:
    """Seconds of the second, third and fourth verdict on the break that is open."""
    practice = home / "practice" / "blind-1"
    broken = {path: path.read_bytes() for path in practice.rglob("*.py")}
    healthy = {path: (model / path.relative_to(practice)).read_bytes() for path in broken}
    took: list[float] = []

    def saved() -> Iterator[int]:
        for number, texts in enumerate((broken, broken, healthy, healthy)):
            time.sleep(PAUSE)
            for path, text in texts.items():
                path.write_bytes(text.rstrip() + b"\n# saved %d\n" % number)
            started = time.perf_counter()
            yield number
            took.append(time.perf_counter() - started)

    watch.run(lambda: Session.here(start=home), "blind-1", saved(), lambda _: None)
    return took[1:]


def main() -> None:
    """Print a row for each break, then the median and the 95th percentile."""
    words = argparse.ArgumentParser()
    words.add_argument("--model", type=Path, default=TEMPLATE)
    words.add_argument("--only", default="")
    given = words.parse_args()
    every: list[float] = []
    with tempfile.TemporaryDirectory(prefix="engine-bench-") as name:
        folder = Path(name)
        home = learner(folder, given.model)
        back = restored(home, folder / "kept")
        for id in Catalogue.find("gpt").entries:
            if given.only not in id:
                continue
            back()
            try:
                engine(home, "break", id, "--blind")
            except SystemExit as error:
                print(f"{id:34} {str(error).splitlines()[0][:80]}")
                continue
            took = verdicts(home, folder / "model")
            every += took
            print(f"{id:34}" + "".join(f"{one:7.2f}" for one in took), flush=True)
    low, high = statistics.median(every), statistics.quantiles(every, n=20)[-1]
    print(f"{len(every)} warm verdicts: median {low:.2f} s, 95% {high:.2f} s")


if __name__ == "__main__":
    main()
