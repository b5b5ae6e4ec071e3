"""The three comparisons: learner with reference, broken with healthy, fixed with healthy.

Each is a function of an exercise, trees and a seed, and knows nothing of terminals, of the current
folder or of a learner's store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from engine.errors import NotApplicable, SpecError
from engine.inject import places
from engine.inject.cascade import Injection, NotFound, inject
from engine.inject.imports import closure
from engine.inject.oracle import BEFORE, SEEDS, Item, Oracle
from engine.inject.proposers import Code
from engine.inject.reach import Reach, affected
from engine.judge.plan import FIX_DRAWS, Plan, derive, plan
from engine.judge.verdict import Verdict, healthy, judge_build, judge_fix
from engine.practice.model import role_files
from engine.run.servers import HEALTHY_FACTOR, LIMIT, Job, Servers
from engine.run.types import Case, Draw, Outcome, Tree, Values
from engine.spec.load import Catalogue
from engine.spec.types import Break, Check, Need

NEED_DRAWS = 2  # draws a property and regime, before a break
SIBLING_DRAWS = 1  # draws a regime of every other component, for each candidate injection
TRACE_CAP = 1 << 26  # bytes of recorded values a probe

Progress = Callable[[str], None]


def quiet(_: str) -> None:
    """Progress for nobody."""


def component_probe(name: str, where: str) -> tuple[str, str]:
    """ "lm_head.forward" -> ("lm_head", "forward"). Raises SpecError."""
    component, dot, probe = name.partition(".")
    if not dot:
        raise SpecError(f"{name!r} is not of the form component.probe.", where=where)
    return component, probe


def jobs_of(cases: Sequence[Case]) -> list[Job]:
    """The learner's side of cases: inputs only."""
    return [
        Job(case.draw.component, case.draw.probe, case.inputs, case.draw.seed % (1 << 32))
        for case in cases
    ]


class Halted(Exception):
    """The code ran out of time, or printed without end, before anything could be measured."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.stopped)
        self.outcome = outcome


def dtype_of(servers: Servers, catalogue: Catalogue, tree: Tree) -> str:
    """The dtype of the learner's arrays, read once; float64 while it cannot be read."""
    probe = catalogue.contract.dtype
    if probe is None:
        return "float64"
    outcome = servers.outcomes(tree, [Job(probe.component, probe.probe, {})])[0]
    if outcome.stopped in ("timeout", "output"):
        raise Halted(outcome)  # it would only halt again
    found = outcome.values.get("dtype")
    return found if found in ("float32", "float64") else "float64"


def grade_build(
    servers: Servers, catalogue: Catalogue, component: str, tree: Tree, seed: int
) -> Verdict:
    """Every build check of a component, the learner's tree against the reference."""
    checks = [(component, check) for check in catalogue.build(component).checks]
    try:
        dtype = dtype_of(servers, catalogue, tree)
    except Halted as halted:
        made = plan(checks, seed=seed, dtype="float64")
        unrun = [Outcome(stopped="not run")] * (len(made.draws) - 1)
        return judge_build(made, servers.cases(made.draws), [halted.outcome, *unrun])
    made = plan(checks, seed=seed, dtype=dtype)
    cases = servers.cases(made.draws)
    return judge_build(made, cases, servers.outcomes(tree, jobs_of(cases)))


def _everything(catalogue: Catalogue, id: str) -> list[tuple[str, Check]]:
    """What a fix is judged by: the build checks of every component, and the break's own checks."""
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    own = catalogue.build(entry.component).checks if entry.component in catalogue.entries else ()
    checks = [(entry.component, check) for check in (*own, *spec.judged_by)]
    for component in catalogue.contract.components:
        if component != entry.component and component in catalogue.entries:
            checks += [(component, check) for check in catalogue.build(component).checks]
    return checks


