"""`engine dev check`: every spec error with its place, then the proof of every exercise."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from engine.author import coverage as regimes
from engine.author import fact_lint
from engine.author.break_proofs import break_proofs, figure_proofs, why
from engine.author.lint import Problem, problems
from engine.author.models import models
from engine.author.proof import Proof
from engine.errors import EngineError, SpecError
from engine.flows import build as flows
from engine.flows import language, measuring, walkthrough
from engine.flows.chance import chance, fresh_seed
from engine.flows.measuring import servers_for
from engine.judge.level import PRACTICE, Level
from engine.run.concurrent import run_both
from engine.run.pythons import has, own_python
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec import topics
from engine.spec.catalogue import BUILDS, Catalogue
from engine.spec.entry import Entry
from engine.spec.packs import packs
from engine.spec.types import Break


class CheckReport(msgspec.Struct, frozen=True):
    """`engine dev check`."""

    passed: bool
    problems: tuple[Problem, ...]
    proofs: tuple[Proof, ...]


def prove(
    path: Path | None = None,
    *,
    sample: int | None = None,
    strictest: Level = PRACTICE,
    progress: measuring.Progress = measuring.quiet,
) -> CheckReport:
    """Check the pack at `path` (a folder, or a file in it), else every pack.

    strictest: the level at which silencers have to be refused.

    sample: of the silencers of each break, and of its near misses, only so many, drawn anew, and
    of the models only those that its figures are measured on, or one.
    """
    slips: list[Problem] = []
    proofs: list[Proof] = []
    for catalogue, only in _catalogues(path):
        read = fact_lint.problems if catalogue.by_facts else problems
        found = list(read(catalogue, only))
        if not found and not catalogue.by_facts:
            found = list(fact_lint.build_problems(catalogue, only))
            proofs += _read_alone(catalogue, only) if not found else []
        slips += found
        if not found and catalogue.by_facts:
            proofs.append(Proof(catalogue.pack, "-", "its breaks can be read", True, ""))
        elif not found and _lacks_torch(catalogue):
            told = "its exercises can be read; their proofs need torch, which is not installed"
            proofs.append(Proof(catalogue.pack, "-", told, True, ""))
        elif not found:
            proofs += _proofs(catalogue, only, progress, sample, strictest)
    if not slips and not proofs:
        raise SpecError("There is nothing to check here.", where=f"{path or 'exercises'}:1:1")
    passed = not slips and all(proof.held for proof in proofs)
    return CheckReport(passed, tuple(slips), tuple(proofs))


def _read_alone(catalogue: Catalogue, only: str | None) -> Iterator[Proof]:
    """Builds that facts judge are proved by the tests of those facts."""
    for entry in catalogue.entries.values():
        if only in (None, entry.id) and catalogue.goes_by_facts(entry.id):
            yield Proof(entry.id, "-", "its facts are known, and its texts can be read", True, "")


def _lacks_torch(catalogue: Catalogue) -> bool:
    return catalogue.contract.framework == "torch" and not has(own_python(), "torch")


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
        only = path.parent.name if path.name in BUILDS else path.stem
    yield Catalogue(root.name, root), only


def _proofs(
    catalogue: Catalogue,
    only: str | None,
    progress: measuring.Progress,
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
        if only in (None, entry.id) and not catalogue.goes_by_facts(entry.id):
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
        run_both(lambda: half(one), lambda: half(other))
    for number in sorted(found):
        yield from found[number]


def _entry_proofs(
    catalogue: Catalogue,
    entry: Entry,
    trees: Mapping[str, Tree],
    progress: measuring.Progress,
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
            yield Proof(entry.id, name, claim, verdict.passed, why(verdict))
            yield from figure_proofs(servers, catalogue, entry, name, tree, tree)
        else:
            yield from break_proofs(servers, catalogue, entry.id, name, tree, sample, strictest)


def _walkthrough_proofs(
    catalogue: Catalogue,
    id: str,
    trees: Mapping[str, Tree],
    progress: measuring.Progress,
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


def _walkthrough_proof(
    servers: Servers, catalogue: Catalogue, id: str, name: str, tree: Tree
) -> Proof:
    claim = "the walkthrough shows what it names"
    spec = topics.walkthrough(catalogue, id)
    number = language.vocabulary(spec)
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
    chosen = measured or {chance().choice(named)}
    return [name for name in names if name in chosen]
