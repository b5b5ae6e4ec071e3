"""`engine dev judge`: verdicts on any number of candidates, by the code path of the submissions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.author.reach import one_line, tree_at
from engine.errors import EngineError, LearnerCodeError, UsageError
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.flows import measuring
from engine.flows.baseline import Baseline
from engine.flows.chance import fresh_seed
from engine.flows.diffs import suspicious, unified
from engine.flows.measuring import servers_for
from engine.flows.needs import check_needs
from engine.judge.findings import sentence
from engine.judge.level import PRACTICE, Level
from engine.judge.result import Result, Verdict
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

Line = dict[str, Any]


class Question(msgspec.Struct, frozen=True):
    """What candidates are judged for: fixes of `exercise`, against the code in `healthy`, or builds of the
    component `build`.

    broken: the code with the bug, for explanations. seed: repeats a verdict; from the operating system when
    None. Fixes then share one, so that the healthy code is measured once; a build, and a fix that is given
    again, has another.
    """

    exercise: str | None = None
    build: str | None = None
    healthy: Path | None = None
    broken: Path | None = None
    pack: str = "minimodel"
    seed: int | None = None
    level: Level = PRACTICE


def judge(candidates: Sequence[str], asked: Question) -> Iterator[Line]:
    """A line for each candidate as it is judged. Raises UsageError for options that do not fit, before the
    first line.
    """
    catalogue = Catalogue.find(asked.pack)
    if (asked.exercise is None) == (asked.build is None):
        raise UsageError("Give either --exercise ID or --build COMPONENT.")
    entry = catalogue.entry(asked.exercise or asked.build or "")
    wanted = "break" if asked.exercise else "build"
    if entry.kind != wanted:
        raise UsageError(
            f"{entry.id} is not a {'break' if asked.exercise else 'build exercise'}.",
            next="`engine list` shows the kinds.",
        )
    if asked.exercise and asked.healthy is None:
        raise UsageError("A fix is judged against healthy code.", next="Add --healthy PATH.")
    if asked.build and (asked.healthy or asked.broken):
        raise UsageError("A build is judged against the reference: no --healthy, no --broken.")
    if asked.seed is not None and not 0 <= asked.seed < 1 << 63:
        raise UsageError(f"The seed {asked.seed} is not a number of 63 bits.")
    return _lines(catalogue, entry.id, asked, candidates)


def _lines(
    catalogue: Catalogue, id: str, asked: Question, candidates: Sequence[str]
) -> Iterator[Line]:
    given = [Path(path).expanduser() for path in candidates]
    named = (*given, asked.healthy, asked.broken)
    hidden = [path.resolve() for path in named if path is not None]
    with servers_for(catalogue, None, hidden) as servers:
        before, fault = _healthy(servers, catalogue, id, asked.healthy)
        bug: Tree | None = None
        if not fault and asked.broken is not None:
            bug, fault = _tree(catalogue, asked.broken)
        judging = Judging(servers, catalogue, id, before, bug, asked)
        for name, path in zip(candidates, given, strict=True):
            started = time.perf_counter()
            line = judging.line(name, path, fault)
            line["ms"] = round(1000 * (time.perf_counter() - started), 1)
            yield line


def _healthy(
    servers: Servers, catalogue: Catalogue, id: str, healthy: Path | None
) -> tuple[Tree | None, str]:
    """The healthy tree, or why nothing can be judged against it."""
    if healthy is None:
        return None, ""
    tree, fault = _tree(catalogue, healthy)
    if tree is not None:
        try:
            dtype = measuring.dtype_of(servers, catalogue, tree)
            check_needs(servers, catalogue, id, tree, dtype, fresh_seed())
        except measuring.Halted as halted:
            return None, f"--healthy gave no answer ({halted})."
        except EngineError as error:
            return None, f"--healthy is not healthy: {one_line(error)}"
    return tree, fault


def _tree(catalogue: Catalogue, path: Path) -> tuple[Tree | None, str]:
    if not path.is_dir():
        return None, f"There is no such folder: {path}."
    try:
        return tree_at(catalogue, path.resolve()), ""
    except EngineError as error:
        return None, one_line(error)


class Judging:
    """The candidates of one call, which share a seed and what the healthy code gave."""

    def __init__(
        self,
        servers: Servers,
        catalogue: Catalogue,
        id: str,
        healthy: Tree | None,
        broken: Tree | None,
        asked: Question,
    ) -> None:
        self._servers, self._catalogue, self._id = servers, catalogue, id
        self._healthy, self._broken, self._asked = healthy, broken, asked
        self._baseline = Baseline(healthy) if healthy else None
        self._seed = fresh_seed()
        self._judged: set[Path] = set()

    def line(self, name: str, path: Path, fault: str) -> Line:
        """The verdict on one candidate. fault: why nothing can be judged; "" as a rule."""
        again = path in self._judged  # then draws of its own
        self._judged.add(path)
        own = again or self._baseline is None
        seed = self._asked.seed
        if seed is None:
            seed = fresh_seed() if own else self._seed
        if not fault and not path.is_dir():
            fault = f"There is no such folder: {path}."
        if fault:
            return _without_verdict(name, "error", seed, fault)
        try:
            tree = tree_at(self._catalogue, path.resolve())
        except LearnerCodeError as error:
            why = one_line(error)
            return _without_verdict(
                name, "fail", seed, why, check="import",
                component=self._catalogue.entry(self._id).component,
                expected="code that can be imported", got=why,
            )  # fmt: skip
        try:
            verdict = self._verdict(tree, seed, again)
        except EngineError as error:
            return _without_verdict(name, "error", seed, one_line(error))
        notes: tuple[str, ...] = ()
        if self._broken and not verdict.passed:
            notes = suspicious(unified(self._broken.files, tree.files))
        said = "pass" if verdict.passed else "fail"
        return _line(name, said, verdict.seed, _failing(verdict, notes), len(verdict.results))

    def _verdict(self, tree: Tree, seed: int, again: bool) -> Verdict:
        servers, catalogue, level = self._servers, self._catalogue, self._asked.level
        if self._healthy is None or self._baseline is None:
            return flows.grade_build(servers, catalogue, self._id, tree, seed, level)
        before = self._healthy if again else self._baseline
        return fixes.grade_fix(servers, catalogue, self._id, before, tree, seed, level)


def _failing(verdict: Verdict, notes: Sequence[str]) -> Line | None:
    first = verdict.failing
    if first is None:
        return None
    noted = [f"In the diff: {note}." for note in notes]
    return {**_fields(first), "explanation": " ".join([sentence(first), *noted])}


def _fields(result: Result) -> Line:
    found = result.difference
    assert found is not None  # what failed differs
    return {
        "check": result.id, "regime": result.regime, "component": result.component,
        "index": list(found.index) if found.index else None,
        "expected": str(found.expected), "got": str(found.got),
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