def grade_fix(
    servers: Servers, catalogue: Catalogue, id: str, before: Tree, candidate: Tree, seed: int
) -> Verdict:
    """The fixed tree against the learner's own code before the break, on inputs nobody saw."""
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    dtype = dtype_of(servers, catalogue, before)
    touched = {entry.component} | catalogue.users(entry.component)
    checks = _everything(catalogue, id)
    near = plan(
        [pair for pair in checks if pair[0] in touched],
        seed=seed, dtype=dtype, at_least=FIX_DRAWS,
    )  # fmt: skip
    reached = affected_components(catalogue, before, candidate) - touched
    far = plan([pair for pair in checks if pair[0] in reached], seed=seed, dtype=dtype)
    shift = len(near.draws)
    moved = [
        msgspec.structs.replace(planned, draws=tuple(i + shift for i in planned.draws))
        for planned in far.checks
    ]
    made = Plan(near.draws + far.draws, near.checks + tuple(moved), seed)
    cases = servers.cases(made.draws, spec.acceptable)
    work = jobs_of(cases)
    own = servers.outcomes(before, work, server="before")
    slowest = max((outcome.seconds for outcome in own), default=0.0)
    limit = max(LIMIT, HEALTHY_FACTOR * slowest)
    theirs = servers.outcomes(candidate, work, server="candidate", limit=limit)
    return judge_fix(made, cases, own, theirs, touched=touched, acceptable=spec.acceptable)


def affected_components(catalogue: Catalogue, before: Tree, after: Tree) -> set[str]:
    """The components whose code a change can reach: those that import a file that differs.

    All of them where code imports what its import statements do not name. What does not import a
    changed file runs the very same bytes, so there is nothing to compare.
    """
    changed = {
        path
        for path in {*before.files, *after.files}
        if before.files.get(path) != after.files.get(path)
    }
    found = set()
    for component in catalogue.contract.components:
        roles = catalogue.roles_of(component)
        modules = [before.roles[role].partition(":")[0] for role in roles]
        for tree in (before, after):
            files = closure(tree, modules)
            if files is None or files & changed:
                found.add(component)
    return found


def reached_components(catalogue: Catalogue, before: Reach, after: Tree) -> set[str]:
    """The components of which some code that `after` changes may run, as far as names tell.

    For edits that the engine itself proposes; a learner's fix is held to `affected_components`.
    """
    found = set()
    for component in catalogue.contract.components:
        places = [before.tree.roles[role].split(":") for role in catalogue.roles_of(component)]
        names = {part for _, name in places for part in name.split(".")}
        if affected(before, after, [module for module, _ in places], names):
            found.add(component)
    return found


class Unhealthy(NotApplicable):
    """The code is not healthy where this break needs it."""


class Planned(msgspec.Struct, frozen=True):
    """A verified injection, with what it took."""

    injection: Injection
    file: str
    symbol: str
    milliseconds: float
    ailing: tuple[str, ...]  # build checks of this component that fail, and do not stand in the way


def plan_break(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    tree: Tree,
    seed: int,
    *,
    only: Sequence[str] = (),
    progress: Progress = quiet,
) -> Planned:
    """Find and verify the injection of a break, in memory.

    Raises NotApplicable when the code is not healthy where this break needs it, or when no
    candidate bites.
    """
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    try:
        dtype = dtype_of(servers, catalogue, tree)
    except Halted as halted:
        raise NotApplicable(
            f"Your code gave no answer ({halted}), so {id} cannot be put into it. Nothing was changed.",
            where=halted.outcome.output[:500],
            next="Is there an endless loop, or a print in one, that runs on import?",
        ) from None
    _check_needs(servers, catalogue, id, tree, dtype, seed)
    started = time.perf_counter()
    oracle = oracle_for(servers, catalogue, id, tree, dtype, seed)
    trace = Tracer(servers, entry.file, tree, dtype, seed)
    files = role_files(tree.roles, tree.roots, tree.files)
    code = Code(tree, files)
    progress("looking for a place for the bug")
    try:
        injection = inject(code, spec.inject, oracle, trace, only=only)
    except NotFound as error:
        raise NotApplicable(
            f"{id} cannot be put into this code: none of {error.tried} tried edits shows just"
            " the symptom that this exercise is about. Nothing was changed.",
            where=f"looked in {', '.join(error.looked)}; nearest: {error.nearest}",
            next="If your code names things otherwise, map them under `roles:` in learner.yaml.",
        ) from None
    path = next(iter(injection.files))
    milliseconds = 1000 * (time.perf_counter() - started)
    symbol = _symbol(code, path, injection.files[path])
    return Planned(injection, path, symbol, milliseconds, ())


