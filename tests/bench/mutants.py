"""First-order mutants of correct implementations: how many are accepted, and which?

    python tests/bench/mutants.py [--every N] [--seed S] [--as build|fix]
        [--level practice|exam] [--log FILE] [FOLDER ...]

FOLDER holds models, tests/corpus by default. In each file that defines what a component's roles
name, one operator, constant, comparison, branch or statement is changed at a time. Accepted mutants
are printed with their line: each is either equivalent under the contract, or a regime is missing.
--every N takes one of N. As a fix, a mutant is judged against the code that it was made of, for a
random break of its component; components without a break are left out. --log keeps each verdict as
a line of JSON, so a long run may be stopped.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from engine.author.reach import tree_at
from engine.code.modules import role_files
from engine.code.source import Edit, Source
from engine.errors import EngineError
from engine.exam.level import LEVELS
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.flows.chance import fresh_seed
from engine.flows.measuring import servers_for
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Pow: "*", ast.MatMult: "*",
    ast.FloorDiv: "*",
}  # fmt: skip
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@",
    ast.FloorDiv: "//",
}  # fmt: skip
COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
CALLS = {"sqrt": "abs", "exp": "abs", "log": "abs", "sum": "mean", "mean": "sum", "max": "min"}


def mutants(source: Source, scope: ast.AST) -> Iterator[tuple[int, Edit]]:
    """All first-order mutants below a node, with their line."""
    for node in ast.walk(scope):
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = source.span(node.left)[1], source.span(node.right)[0]
            between = source.text(left, right)
            sign = SIGNS[type(node.op)]
            if between.count(sign) == 1:
                text = between.replace(sign, OPERATORS[type(node.op)])
                yield node.lineno, Edit(source.path, left, right, text)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = source.span(node.left)[1], source.span(node.comparators[0])[0]
            between = source.text(left, right)
            if between.strip() in COMPARED:
                text = between.replace(between.strip(), COMPARED[between.strip()])
                yield node.lineno, Edit(source.path, left, right, text)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            start, end = source.span(node)
            if isinstance(node.value, bool):
                yield node.lineno, Edit(source.path, start, end, str(not node.value))
            else:
                yield node.lineno, Edit(source.path, start, end, repr(node.value + 1))
                if node.value:
                    yield node.lineno, Edit(source.path, start, end, repr(node.value * 0.5))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            start, end = source.span(node)
            yield node.lineno, Edit(source.path, start, start + 1, " ")
        elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
            start, end = source.span(node.test)
            text = f"(not ({source.text(start, end)}))"
            yield node.lineno, Edit(source.path, start, end, text)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in CALLS:
                end = source.span(node.func)[1]
                start = end - len(node.func.attr)
                yield node.lineno, Edit(source.path, start, end, CALLS[node.func.attr])
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)):
            start, end = source.span(node)
            documents = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not documents and node.lineno == node.end_lineno:
                yield node.lineno, Edit(source.path, start, end, "pass")


def all_of(catalogue: Catalogue, tree: Tree) -> Iterator[tuple[str, Source, int, Edit]]:
    """The mutants of every component's own definitions."""
    owners = role_files(tree.roles, tree.roots, tree.files)
    for component in catalogue.contract.components:
        if component not in catalogue.entries:
            continue
        for role in sorted(catalogue.roles_of(component)):
            name = tree.roles[role].partition(":")[2].split(".")[-1]
            if role not in owners or _users(catalogue, role)[0] != component:
                continue
            source = Source(owners[role], tree.files[owners[role]])
            for scope in source.definitions(name):
                for line, edit in mutants(source, scope):
                    yield component, source, line, edit


def _users(catalogue: Catalogue, role: str) -> list[str]:
    """The components that name a role, fewest roles first: the first is the one that it is for."""
    found = [c for c in catalogue.contract.components if role in catalogue.roles_of(c)]
    return sorted(found, key=lambda c: len(catalogue.roles_of(c)))


def main() -> None:
    """Print accepted mutants and the counts."""
    words = argparse.ArgumentParser()
    words.add_argument("folders", nargs="*", type=Path)
    words.add_argument("--every", type=int, default=1)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--as", dest="kind", choices=["build", "fix"], default="build")
    words.add_argument("--level", choices=[*LEVELS], default="practice")
    words.add_argument("--log", type=Path)
    given = words.parse_args()
    catalogue = Catalogue.find("minimodel")
    breaks: dict[str, list[str]] = {}
    for entry in catalogue.entries.values():
        if entry.kind == "break":
            breaks.setdefault(entry.component, []).append(entry.id)
    chosen, level = random.Random(given.seed), LEVELS[given.level]
    judged: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    started = time.perf_counter()
    folders = [m for f in given.folders or [CORPUS] for m in sorted(f.glob("*/"))]
    with servers_for(catalogue, None) as servers:
        for folder in folders:
            tree = tree_at(catalogue, folder.resolve())
            for component, source, line, edit in all_of(catalogue, tree):
                if chosen.randrange(given.every) or (
                    given.kind == "fix" and component not in breaks
                ):
                    continue
                try:
                    data = source.apply([edit])
                    ast.parse(data)
                except (SyntaxError, ValueError):
                    continue
                candidate, seed = tree.replaced({source.path: data}), fresh_seed()
                id = chosen.choice(breaks[component]) if given.kind == "fix" else component
                begun = time.perf_counter()
                try:
                    if given.kind == "fix":
                        verdict = fixes.grade_fix(
                            servers, catalogue, id, tree, candidate, seed, level
                        )
                    else:
                        verdict = flows.grade_build(servers, catalogue, id, candidate, seed, level)
                except EngineError as error:
                    print(f"ERROR {id} {folder.name} {source.path}:{line}: {error}", flush=True)
                    continue
                old, new = (d.splitlines()[line - 1].decode().strip() for d in (source.data, data))
                judged[component] += 1
                if verdict.passed:
                    accepted[component] += 1
                    print(
                        f"{id} {folder.name}/{source.path}:{line}\n    {old}\n    {new}", flush=True
                    )
                if given.log:
                    kept = {
                        "judged": id, "component": component, "model": folder.name,
                        "place": f"{source.path}:{line}", "old": old, "new": new,
                        "passed": verdict.passed, "seconds": round(time.perf_counter() - begun, 2),
                        "failing": [
                            f"{r.component} {r.id} {r.regime}"
                            for r in verdict.results if not r.passed
                        ],
                    }  # fmt: skip
                    with given.log.open("a") as log:
                        log.write(json.dumps(kept) + "\n")
    for component, count in judged.items():
        print(f"{component:16} {accepted[component]:4} of {count:5} accepted")
    print(
        f"{sum(accepted.values())} of {sum(judged.values())} accepted,"
        f" {time.perf_counter() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
