"""Which silencers of the specs does a level accept, and where would a closer look show it?

    python tests/bench/silencers.py [--level practice|exam] [--seeds 1,2] [--only BREAK ...]

A line for each silencer that is accepted with some seed: how often, and up to three draws in which it differs where
every regime and call variant is drawn many times; none where only the attack of level exam could tell. Then a table.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from engine.author.models import edited, models
from engine.exam.level import EXAM, LEVELS
from engine.flows import break_, fix
from engine.flows.baseline import Baseline
from engine.flows.measuring import servers_for
from engine.flows.sample import sample
from engine.flows.scope import scope_of
from engine.judge.decide import decide
from engine.judge.level import Level
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

SHOWN = 3
CLOSELY = replace(EXAM, attacks=())


def candidates(
    servers: Servers, catalogue: Catalogue, id: str
) -> Iterator[tuple[str, Baseline, Tree]]:
    """The name of each silencer of a break, the healthy code, and the code that it makes."""
    known: dict[str, tuple[Baseline, Tree]] = {}
    trees = models(catalogue)
    for silencer in catalogue.break_(id).silencers:
        if silencer.on not in known:
            tree = trees[silencer.on]
            planned = break_.plan_break(servers, catalogue, id, tree, 7)
            known[silencer.on] = Baseline(tree), tree.replaced(planned.injection.files)
        healthy, broken = known[silencer.on]
        yield silencer.name, healthy, broken.replaced(edited(broken, silencer))


def telling(
    servers: Servers, catalogue: Catalogue, id: str, healthy: Baseline, candidate: Tree
) -> list[str]:
    """Some draws in which it differs from the healthy code, component.probe (regime, call variant)."""
    scope = scope_of(servers, catalogue, id, healthy, candidate, 1, CLOSELY)
    measured = fix.measure(servers, scope, sample(scope))
    differing = decide(measured, touched=scope.impact.touched, restored=True).differing
    told = [
        f"{draw.component}.{draw.probe} ({draw.regime}, {draw.call_variant or 'as it is'})"
        for draw in measured.plan.draws
        if draw in differing
    ]
    servers.exam = False
    return told[:SHOWN]


def main() -> None:
    """Print what is accepted as it is found, then how many of each break."""
    words = argparse.ArgumentParser()
    words.add_argument("--level", choices=[*LEVELS], default="practice")
    words.add_argument("--seeds", default="1,2")
    words.add_argument("--only", action="append", default=[], metavar="BREAK")
    given = words.parse_args()
    catalogue, seeds = Catalogue.find("minimodel"), [int(seed) for seed in given.seeds.split(",")]
    level: Level = LEVELS[given.level]
    breaks = [entry.id for entry in catalogue.entries.values() if entry.kind == "break"]
    known, accepted, took = Counter[str](), Counter[str](), []
    with servers_for(catalogue, None) as servers:
        for id in given.only or breaks:
            for name, healthy, candidate in candidates(servers, catalogue, id):
                passed = 0
                for seed in seeds:
                    begun = time.perf_counter()
                    args = (servers, catalogue, id, healthy, candidate, seed, level)
                    passed += fix.grade_fix(*args).passed
                    took.append(time.perf_counter() - begun)
                known[id] += 1
                accepted[id] += passed > 0
                if passed:
                    shown = "; ".join(telling(servers, catalogue, id, healthy, candidate))
                    print(f"{id} {name}: {passed} of {len(seeds)}: {shown or '-'}", flush=True)
    for id, count in accepted.items():
        print(f"{id:34}{count:4} of {known[id]}")
    print(
        f"{'all':34}{accepted.total():4} of {known.total()};"
        f" a verdict: median {statistics.median(took):.2f} s"
    )


if __name__ == "__main__":
    main()
