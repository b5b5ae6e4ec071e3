"""How much of the tolerance does right code use? What comes near 1 will one day be refused.

    python tests/bench/margins.py [--draws N] [--dtype float64|float32] [--over SHARE]
        [--only COMPONENT ...] [FOLDER ...]

FOLDER holds models, tests/corpus by default, or is one. Every regime of every build is drawn N times and the
model compared with the reference, value by value that some check looks at. Printed are those that
differ by more than SHARE of what they may, the largest first.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from engine.author.reach import tree_at
from engine.flows.chance import fresh_seed
from engine.flows.measuring import servers_for
from engine.judge.compare import TOLERANCES, Tolerance, allowed
from engine.judge.sampling import derive
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Draw, Tree
from engine.spec.catalogue import Catalogue

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
SLOW = {"generate", "train", "data", "module"}  # of which a tenth of the draws is made


def share(expected: object, got: object, tolerance: Tolerance) -> float:
    """The largest difference between two arrays of floats, in units of what is allowed there."""
    if not isinstance(expected, np.ndarray) or not isinstance(got, np.ndarray):
        return 0.0
    if expected.dtype.kind != "f" or expected.shape != got.shape or not expected.size:
        return 0.0
    wanted = expected.astype(float)
    if not np.isfinite(wanted).all():
        return 0.0
    apart = np.abs(got.astype(float) - wanted)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(apart == 0, 0.0, apart / allowed(wanted, tolerance))
    return float(np.nan_to_num(found, nan=np.inf).max())


def margins(
    servers: Servers,
    catalogue: Catalogue,
    tree: Tree,
    dtype: str,
    draws: int,
    only: Collection[str],
) -> Iterator[tuple[float, str]]:
    """The largest share that each value of each regime uses."""
    master = fresh_seed()
    for component in only or catalogue.contract.components:
        if component not in catalogue.entries:
            continue
        times: dict[tuple[str, str, str], float] = {}  # the strictest check that looks at it
        for check in catalogue.build(component).checks:
            for regime in check.regimes if "value" in check.aspects else ():
                factor = check.rounding.get(dtype, {}).get(regime, 1.0)
                for name in check.values or ("",):
                    key = check.probe, regime, name
                    times[key] = min(factor, times.get(key, factor))
        count = max(1, draws // 10) if component in SLOW else draws
        made = [
            Draw(component, probe, regime, derive(master, component, probe, regime, i), dtype)
            for probe, regime in dict.fromkeys(key[:2] for key in times)
            for i in range(count)
        ]
        cases = servers.cases(made)
        worst: dict[str, float] = {}
        for case, outcome in zip(cases, servers.outcomes(tree, jobs_of(cases)), strict=True):
            where = case.draw.probe, case.draw.regime
            for name, expected in case.expected[""].values.items():
                factors = [times[key] for key in ((*where, name), (*where, "")) if key in times]
                if not factors or outcome.raised or outcome.stopped:
                    continue
                tolerance = Tolerance(*(min(factors) * part for part in TOLERANCES[dtype]))
                told = ".".join((component, *where, name))
                found = share(expected, outcome.values.get(name), tolerance)
                worst[told] = max(worst.get(told, 0.0), found)
        yield from ((found, told) for told, found in worst.items())


def main() -> None:
    """Print what comes near."""
    words = argparse.ArgumentParser()
    words.add_argument("folders", nargs="*", type=Path)
    words.add_argument("--draws", type=int, default=20)
    words.add_argument("--dtype", default="float64")
    words.add_argument("--over", type=float, default=0.1)
    words.add_argument("--only", action="append", default=[], metavar="COMPONENT")
    given = words.parse_args()
    catalogue = Catalogue.find("minimodel")
    with servers_for(catalogue, None) as servers:
        for folder in given.folders or [CORPUS]:
            for model in [folder] if (folder / "src").is_dir() else sorted(folder.glob("*/")):
                tree = tree_at(catalogue, model.resolve())
                found = sorted(
                    margins(servers, catalogue, tree, given.dtype, given.draws, given.only)
                )[::-1]
                print(f"{model.name:16} {found[0][0]:8.4f} {found[0][1]}", flush=True)
                for size, told in found[1:]:
                    if size > given.over:
                        print(f"{'':16} {size:8.4f} {told}", flush=True)


if __name__ == "__main__":
    main()
