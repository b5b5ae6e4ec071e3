"""Where a bug goes in this learner's code: the plan of a break, made and verified in memory.

Like the comparisons in `flows`, this is a function of an exercise, a tree and a seed, and knows
nothing of terminals or of a learner's folder.
"""

from __future__ import annotations

import ast
import difflib
import time
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import msgspec

from engine.code.functions import entered
from engine.code.modules import role_files
from engine.code.reachability import Reach
from engine.code.source import differing
from engine.errors import NotApplicable, SpecError
from engine.flows import expectations as asking
from engine.flows.impact import by_names
from engine.flows.measuring import Halted, Progress, dtype_of, quiet
from engine.flows.tracing import Tracer
from engine.inject.oracle import Asked, Item, Oracle
from engine.inject.proposers import Code
from engine.inject.search import Injection, NotFound, inject
from engine.judge.measured import Measured
from engine.judge.sampling import Plan, compared, derive, plan
from engine.judge.verdict import failing_checks
from engine.run.concurrent import Later, at_once
from engine.run.jobs import jobs_of
from engine.run.servers import TRACED, Servers
from engine.run.types import Case, Draw, Outcome, Tree
from engine.spec.load import Catalogue, roles_of_steps, traced
from engine.spec.types import BEFORE, Need, Symptom

SIBLING_DRAWS = 1  # draws a regime of every other component, for each candidate injection
UNFIT = 3  # patterns that a refusal names
SHARED = ("Tensor", "Parameter", "Module")  # roles that are never the place of a bug


class Unhealthy(NotApplicable):
    """The code is not healthy where this break needs it."""


class Planned(msgspec.Struct, frozen=True):
    """A verified injection, with what it took."""

    injection: Injection
    file: str
    symbol: str
    milliseconds: float
    dtype: str  # of the tree's arrays


def plan_break(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    tree: Tree,
    seed: int,
    *,
    only: Sequence[str] = (),
    progress: Progress = quiet,
    siblings: Siblings | None = None,
    begun: asking.Answer | None = None,
) -> Planned:
    """Find and verify the injection of a break, in memory.

    siblings: what earlier plans for this very tree have measured of it. begun: what was asked already,
    with the same seed.

    Raises NotApplicable when the code is not healthy where this break needs it, or when no
    candidate bites.
    """
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    unknown = roles_of_steps(spec) - catalogue.contract.roles.keys()
    if unknown:
        raise SpecError(
            f"A recipe names the role {sorted(unknown)[0]!r}, which pack.yaml has not.",
            where=entry.file,
        )
    roles = role_files(tree.roles, tree.roots, tree.files)
    mine = {roles[role] for role in catalogue.roles_of(entry.component) if role in roles}
    known = siblings or Siblings(servers, catalogue, tree, seed, likely=mine)
    recipes = [traced(recipe) for recipe in spec.inject]
    first = recipes[0] if recipes else ()
    servers.ready(tree, "learner", TRACED)
    started = time.perf_counter()
    begun = begun or asking.begin(servers, catalogue, id, tree, seed, known.dtype_if_known)
    try:
        dtype, asked = begun()
    except Halted as halted:
        raise NotApplicable(
            f"Your code gave no answer ({halted}), so {id} cannot be put into it. Nothing was changed.",
            where=halted.outcome.output[:500],
            next="Is there an endless loop, or a print in one, that runs on import?",
        ) from None
    known.learn(dtype)
    trace = Tracer(servers, entry.file, tree, dtype, seed, recipes)
    own, _ = at_once(
        lambda: servers.outcomes(tree, jobs_of([*asked.needed, *asked.shown])),
        lambda: trace.measure(first, asked.followed),
    )
    split = len(asked.needed)
    _check_needs(servers, catalogue, id, tree, asked.needs, asked.needed, own[:split])
    items = _items(catalogue, asked.shown, asked.symptoms, own[split:])
    oracle = _oracle(servers, catalogue, id, items, known, progress)
    code = Code(tree, roles)
    try:
        injection = inject(code, spec.inject, oracle, trace, only=only)
    except NotFound as error:
        raise _refusal(catalogue, id, code, trace, error) from None
    path = next(iter(injection.files))
    milliseconds = 1000 * (time.perf_counter() - started)
    symbol = _symbol(code, path, injection.files[path])
    return Planned(injection, path, symbol, milliseconds, dtype)


