"""`engine dev check`: every spec error with its place, then the proof of every exercise."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from engine.author import coverage as regimes
from engine.author import stated_numbers as figures
from engine.author.lint import Problem, problems
from engine.code.syntax import parse
from engine.commands.session import fresh_seed
from engine.commands.warm import servers_for
from engine.errors import EngineError, NotApplicable, SpecError
from engine.flows import break_ as planning
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.flows import walkthrough
from engine.flows.baseline import Baseline
from engine.flows.oracle import oracle_for
from engine.judge.level import PRACTICE, Level
from engine.judge.verdict import Verdict
from engine.learner import model
from engine.run.concurrent import at_once
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Draw, Tree
from engine.spec.load import (
    Catalogue,
    Entry,
    packs,
)
from engine.spec.types import Break, Silencer

SLIPS = {"NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "SyntaxError"}
TAKEN_FOR_THE_BUG = (
    "the whole fingerprint measures what the bug gives: it needs a probe or a regime that tells them"
    " apart, unless this is the bug"
)


class Proof(msgspec.Struct, frozen=True):
    """One thing that was tried on one model, and whether it went as the spec says."""

    exercise: str
    model: str
    claim: str
    held: bool
    detail: str


class CheckReport(msgspec.Struct, frozen=True):
    """`engine dev check`."""

    passed: bool
    problems: tuple[Problem, ...]
    proofs: tuple[Proof, ...]


def run(
    path: Path | None = None,
    *,
    sample: int | None = None,
    strictest: Level = PRACTICE,
    progress: flows.Progress = flows.quiet,
) -> CheckReport:
    """Check the pack at `path` (a folder, or a file in it), else every pack.

    strictest: the level at which silencers have to be refused.

    sample: of the silencers of each break, and of its near misses, only so many, drawn anew, and
    of the models only those that its figures are measured on, or one.
    """
    slips: list[Problem] = []
    proofs: list[Proof] = []
    for catalogue, only in _catalogues(path):
        found = list(problems(catalogue, only))
        slips += found
        if not found:
            proofs += _proofs(catalogue, only, progress, sample, strictest)
    if not slips and not proofs:
        raise SpecError("There is nothing to check here.", where=f"{path or 'exercises'}:1:1")
    passed = not slips and all(proof.held for proof in proofs)
    return CheckReport(passed, tuple(slips), tuple(proofs))


def _catalogues(path: Path | None) -> Iterator[tuple[Catalogue, str | None]]:
    """Packs to check, each with the one exercise to prove, or None for all."""
    if path is None:
        for name, folder in packs().items():
            yield Catalogue(name, folder), None
        return
    path = path.resolve()
    folders = [path, *path.parents] if path.is_dir() else list(path.parents)
    root = next((folder for folder in folders if (folder / "pack.yaml").is_file()), None)
    if root is None:
        inner = sorted(path.glob("*/pack.yaml")) if path.is_dir() else []
        if not inner:
            raise SpecError("No pack.yaml was found here or above.", where=f"{path}:1:1")
        for file in inner:
            yield Catalogue(file.parent.name, file.parent), None
        return
    only = None
    if path.suffix == ".yaml" and path.name != "pack.yaml":
        only = path.parent.name if path.name == "build.yaml" else path.stem
    yield Catalogue(root.name, root), only


def models(catalogue: Catalogue) -> dict[str, Tree]:
    """The pack's own models: each is its files laid over the template."""
    contract = catalogue.contract
    template = catalogue.template
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    base = model.read(template, contract.roots, modules) if template.is_dir() else {}
    found = {}
    for folder in catalogue.model_folders():
        files = {f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*.py")}
        found[folder.name] = Tree(
            str(folder), tuple(contract.roots), {**base, **files}, contract.roles
        )
    return found


def _proofs(
    catalogue: Catalogue,
    only: str | None,
    progress: flows.Progress,
    sample: int | None,
    strictest: Level,
) -> Iterator[Proof]:
    trees = models(catalogue)
    if not trees:
        raise SpecError(
            "The pack has no model to prove its exercises on.",
            where=f"{catalogue.folder / 'models'}:1:1",
            next="Put a healthy implementation into models/<name>/.",
        )
    work: list[Callable[[Servers], Iterator[Proof]]] = []
    for entry in catalogue.entries.values():
        if only in (None, entry.id):
            some = {name: trees[name] for name in _models_for(catalogue, entry, [*trees], sample)}
            work.append(partial(_entry_proofs, catalogue, entry, some, progress, sample, strictest))
    first = dict(itertools.islice(trees.items(), None if sample is None else 1))
    for id in catalogue.walkthroughs:
        if only in (None, id):
            work.append(partial(_walkthrough_proofs, catalogue, id, first, progress))
    if work:
        yield from _two_at_a_time(catalogue, work)


def _two_at_a_time(
    catalogue: Catalogue, work: Sequence[Callable[[Servers], Iterator[Proof]]]
) -> Iterator[Proof]:
    """The proofs in the order of the work, each half of which has servers of its own."""
    found: dict[int, list[Proof]] = {}
    turns = iter(enumerate(work))  # one for both, so that neither waits for the other

    def half(servers: Servers) -> None:
        try:
            for number, proofs in turns:
                found[number] = [*proofs(servers)]
        except Exception:
            list(turns)  # the other need not go on
            raise

    with servers_for(catalogue, None) as one, servers_for(catalogue, None) as other:
        at_once(lambda: half(one), lambda: half(other))
    for number in sorted(found):
        yield from found[number]


def _entry_proofs(
    catalogue: Catalogue,
    entry: Entry,
    trees: Mapping[str, Tree],
    progress: flows.Progress,
    sample: int | None,
    strictest: Level,
    servers: Servers,
) -> Iterator[Proof]:
    if entry.kind == "build":
        yield from _regime_proofs(servers, catalogue, entry)
    for name, tree in trees.items():
        progress(f"{entry.id} on {name}")
        if entry.kind == "build":
            verdict = flows.grade_build(servers, catalogue, entry.component, tree, fresh_seed())
            claim = "a healthy model passes"
            yield Proof(entry.id, name, claim, verdict.passed, _why(verdict))
            yield from _figure_proofs(servers, catalogue, entry, name, tree, tree)
        else:
            yield from _break_proofs(servers, catalogue, entry.id, name, tree, sample, strictest)


def _walkthrough_proofs(
    catalogue: Catalogue,
    id: str,
    trees: Mapping[str, Tree],
    progress: flows.Progress,
    servers: Servers,
) -> Iterator[Proof]:
    for name, tree in trees.items():
        progress(f"{id} on {name}")
        yield _walkthrough_proof(servers, catalogue, id, name, tree)


def _regime_proofs(servers: Servers, catalogue: Catalogue, entry: Entry) -> Iterator[Proof]:
    """Each regime is one of its own, and what it measures is looked at."""
    same = list(regimes.alike(servers, catalogue, entry.component, fresh_seed()))
    claim = "no two regimes of a probe draw the same"
    yield Proof(entry.id, "the pack", claim, not same, "; ".join(same))
    missed = list(regimes.unread(servers, catalogue, entry.component, fresh_seed()))
    claim = "what is recorded is compared"
    yield Proof(entry.id, "the pack", claim, not missed, "; ".join(missed))
    if catalogue.contract.components[entry.component].settings:
        idle = list(regimes.constant(servers, catalogue, entry.component, fresh_seed()))
        claim = "what may be another regime's setting varies"
        yield Proof(entry.id, "the pack", claim, not idle, "; ".join(idle))


def _why(verdict: Verdict) -> str:
    failing = verdict.failing
    if failing is None or failing.difference is None:
        return f"{verdict.measurements} measurements"
    found = failing.difference
    return f"{failing.component}.{failing.id} ({failing.regime}): expected {found.expected}, got {found.got}"


def _break_proofs(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    name: str,
    tree: Tree,
    sample: int | None,
    strictest: Level,
) -> Iterator[Proof]:
    spec = catalogue.break_(id)
    bites = "the bug bites with its symptom and nothing else"
    try:
        planned = planning.plan_break(servers, catalogue, id, tree, fresh_seed())
    except NotApplicable as error:
        yield Proof(id, name, bites, False, str(error).replace("\n", "; "))
        return
    injection = planned.injection
    detail = f"{injection.how}, {injection.changed_lines} lines, {planned.file}"
    yield Proof(id, name, bites, True, detail)
    broken = tree.replaced(injection.files)
    yield from _figure_proofs(servers, catalogue, catalogue.entry(id), name, tree, broken)
    known, seed = Baseline(tree), fresh_seed()
    fixed = fixes.grade_fix(servers, catalogue, id, known, tree, seed)
    yield Proof(id, name, "the reference fix is accepted", fixed.passed, _why(fixed))
    left = fixes.grade_fix(servers, catalogue, id, known, broken, seed)
    yield Proof(id, name, "the broken code is refused", not left.passed, _why(left))
    yield from _near_miss_proofs(servers, catalogue, id, name, tree, sample)
    for silencer in _some(spec.silencers, name, sample):
        claim = f"the silencer {silencer.name} is refused"
        try:
            candidate = broken.replaced(edited(broken, silencer))
        except EngineError as error:
            yield Proof(id, name, claim, False, error.what)
            continue
        verdict = fixes.refusal(servers, catalogue, id, known, candidate, seed, strictest)
        slip = _slip(verdict)
        held = not verdict.passed and not slip
        yield Proof(id, name, claim, held, f"it cannot run: {slip}" if slip else _why(verdict))


def _slip(verdict: Verdict) -> str:
    """The error of a silencer that is refused for a slip of its author's alone, which proves nothing."""
    failing = verdict.failing
    got = failing.difference.got if failing and failing.difference else ""
    return got if got.partition(":")[0] in SLIPS else ""


def _figure_proofs(
    servers: Servers, catalogue: Catalogue, entry: Entry, name: str, tree: Tree, broken: Tree
) -> Iterator[Proof]:
    spec = catalogue.build(entry.id) if entry.kind == "build" else catalogue.break_(entry.id)
    wanted = {key: figure for key, figure in spec.figures.items() if figure.on == name}
    if not wanted:
        return
    dtype = flows.dtype_of(servers, catalogue, tree)
    found = figures.measured(servers, entry.file, wanted, tree, broken, dtype)
    for key, (held, detail) in found.items():
        yield Proof(entry.id, name, f"the figure {key} is what it says", held, detail)


def _walkthrough_proof(
    servers: Servers, catalogue: Catalogue, id: str, name: str, tree: Tree
) -> Proof:
    claim = "the walkthrough shows what it names"
    spec = catalogue.walkthrough(id)
    number = walkthrough.vocabulary(spec)
    try:
        values = walkthrough.walked(servers, spec, tree, [number[w] for w in spec.text.split()])
    except EngineError as error:
        return Proof(id, name, claim, False, str(error).replace("\n", "; "))
    return Proof(id, name, claim, True, f"{len(values)} values")


def _models_for(
    catalogue: Catalogue, entry: Entry, names: Sequence[str], sample: int | None
) -> list[str]:
    """The models to prove an exercise on."""
    if sample is None:
        return list(names)
    spec = catalogue.build(entry.id) if entry.kind == "build" else catalogue.break_(entry.id)
    measured = {figure.on for figure in spec.figures.values()}
    changes = (*spec.silencers, *spec.near_misses) if isinstance(spec, Break) else ()
    named = [change.on for change in changes if change.on in names] or list(names)
    chosen = measured or {random.SystemRandom().choice(named)}
    return [name for name in names if name in chosen]


def _some(changes: Sequence[Silencer], name: str, sample: int | None) -> list[Silencer]:
    """Those on this model, or a sample of them."""
    mine = [change for change in changes if change.on == name]
    few = len(mine) if sample is None else min(sample, len(mine))
    return random.SystemRandom().sample(mine, few)


def _near_miss_proofs(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    name: str,
    tree: Tree,
    sample: int | None,
) -> Iterator[Proof]:
    """Each near miss on this model: it runs, and the fingerprint tells it from the bug."""
    spec = catalogue.break_(id)
    misses = _some(spec.near_misses, name, sample)
    if not misses:
        return
    seed, dtype = fresh_seed(), flows.dtype_of(servers, catalogue, tree)
    oracle = oracle_for(servers, catalogue, id, tree, dtype, seed)
    cases = servers.cases(
        [
            Draw(*flows.component_probe(need.probe, catalogue.entry(id).file), regime, seed, dtype)
            for need in spec.needs
            for regime in need.regimes
        ]
    )
    for miss in misses:
        claim = f"the near miss {miss.name} is not taken for the bug"
        try:
            other = tree.replaced(edited(tree, miss))
        except EngineError as error:
            yield Proof(id, name, claim, False, error.what)
            continue
        trial = oracle.try_(other)
        if trial.accepted:
            yield Proof(id, name, claim, False, TAKEN_FOR_THE_BUG)
            continue
        outcomes = servers.outcomes(other, jobs_of(cases), server="candidates")
        runs = any(outcome.raised is None and not outcome.stopped for outcome in outcomes)
        detail = trial.reason if runs else f"no probe runs after the edit: {trial.reason}"
        yield Proof(id, name, claim, runs, detail)


def edited(tree: Tree, change: Silencer) -> dict[str, bytes]:
    """The files that a silencer or a near miss changes. Raises SpecError."""
    files: dict[str, bytes] = {}
    for edit in change.edits:
        text = files.get(edit.file, tree.files.get(edit.file, b"")).decode()
        if edit.find not in text:
            raise SpecError(f"{edit.find!r} is not in {edit.file} of this code.")
        files[edit.file] = text.replace(edit.find, edit.replace, 1).encode()
        try:
            parse(files[edit.file])
        except SyntaxError as error:
            raise SpecError(f"After the edit {edit.file} is not Python: {error}.") from None
    if all(tree.files.get(file) == data for file, data in files.items()):
        raise SpecError("The edits change nothing.")
    return files