def oracle_for(
    servers: Servers, catalogue: Catalogue, id: str, tree: Tree, dtype: str, seed: int
) -> Oracle:
    """What decides whether a candidate bites in this healthy tree. Raises SpecError."""
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    touched = {entry.component} | catalogue.users(entry.component)
    code = Reach(tree)
    symptoms = _symptoms(servers, catalogue, spec, entry.file, tree, dtype, seed)
    known: dict[str, list[Item]] = {}

    def siblings(candidate: Tree) -> list[Item]:
        found = []
        for component in sorted(reached_components(catalogue, code, candidate) - touched):
            if component not in known:
                known[component] = _siblings(servers, catalogue, spec, component, tree, dtype, seed)
            found += known[component]
        return found

    def measure(candidate: Tree, cases: Sequence[Case]) -> list[Outcome]:
        return servers.outcomes(candidate, jobs_of(cases), server="candidates")

    oracle = Oracle(measure, symptoms, siblings)
    if not oracle.check_symptom():
        raise SpecError("The declared symptom is the same as healthy code.", where=entry.file)
    return oracle


def _check_needs(
    servers: Servers, catalogue: Catalogue, id: str, tree: Tree, dtype: str, seed: int
) -> None:
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    checks = []
    for need in spec.needs:
        component, probe = component_probe(need.probe, entry.file)
        check = Check(id=probe, shows={}, probe=probe, regimes=need.regimes, draws=NEED_DRAWS)
        checks.append((component, check))
    made = plan(checks, seed=seed, dtype=dtype)
    cases = servers.cases(made.draws)
    failing = healthy(made, cases, servers.outcomes(tree, jobs_of(cases)))
    if failing:
        first = failing[0]
        assert first.difference is not None
        name = f" in {first.difference.value}" if first.difference.value else ""
        raise Unhealthy(
            f"{id} needs a healthy {first.component}, and yours is not: expected"
            f" {first.difference.expected}{name}, got {first.difference.got}. Nothing was changed.",
            where=f"{first.component}.{first.id}, {first.regime}: {first.inputs}"
            + "".join(f"\n  {line}" for line in first.traceback[-3:]),
            next=f"`engine submit-build {_to_mend(catalogue, spec.needs, first.component)}` shows"
            " what to mend first.",
        )


def _to_mend(catalogue: Catalogue, needs: Sequence[Need], component: str) -> str:
    """The build exercise to start with: the first in the course that the failing part stands on."""
    return component if component in catalogue.entries else next(iter(catalogue.entries))


def _symptoms(
    servers: Servers,
    catalogue: Catalogue,
    spec: Break,
    file: str,
    tree: Tree,
    dtype: str,
    seed: int,
) -> list[Item]:
    draws, likes = [], []
    for symptom in spec.fingerprint:
        component, probe = component_probe(symptom.probe, file)
        for regime in symptom.regimes:
            for i in range(SEEDS):
                value = derive(seed, "oracle", component, probe, regime, i)
                draws.append(Draw(component, probe, regime, value, dtype))
                likes.append(symptom)
    variants = sorted({symptom.like for symptom in likes} - {BEFORE})
    cases = servers.cases(draws, variants, healthy=False)
    before = servers.outcomes(tree, jobs_of(cases))
    return [
        Item(case, symptom.like, own, symptom.values)
        for case, symptom, own in zip(cases, likes, before, strict=True)
    ]


