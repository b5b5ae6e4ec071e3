"""`engine dev judge`: verdicts on any number of candidates, by the code path of the submissions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.commands.dev_reach import tree_at
from engine.commands.session import fresh_seed
from engine.commands.submit_fix import suspicious, unified
from engine.commands.warm import servers_for
from engine.errors import EngineError, LearnerCodeError, UsageError
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.flows.baseline import Baseline
from engine.flows.needs import check_needs
from engine.judge.explain import sentence
from engine.judge.level import PRACTICE, Level
from engine.judge.verdict import Result, Verdict
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.load import Catalogue

Line = dict[str, Any]


def run(
    candidates: Sequence[str],
    *,
    exercise: str | None = None,
    build: str | None = None,
    healthy: Path | None = None,
    broken: Path | None = None,
    pack: str = "minimodel",
    seed: int | None = None,
    level: Level = PRACTICE,
) -> Iterator[Line]:
    """A line for each candidate as it is judged. Give `exercise` with `healthy`, or `build`.

    seed: repeats a verdict; from the operating system when None. Fixes then share one, so that the
    healthy code is measured once; a build, and a fix that is given again, has another.
    Raises UsageError for options that do not fit, before the first line.
    """
    catalogue = Catalogue.find(pack)
    if (exercise is None) == (build is None):
        raise UsageError("Give either --exercise ID or --build COMPONENT.")
    entry = catalogue.entry(exercise or build or "")
    wanted = "break" if exercise else "build"
    if entry.kind != wanted:
        raise UsageError(
            f"{entry.id} is not a {'break' if exercise else 'build exercise'}.",
            next="`engine list` shows the kinds.",
        )
    if exercise and healthy is None:
        raise UsageError("A fix is judged against healthy code.", next="Add --healthy PATH.")
    if build and (healthy or broken):
        raise UsageError("A build is judged against the reference: no --healthy, no --broken.")
    if seed is not None and not 0 <= seed < 1 << 63:
        raise UsageError(f"The seed {seed} is not a number of 63 bits.")
    return _lines(catalogue, entry.id, healthy, broken, candidates, seed, level)


def _lines(
    catalogue: Catalogue,
    id: str,
    healthy: Path | None,
    broken: Path | None,
    candidates: Sequence[str],
    seed: int | None,
    level: Level,
) -> Iterator[Line]:
    given = [Path(path).expanduser() for path in candidates]
    hidden = [path.resolve() for path in (*given, healthy, broken) if path is not None]
    with servers_for(catalogue, None, hidden) as servers:
        before, fault = _given(servers, catalogue, id, healthy)
        bug: Tree | None = None
        if not fault and broken is not None:
            bug, fault = _tree(catalogue, broken)
        known = Baseline(before) if before else None
        shared = fresh_seed()
        judged: set[Path] = set()
        for name, path in zip(candidates, given, strict=True):
            started = time.perf_counter()
            own = known is None or path in judged  # draws of its own
            judged.add(path)
            used = seed if seed is not None else fresh_seed() if own else shared
            if fault:
                line = _without_verdict(name, "error", used, fault)
            elif not path.is_dir():
                why = f"There is no such folder: {path}."
                line = _without_verdict(name, "error", used, why)
            else:
                line = _judged(
                    servers, catalogue, id, before if own else known, bug, name, path, used, level
                )
            line["ms"] = round(1000 * (time.perf_counter() - started), 1)
            yield line


def _given(
    servers: Servers, catalogue: Catalogue, id: str, healthy: Path | None
) -> tuple[Tree | None, str]:
    """The healthy tree, or why nothing can be judged against it."""
    if healthy is None:
        return None, ""
    tree, fault = _tree(catalogue, healthy)
    if tree is not None:
        try:
            dtype = flows.dtype_of(servers, catalogue, tree)
            check_needs(servers, catalogue, id, tree, dtype, fresh_seed())
        except flows.Halted as halted:
            return None, f"--healthy gave no answer ({halted})."
        except EngineError as error:
            return None, f"--healthy is not healthy: {_one_line(error)}"
    return tree, fault


def _tree(catalogue: Catalogue, path: Path) -> tuple[Tree | None, str]:
    if not path.is_dir():
        return None, f"There is no such folder: {path}."
    try:
        return tree_at(catalogue, path.resolve()), ""
    except EngineError as error:
        return None, _one_line(error)


def _judged(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    before: Tree | Baseline | None,
    bug: Tree | None,
    name: str,
    path: Path,
    seed: int,
    level: Level,
) -> Line:
    try:
        tree = tree_at(catalogue, path.resolve())
    except LearnerCodeError as error:
        why = _one_line(error)
        return _without_verdict(
            name, "fail", seed, why, check="import", component=catalogue.entry(id).component,
            expected="code that can be imported", got=why,
        )  # fmt: skip
    try:
        if before is None:
            verdict = flows.grade_build(servers, catalogue, id, tree, seed, level)
        else:
            verdict = fixes.grade_fix(servers, catalogue, id, before, tree, seed, level)
    except EngineError as error:
        return _without_verdict(name, "error", seed, _one_line(error))
    notes = suspicious(unified(bug.files, tree.files)) if bug and not verdict.passed else ()
    said = "pass" if verdict.passed else "fail"
    return _line(name, said, verdict.seed, _failing(verdict, notes), len(verdict.results))


def _failing(verdict: Verdict, notes: Sequence[str]) -> Line | None:
    first = verdict.failing
    if first is None:
        return None
    return {**_fields(first), "explanation": " ".join([sentence(first), *map(_noted, notes)])}


def _noted(note: str) -> str:
    return f"In the diff: {note}."


def _fields(result: Result) -> Line:
    found = result.difference
    assert found is not None  # what failed differs
    return {
        "check": result.id, "regime": result.regime, "component": result.component,
        "index": list(found.index) if found.index else None,
        "expected": found.expected, "got": found.got,
    }  # fmt: skip


def _without_verdict(name: str, said: str, seed: int, why: str, **known: str) -> Line:
    """Nothing could be measured, and why."""
    failing = dict.fromkeys(("check", "regime", "component"), "") | {
        "index": None, "expected": "", "got": "", **known, "explanation": why,
    }  # fmt: skip
    return _line(name, said, str(seed), failing, 1)


def _line(name: str, said: str, seed: str, failing: Line | None, checks: int) -> Line:
    return {
        "candidate": name, "verdict": said, "checks": checks, "failing": failing, "seed": seed,
        "ms": 0.0,
    }  # fmt: skip


def _one_line(error: EngineError) -> str:
    return "; ".join(part.strip() for part in str(error).splitlines() if part.strip())
