"""How long a warm verdict takes: every break, the healthy text restored, a right fix in another form, a wrong one.

    python tests/bench/verdicts.py [--level practice|exam] [--runs N] [--model plain] [--only BREAK ...]

The servers run, and have the pack's code; each verdict measures the healthy code anew, as a learner's does. The right
fix has a statement more in each function that the break changed; the wrong one is the first silencer of the spec for
this model, else the broken code. A figure is the median of RUNS verdicts. Nothing here is asserted; compare the
figures of one run with each other, the machines are noisy.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import time
from collections.abc import Mapping, Sequence

from engine.author.models import edited, models
from engine.exam.level import LEVELS
from engine.flows import break_, fix
from engine.flows.chance import fresh_seed
from engine.flows.measuring import servers_for
from engine.judge.level import Level
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

KINDS = ("restored", "another form", "wrong")
LINE = "same = None"  # what right code in another form has more


def another_form(healthy: bytes, broken: bytes) -> bytes:
    """Healthy code with a statement more in each function of which the break changed a line, or in the last
    one where it only took lines away.
    """
    lines, others = healthy.decode().splitlines(), {*broken.decode().splitlines()}
    changed = [number for number, line in enumerate(lines, 1) if line not in others]
    functions = [node for node in ast.walk(ast.parse(healthy)) if isinstance(node, ast.FunctionDef)]
    inner = {
        min(around, key=lambda node: (node.end_lineno or 0) - node.lineno)
        for number in changed
        if (around := [f for f in functions if f.lineno <= number <= (f.end_lineno or 0)])
    }
    for function in sorted(inner or functions[-1:], key=lambda node: -node.lineno):
        documented = ast.get_docstring(function) is not None and len(function.body) > 1
        first = function.body[1 if documented else 0]
        lines.insert(first.lineno - 1, " " * first.col_offset + LINE)
    text = "\n".join(lines) + "\n"
    ast.parse(text)
    return text.encode()


def candidates(
    servers: Servers, catalogue: Catalogue, id: str, tree: Tree, model: str
) -> list[Tree]:
    """One tree of each of KINDS."""
    spec = catalogue.break_(id)
    planned = break_.plan_break(servers, catalogue, id, tree, 7)
    injected: Mapping[str, bytes] = planned.injection.files
    broken = tree.replaced(injected)
    right = {path: another_form(tree.files[path], data) for path, data in injected.items()}
    silencers = [one for one in spec.silencers if one.on == model]
    wrong = broken.replaced(edited(broken, silencers[0])) if silencers else broken
    return [tree, tree.replaced(right), wrong]


def seconds(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    tree: Tree,
    candidate: Tree,
    level: Level,
    runs: int,
) -> tuple[float, bool]:
    """The median of some verdicts, and whether all of them passed."""
    took, passed = [], []
    for _ in range(runs):
        seed, started = fresh_seed(), time.perf_counter()
        passed.append(fix.grade_fix(servers, catalogue, id, tree, candidate, seed, level).passed)
        took.append(time.perf_counter() - started)
    return statistics.median(took), all(passed)


def told(name: str, times: Sequence[float]) -> None:
    """Median, 95th percentile and the longest."""
    ordered = sorted(times)
    high = ordered[max(0, -(-95 * len(ordered) // 100) - 1)]
    print(
        f"{name:14} {len(ordered):4}: median {statistics.median(ordered):.3f} s, 95% {high:.3f} s,"
        f" longest {ordered[-1]:.3f} s"
    )


def main() -> None:
    """Print a row for each break, then the medians."""
    words = argparse.ArgumentParser()
    words.add_argument("--level", choices=[*LEVELS], default="practice")
    words.add_argument("--runs", type=int, default=3)
    words.add_argument("--model", default="plain")
    words.add_argument("--only", action="append", default=[], metavar="BREAK")
    given = words.parse_args()
    catalogue, level = Catalogue.find("minimodel"), LEVELS[given.level]
    tree = models(catalogue)[given.model]
    breaks = [entry.id for entry in catalogue.entries.values() if entry.kind == "break"]
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    print(f"{'':34}" + "".join(f"{kind:>14}" for kind in KINDS))
    with servers_for(catalogue, None) as servers:
        for id in given.only or breaks:
            cells = []
            trees = candidates(servers, catalogue, id, tree, given.model)
            fix.grade_fix(servers, catalogue, id, tree, tree, 1, level)  # warm
            for kind, candidate in zip(KINDS, trees, strict=True):
                took, passed = seconds(servers, catalogue, id, tree, candidate, level, given.runs)
                found[kind].append(took)
                cells.append(f"{took:12.3f}{'  ' if passed == (kind != 'wrong') else ' !'}")
            print(f"{id:34}" + "".join(cells), flush=True)
    for kind in KINDS:
        told(kind, found[kind])
    told("all", [took for times in found.values() for took in times])


if __name__ == "__main__":
    main()