def _refusal(
    catalogue: Catalogue, id: str, code: Code, trace: Tracer, error: NotFound
) -> NotApplicable:
    """What was looked for, where, what came nearest, and what the learner can do."""
    component = catalogue.entry(id).component
    roles = sorted(catalogue.roles_of(component))
    files = sorted({code.files_of_roles[role] for role in roles if role in code.files_of_roles})
    others = len(set(error.looked) - set(files))
    missing = trace.missing()
    lines = [
        f"looked in {', '.join(files)}" + (f" and {others} other files" if others else ""),
        *([f"no expression held {', '.join(missing)}"] if missing else []),
        *(
            f"a run whose values were to be recorded ended: {why}"
            for why in sorted({*trace.silent})
        ),
        *(f"no code fits `{pattern}`" for pattern in error.unfit[:UNFIT]),
        f"nearest: {error.nearest}",
    ]
    name = next((role for role in roles if role not in SHARED), roles[0] if roles else "Name")
    return NotApplicable(
        f"{id} cannot be put into this code: none of {error.tried} tried edits shows just the"
        " symptom that this exercise is about. Nothing was changed.",
        where="\n  ".join(lines),
        next=f"If another class or function is the one to look at, name it in learner.yaml:"
        f" `roles: {{{name}: {catalogue.contract.roles[name]}}}`.",
    )


def oracle_for(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    tree: Tree,
    dtype: str,
    seed: int,
    siblings: Siblings | None = None,
    progress: Progress = quiet,
) -> Oracle:
    """What decides whether a candidate bites in this healthy tree. Raises SpecError."""
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    symptoms = asking.symptoms_of(spec, entry.file, dtype, seed)
    draws = [draw for draw, _ in symptoms]
    cases = servers.cases(draws, asking.variants_of(symptoms), healthy=False)
    items = _items(catalogue, cases, symptoms, servers.outcomes(tree, jobs_of(cases)))
    known = siblings or Siblings(servers, catalogue, tree, seed)
    return _oracle(servers, catalogue, id, items, known, progress)


def _oracle(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    symptoms: Sequence[Item],
    known: Siblings,
    progress: Progress,
) -> Oracle:
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    touched = {entry.component} | catalogue.users(entry.component)

    def near(candidate: Tree) -> list[Item]:
        found = known.reached_by(candidate, touched)
        return [item for item in found if item.probe not in spec.also_changes]

    def measure(asked: Sequence[Asked]) -> list[list[Outcome]]:
        told = f"looking for a place for the bug: {oracle.tried} tried"
        progress(told)
        found = servers.several(
            [(tree, jobs_of(cases), min(limit, servers.limit)) for tree, cases, limit in asked]
        )
        progress(told)
        return found

    oracle = Oracle(measure, symptoms, near)
    if not oracle.check_symptom():
        raise SpecError("The declared symptom is the same as healthy code.", where=entry.file)
    return oracle


def check_needs(
    servers: Servers, catalogue: Catalogue, id: str, tree: Tree, dtype: str, seed: int
) -> None:
    """Whether a tree is healthy where a break needs it. Raises Unhealthy."""
    made = asking.needs_of(catalogue, id, dtype, seed)
    cases = servers.cases(made.draws)
    outcomes = servers.outcomes(tree, jobs_of(cases))
    _check_needs(servers, catalogue, id, tree, made, cases, outcomes)


def _check_needs(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    tree: Tree,
    made: Plan,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
) -> None:
    by_draw = dict(zip(made.draws, cases, strict=True))
    gave = dict(zip(made.draws, outcomes, strict=True))
    failing = failing_checks(Measured(made, by_draw, gave))
    if failing:
        _check_roles(servers, catalogue, id, tree, failing[0].component)
        first = failing[0]
        assert first.difference is not None
        name = f" in {first.difference.value}" if first.difference.value else ""
        needs = catalogue.break_(id).needs
        raise Unhealthy(
            f"{id} needs a healthy {first.component}, and yours is not: expected"
            f" {first.difference.expected}{name}, got {first.difference.got}. Nothing was changed.",
            where=f"{first.component}.{first.id}, {first.regime}: {first.inputs}"
            + "".join(f"\n  {line}" for line in first.traceback[-3:]),
            next=f"`engine submit-build {_to_mend(catalogue, needs, first.component)}` shows"
            " what to mend first.",
        )


def _check_roles(
    servers: Servers, catalogue: Catalogue, id: str, tree: Tree, component: str
) -> None:
    """A name of the contract that is not there is named as that. Raises Unhealthy."""
    missing = servers.missing_roles(tree)
    for role in sorted(catalogue.roles_of(component) & missing.keys()):
        raise Unhealthy(
            f"{id} needs {role}, and it is not where it should be: {missing[role]}."
            " Nothing was changed.",
            where=f"looked for {tree.roles[role]}",
            next="If it has another name or place, say which in learner.yaml:"
            f" `roles: {{{role}: your.module:YourName}}`. Else"
            f" `engine submit-build {_to_mend(catalogue, (), component)}` shows what to mend first.",
        )


def _to_mend(catalogue: Catalogue, needs: Sequence[Need], component: str) -> str:
    """The build exercise to start with: the first in the course that the failing part stands on."""
    return component if component in catalogue.entries else next(iter(catalogue.entries))


