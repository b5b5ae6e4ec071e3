"""Would the tests notice? Mutates places of engine/judge and engine/exam in a copy of the tree, one at a time.

    python tests/bench/mutated_judge.py --seed S [--count 20] [--folder engine/judge ...] [-- PYTEST WORDS]

Each place, drawn by the seed, gets one change: a comparison turned round, a constant more or less by one, `and` for
`or`, a `not` taken away, or a result that is None. The tests (tests/judge and tests/exam, unless others are named)
then run until the first that fails, those that name the changed module before all others. Printed is each place
with its test, or that nobody noticed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("engine/judge", "engine/exam")
TESTS = ("tests/judge", "tests/exam")
TURNED = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
LONGEST = 1800  # seconds of one run of the tests


class Place(msgspec.Struct, frozen=True):
    """A change: the span of a file that is replaced, in bytes of its text."""

    path: str
    line: int
    start: int
    end: int
    text: str


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be changed into."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        turned = TURNED[type(node.ops[0])]()
        yield ast.Compare(node.left, [turned], node.comparators)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Return) and not _nothing(node.value):
        yield ast.Return(ast.Constant(None))


def _nothing(value: ast.expr | None) -> bool:
    """Whether a result is as good as None to whoever asks whether there is one."""
    return value is None or (isinstance(value, ast.Constant) and not value.value)


def places(path: Path) -> Iterator[Place]:
    """All changes of a file, but of annotations and of what only documents."""
    text = path.read_text("utf-8")
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(text)
    silent = {
        id(inner)
        for node in ast.walk(tree)
        for name in ("annotation", "returns")
        if isinstance(part := getattr(node, name, None), ast.AST)
        for inner in ast.walk(part)
    }
    silent |= {
        id(inner) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for inner in ast.walk(n)
    }
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        for other in changed(node):
            start = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
            end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
            new = ast.unparse(other)
            if not isinstance(node, ast.Return):
                new = f"({new})"
            line = node.lineno  # type: ignore[attr-defined]
            yield Place(path.relative_to(ROOT).as_posix(), line, start, end, new)


def chosen(rooms: list[str], seed: int, count: int) -> list[Place]:
    """So many places by lot."""
    found = [
        p for room in rooms for file in sorted((ROOT / room).glob("*.py")) for p in places(file)
    ]
    return random.Random(seed).sample(found, count)


def near(place: Place) -> list[str]:
    """The files of tests that name the changed module, which are the likeliest to notice."""
    module = place.path.removesuffix(".py").replace("/", ".")
    room, _, name = module.rpartition(".")
    named = re.compile(rf"{re.escape(module)}\b|from {re.escape(room)} import .*\b{name}\b")
    files = sorted((ROOT / "tests").glob("*/test_*.py"))
    return [f.relative_to(ROOT).as_posix() for f in files if named.search(f.read_text("utf-8"))]


def noticed(copy: Path, place: Place, words: list[str]) -> str:
    """The first test that fails with this change, of those near it, then of all; "" when none does."""
    file = copy / place.path
    whole = file.read_bytes()
    file.write_bytes(whole[: place.start] + place.text.encode() + whole[place.end :])
    try:
        return (failed(copy, near(place)) if near(place) else "") or failed(copy, words)
    finally:
        file.write_bytes(whole)


def failed(copy: Path, words: list[str]) -> str:
    """The first of these tests that fails, "" where none does."""
    env = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *words]
    try:
        done = subprocess.run(
            command, cwd=copy, env=env, capture_output=True, encoding="utf-8", check=False,
            stdin=subprocess.DEVNULL, timeout=LONGEST,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "the time was over"
    if not done.returncode:
        return ""
    told = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return told.group(1) if told else f"pytest ended with {done.returncode}"


def main() -> None:
    """Print each place, and how many were noticed."""
    words = argparse.ArgumentParser()
    words.add_argument("--seed", type=int, required=True)
    words.add_argument("--count", type=int, default=20)
    words.add_argument("--folder", action="append", default=[])
    words.add_argument("--skip", type=int, default=0, help="places that were looked at already")
    words.add_argument("--list", action="store_true", help="print the places alone")
    words.add_argument("tests", nargs="*", default=[*TESTS])
    given = words.parse_args()
    found = chosen(given.folder or [*ROOMS], given.seed, given.count)
    seen = 0
    with tempfile.TemporaryDirectory(prefix="engine-mutated-") as name:
        copy = Path(name) / "tree"
        ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "learners")
        shutil.copytree(ROOT, copy, ignore=ignored)
        begun = given.list or given.skip
        if not begun and (told := noticed(copy, Place("README.md", 1, 0, 0, ""), given.tests)):
            raise SystemExit(f"Without any change a test fails: {told}")
        for place in found[given.skip :]:
            data = (ROOT / place.path).read_bytes()
            old = " ".join(data[place.start : place.end].decode().split())
            told = "" if given.list else noticed(copy, place, given.tests)
            seen += bool(told)
            print(f"{place.path}:{place.line}: {old} -> {place.text}", flush=True)
            print(f"    {told or ('' if given.list else 'NOBODY NOTICED')}", flush=True)
    if not given.list:
        print(f"{seen} of {len(found) - given.skip} noticed")


if __name__ == "__main__":
    main()
