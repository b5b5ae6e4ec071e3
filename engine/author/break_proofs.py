"""The proof of a break on one model: the bug bites, the fix passes, silencers and near misses do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.author import stated_numbers as figures
from engine.author.models import edited
from engine.author.proof import Proof
from engine.author.shown_proofs import shown_proofs
from engine.errors import EngineError, NotApplicable
from engine.flows import break_ as planning
from engine.flows import fix as fixes
from engine.flows import measuring
from engine.flows.baseline import Baseline
from engine.flows.chance import chance, fresh_seed
from engine.flows.oracle import oracle_for
from engine.judge.level import Level
from engine.judge.result import Verdict
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Draw, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.entry import Entry
from engine.spec.types import Silencer

SLIPS = {"NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "SyntaxError"}
TAKEN_FOR_THE_BUG = (
    "the whole fingerprint measures what the bug gives: it needs a probe or a regime that tells them"
    " apart, unless this is the bug"
)


def break_proofs(
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
    yield from figure_proofs(servers, catalogue, catalogue.entry(id), name, tree, broken)
    yield from shown_proofs(servers, catalogue, id, name, tree, broken)
    known, seed = Baseline(tree), fresh_seed()
    fixed = fixes.grade_fix(servers, catalogue, id, known, tree, seed)
    yield Proof(id, name, "the reference fix is accepted", fixed.passed, why(fixed))
    left = fixes.grade_fix(servers, catalogue, id, known, broken, seed)
    yield Proof(id, name, "the broken code is refused", not left.passed, why(left))
    yield from _near_miss_proofs(servers, catalogue, id, name, tree, sample)
    for silencer in some(spec.silencers, name, sample):
        claim = f"the silencer {silencer.name} is refused"
        try:
            candidate = broken.replaced(edited(broken, silencer))
        except EngineError as error:
            yield Proof(id, name, claim, False, error.what)
            continue
        verdict = fixes.refusal(servers, catalogue, id, known, candidate, seed, strictest)
        slip = _slip(verdict)
        held = not verdict.passed and not slip
        yield Proof(id, name, claim, held, f"it cannot run: {slip}" if slip else why(verdict))


def _slip(verdict: Verdict) -> str:
    """The error of a silencer that is refused for a slip of its author's alone, which proves nothing."""
    failing = verdict.failing
    got = str(failing.difference.got) if failing and failing.difference else ""
    return got if got.partition(":")[0] in SLIPS else ""


def figure_proofs(
    servers: Servers, catalogue: Catalogue, entry: Entry, name: str, tree: Tree, broken: Tree
) -> Iterator[Proof]:
    spec = catalogue.build(entry.id) if entry.kind == "build" else catalogue.break_(entry.id)
    wanted = {key: figure for key, figure in spec.figures.items() if figure.on == name}
    if not wanted:
        return
    dtype = measuring.dtype_of(servers, catalogue, tree)
    found = figures.measured(servers, entry.file, wanted, tree, broken, dtype)
    for key, (held, detail) in found.items():
        yield Proof(entry.id, name, f"the figure {key} is what it says", held, detail)


def some(changes: Sequence[Silencer], name: str, sample: int | None) -> list[Silencer]:
    """Those on this model, or a sample of them."""
    mine = [change for change in changes if change.on == name]
    few = len(mine) if sample is None else min(sample, len(mine))
    return chance().sample(mine, few)


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
    misses = some(spec.near_misses, name, sample)
    if not misses:
        return
    seed, dtype = fresh_seed(), measuring.dtype_of(servers, catalogue, tree)
    oracle = oracle_for(servers, catalogue, id, tree, dtype, seed)
    cases = servers.cases(
        [
            Draw(
                *measuring.component_probe(need.probe, catalogue.entry(id).file),
                regime,
                seed,
                dtype,
            )
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


def why(verdict: Verdict) -> str:
    failing = verdict.failing
    if failing is None or failing.difference is None:
        return f"{verdict.measurements} measurements"
    found = failing.difference
    return f"{failing.component}.{failing.id} ({failing.regime}): expected {found.expected}, got {found.got}"