def _items(
    catalogue: Catalogue,
    cases: Sequence[Case],
    symptoms: Sequence[tuple[Draw, Symptom]],
    before: Sequence[Outcome],
) -> list[Item]:
    """Symptoms as the oracle wants them; before: what the healthy code gave in these cases. Where nothing
    should have changed, that is all that a check of the build compares there.
    """

    def values(draw: Draw, symptom: Symptom) -> tuple[str, ...]:
        if symptom.values or symptom.like != BEFORE or draw.component not in catalogue.entries:
            return symptom.values
        checks = catalogue.build(draw.component).checks
        return compared(c for c in checks if c.probe == draw.probe and draw.regime in c.regimes)

    return [
        Item(case, symptom.like, own, values(draw, symptom))
        for case, (draw, symptom), own in zip(cases, symptoms, before, strict=True)
    ]


class Siblings:
    """What the components of a healthy tree measure, each measured when it is first asked for.

    likely: the files that will be changed, as far as they are known; None where any may be.
    """

    def __init__(
        self,
        servers: Servers,
        catalogue: Catalogue,
        tree: Tree,
        seed: int,
        likely: Collection[str] | None = None,
    ) -> None:
        self._servers = servers
        self._catalogue = catalogue
        self._tree = tree
        self._seed = derive(seed, "siblings")
        self._reach = Later(lambda: Reach(tree))  # read while the first measurements are made
        self._known: dict[str, list[Item]] = {}
        self._likely = set(tree.files if likely is None else likely)
        self.dtype_if_known = ""

    @property
    def dtype(self) -> str:
        """The dtype of the tree's arrays. Raises Halted."""
        if not self.dtype_if_known:
            self.learn(dtype_of(self._servers, self._catalogue, self._tree))
        return self.dtype_if_known

    def learn(self, dtype: str) -> None:
        """What the dtype of the tree's arrays is."""
        self.dtype_if_known = dtype

    @cached_property
    def _told(self) -> bool:
        """Whether the tree's code is what its text says, and does not look at itself."""
        return self._reach().told(self._tree.files)

    def reached_by(self, candidate: Tree, touched: set[str]) -> list[Item]:
        """All that an edit may reach, but for the components that it is meant to touch: by names, and
        where only bodies of functions differ, what ran one of them when the code was healthy.
        """
        reached = by_names(self._catalogue, self._reach(), candidate) - touched
        old, new = self._tree.files, candidate.files
        self._likely |= differing(old, new)
        self._measure(sorted(reached))
        found = [item for component in sorted(reached) for item in self.of(component)]
        places = entered(old, new) if self._told else None
        return found if places is None else [item for item in found if item.runs_any(places)]

    def of(self, component: str) -> list[Item]:
        """One draw of every regime of the component's build checks, in healthy code."""
        self._measure([component])
        return self._known[component]

    def _measure(self, components: Sequence[str]) -> None:
        """Those that are not known yet, in one run."""
        fresh = [name for name in components if name not in self._known]
        found: dict[str, list[Item]] = {name: [] for name in fresh}
        checks = [
            (name, msgspec.structs.replace(check, draws=SIBLING_DRAWS))
            for name in fresh
            if name in self._catalogue.entries
            for check in self._catalogue.build(name).checks
        ]
        if checks:
            made = plan(checks, seed=self._seed, dtype=self.dtype)
            cases = self._servers.cases(made.draws, healthy=False)
            telling = frozenset(p for p in self._likely if p.endswith(".py") and self._told)
            before = self._servers.outcomes(self._tree, jobs_of(cases), covered=telling)
            for case, own, values in zip(cases, before, made.compared(), strict=True):
                item = Item(case, BEFORE, own, values, telling)
                found[case.draw.component].append(item)
        self._known |= found


def _symbol(code: Code, path: str, data: bytes) -> str:
    """The innermost class or function around the first changed line that has one, as `Class.method`;
    with its line where the file has several of that name.
    """
    old, new = code.sources[path].data.splitlines(), data.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, _, _ in matcher.get_opcodes():
        if tag != "equal":
            for line in range(first, max(last, first + 1)):
                found = _around(code.sources[path].module, line + 1)
                if found:
                    return found
    return ""


def _around(module: ast.Module, line: int) -> str:
    """The innermost class or function around a line."""
    named = list(_named(module, ""))
    around = [
        (node.lineno, name)
        for name, node in named
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not around:
        return ""
    start, name = max(around, key=lambda one: (one[0], len(one[1])))
    alike = sum(name == other for other, _ in named)
    return f"{name} (line {start})" if alike > 1 else name


Named = ast.ClassDef | ast.FunctionDef


def _named(node: ast.AST, above: str) -> Iterator[tuple[str, Named]]:
    """Classes and functions with their qualified names; a function stands for what it contains."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield above + child.name, child
            yield from _named(child, f"{above}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            yield above + child.name, child
            yield from _named(child, above)
        else:
            yield from _named(child, above)