def _siblings(
    servers: Servers,
    catalogue: Catalogue,
    spec: Break,
    component: str,
    tree: Tree,
    dtype: str,
    seed: int,
) -> list[Item]:
    """What a component measures in healthy code, in every regime of its build checks."""
    if component not in catalogue.entries:
        return []
    checks = [
        (component, msgspec.structs.replace(check, draws=SIBLING_DRAWS))
        for check in catalogue.build(component).checks
        if f"{component}.{check.probe}" not in spec.also_changes
    ]
    made = plan(checks, seed=derive(seed, "siblings"), dtype=dtype)
    cases = servers.cases(made.draws, healthy=False)
    before = servers.outcomes(tree, jobs_of(cases))
    return [Item(case, BEFORE, own) for case, own in zip(cases, before, strict=True)]


class Tracer:
    """Expressions by the value they hold; each probe is traced once, for all that it names."""

    def __init__(self, servers: Servers, file: str, tree: Tree, dtype: str, seed: int) -> None:
        self._servers = servers
        self._file = file
        self._tree = tree
        self._dtype = dtype
        self._seed = seed
        self._runs: dict[tuple[str, str], list[tuple[Values, places.Recording]]] = {}
        self._known: dict[tuple[str, str, str], list[places.Site]] = {}

    def __call__(self, probe: str, regime: str, value: str) -> list[places.Site]:
        """The expressions that held the value in two runs with different sizes."""
        key = (probe, regime, value)
        if key not in self._known:
            self._known[key] = self._found(probe, regime, value)
        return self._known[key]

    def _found(self, probe: str, regime: str, value: str) -> list[places.Site]:
        kept: dict[places.Key, places.Site] | None = None
        for named, recorded in self._run(probe, regime):
            if value not in named:
                raise SpecError(
                    f"The reference neither records nor names {value!r} in {probe}.",
                    where=self._file,
                )
            found = {s.key: s for s in recorded.holding(np.asarray(named[value]))}
            kept = found if kept is None else {key: kept[key] for key in kept if key in found}
        return list((kept or {}).values())

    def _run(self, name: str, regime: str) -> list[tuple[Values, places.Recording]]:
        if (name, regime) not in self._runs:
            component, probe = component_probe(name, self._file)
            seeds = [derive(self._seed, "trace", component, probe, i) for i in range(2)]
            cases = self._servers.cases(
                [Draw(component, probe, regime, seed, self._dtype) for seed in seeds]
            )
            named = [{**case.expected[""].values, **case.named} for case in cases]
            sizes = {
                size for values in named for value in values.values() for size in _sizes(value)
            }
            outcomes = self._servers.outcomes(
                self._tree, jobs_of(cases), server="traced",
                trace={"sizes": sorted(sizes), "cap": TRACE_CAP},
            )  # fmt: skip
            self._runs[name, regime] = [
                (values, places.Recording(outcome.trace))
                for values, outcome in zip(named, outcomes, strict=True)
            ]
        return self._runs[name, regime]


def _sizes(value: object) -> set[int]:
    """The element count of a value, and of its slices along one axis."""
    if isinstance(value, np.ndarray):
        return {int(value.size)} | {int(value.size) // n for n in value.shape if n}
    return {1} if isinstance(value, (int, float)) and not isinstance(value, bool) else set()


def _symbol(code: Code, path: str, data: bytes) -> str:
    """The innermost class or function around the first changed line."""
    import ast

    old = code.sources[path].data.splitlines()
    new = data.splitlines()
    line = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0) + 1
    best, size = "", 1 << 30
    for node in ast.walk(code.sources[path].module):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            end = node.end_lineno or node.lineno
            if node.lineno <= line <= end and end - node.lineno < size:
                best, size = node.name, end - node.lineno
    return best


def servers_for(catalogue: Catalogue, python: str | None, hidden: Sequence[Path] = ()) -> Servers:
    """Servers that hold this pack; the pack's own folder is closed to learner code."""
    return Servers(catalogue.code(), python=python, hidden=[*hidden, catalogue.folder])
