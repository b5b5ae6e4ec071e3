"""The verdict on a fix: the mended code against the code before the break.

A function of an exercise, trees and a seed, as `flows` is for builds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from engine.errors import NotApplicable
from engine.exam.attack import Aimed, aimed, near
from engine.exam.constants import defined, fresh_callers, fresh_numbers
from engine.flows.baseline import Known
from engine.flows.build import component_probe
from engine.flows.impact import Extent, of_a_fix
from engine.judge.sampling import (
    COSTLY_DRAWS,
    FIX_DRAWS,
    OWN_DRAWS,
    Costly,
    Plan,
    joined,
    most_looked_at,
    plan,
    some_probes,
    thinned,
    usual_regimes,
)
from engine.judge.verdict import Verdict, also, disagreeing, judge_fix
from engine.run.concurrent import Future, run_both
from engine.run.jobs import jobs_of
from engine.run.servers import HEALTHY_FACTOR, LIMIT, Servers
from engine.run.types import CALL_VARIANTS, LATE, Case, Outcome, Tree
from engine.spec.load import Catalogue
from engine.spec.types import Break, Check

FAR_DRAWS = 1  # of each regime of a component that is not the broken one,
FAR_COSTLY = 4  # of probes that take long of what does not use it itself, beside the usual regimes
FAR_PROBES = 4  # of a component that the fix reaches through others alone, or merely imports


def grade_fix(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    before: Tree | Known,
    candidate: Tree,
    seed: int,
    *,
    sample: bool = False,
) -> Verdict:
    """The fixed tree against the learner's own code before the break, on inputs nobody saw.

    sample: one draw of each regime of the broken component, in no call variant. What that refuses would be
    refused; that it passes says nothing yet. For authors, never for a learner. Where `before` is
    `Known`, draws that it was asked about when other candidates were judged are not made again.
    """
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    known = before if isinstance(before, Known) else Known(before)
    before = known.tree

    def handed() -> str:
        servers.load_tree(before, "before")
        servers.precompile(*catalogue.contract.components)
        return known.dtype_of(servers, catalogue)

    def looked() -> tuple[Extent, list[tuple[str, Check]]]:
        extent = of_a_fix(catalogue, entry.component, before, candidate)
        return extent, checks_of_a_fix(catalogue, id, extent.measured)

    dtype, (extent, checks) = run_both(handed, looked)
    if extent.writes:  # whatever comes first, it is in force by then
        candidate = replace(candidate, eager=tuple(sorted(_modules(candidate))))
    servers.load_tree(candidate, "candidate")
    touched = extent.touched
    parts = catalogue.contract.components
    costly = {name: part.costly for name, part in parts.items()}
    seldom = {name: part.seldom for name, part in parts.items()}
    call_variants = ("",) if sample else ("", *catalogue.contract.modes, *CALL_VARIANTS)
    made = plan_of_a_fix(
        spec, checks, extent, seed=seed, dtype=dtype, call_variants=call_variants, sample=sample,
        costly=costly, seldom=seldom,
    )  # fmt: skip
    inputs, own = known.measured(servers, made.draws)
    slowest = max((outcome.seconds for outcome in own), default=0.0)
    limit = max(LIMIT, HEALTHY_FACTOR * slowest)
    steered = not sample and before.files != candidate.files
    settings = parts[entry.component].settings
    work = partial(
        _aim, spec, checks, extent, before, candidate,
        costly=costly, settings=settings, call_variants=call_variants, seed=seed, dtype=dtype,
    )  # fmt: skip
    aim = Future(work) if steered else work  # while the candidate is run
    theirs = servers.outcomes(candidate, jobs_of(inputs), server="candidate", limit=limit)
    raised = [i for i, outcome in enumerate(own) if outcome.raised is not None]
    promised = servers.cases([made.draws[i] for i in raised])  # what an error has to name
    cases = list(inputs)
    for i, case in zip(raised, promised, strict=True):
        cases[i] = case
    _check_still_runs(spec, cases, own)
    verdict = judge_fix(made, cases, own, theirs, touched=touched, restored=True)
    if not verdict.passed:
        order = [entry.component, *catalogue.contract.components]
        found = _nearest(servers, spec, made, cases, own, theirs, verdict=verdict, touched=touched)
        results = sorted(found.results, key=lambda result: order.index(result.component))
        verdict = replace(found, results=tuple(results))  # what others stand on comes first
    if not verdict.passed or not steered:
        return verdict
    nearby = near(
        servers, known, candidate, aim(), seconds=[outcome.seconds for outcome in own],
        dtype=dtype, variants=spec.acceptable, coarse=catalogue.contract.coarse.get(dtype, ""),
    )  # fmt: skip
    return also(verdict, nearby, touched=touched, acceptable=spec.acceptable)


def _nearest(
    servers: Servers,
    spec: Break,
    made: Plan,
    cases: Sequence[Case],
    own: Sequence[Outcome],
    theirs: Sequence[Outcome],
    *,
    verdict: Verdict,
    touched: frozenset[str],
) -> Verdict:
    """What a fix that differs from the code before the break is nearest to: that, the reference, or one of
    its variants, which it then has to agree with throughout.

    verdict: the one by the code before the break alone. The reference is asked about the rest only where it
    agrees in more of the draws that differ.
    """

    differing = disagreeing(verdict, made, cases, own, theirs)
    told = servers.cases([made.draws[i] for i in differing], spec.acceptable)
    few = judge_fix(
        made.without({*range(len(cases))} - {*differing}), told,
        [own[i] for i in differing], [theirs[i] for i in differing],
        touched=touched, acceptable=spec.acceptable,
    )  # fmt: skip
    if few.failures == verdict.failures:
        return verdict
    failing = {result.component for result in verdict.results if not result.passed}
    asked = failing | (touched if failing & touched else set())  # the rest is as it was
    places = {i for i, draw in enumerate(made.draws) if draw.component in asked}
    rest = sorted(places - {*differing})
    told += servers.cases([made.draws[i] for i in rest], spec.acceptable)
    known = [*cases]
    for i, case in zip([*differing, *rest], told, strict=True):
        known[i] = case
    return judge_fix(made, known, own, theirs, touched=touched, acceptable=spec.acceptable)


def refusal(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    before: Tree | Known,
    candidate: Tree,
    seed: int,
) -> Verdict:
    """As `grade_fix`, for what is expected to be refused: by a sample, if that is enough."""
    found = grade_fix(servers, catalogue, id, before, candidate, seed, sample=True)
    if not found.passed:
        return found
    return grade_fix(servers, catalogue, id, before, candidate, seed)


def checks_of_a_fix(
    catalogue: Catalogue, id: str, components: Collection[str] | None = None
) -> list[tuple[str, Check]]:
    """What a fix is judged by: the break's own checks, and the build checks of the broken component and of
    these (of every one, when not given).
    """
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    own = catalogue.build(entry.component).checks if entry.component in catalogue.entries else ()
    checks = [(entry.component, check) for check in (*own, *spec.judged_by)]
    for component in catalogue.contract.components:
        if components is not None and component not in components:
            continue
        if component != entry.component and component in catalogue.entries:
            checks += [(component, check) for check in catalogue.build(component).checks]
    return checks


def plan_of_a_fix(
    spec: Break,
    checks: Sequence[tuple[str, Check]],
    extent: Extent,
    *,
    seed: int,
    dtype: str,
    call_variants: Sequence[str],
    sample: bool,
    costly: Costly,
    seldom: Mapping[str, Collection[str]],
) -> Plan:
    """Many draws of the broken component, most of them of the probes that the break stands on; one of
    each regime of what uses it itself or runs changed code; a few probes of what uses it through others,
    or only imports changed code.

    costly: component -> probes that take long, which get fewer. seldom: component -> the probes in which
    alone it uses others.
    """

    def of(components: Collection[str]) -> list[tuple[str, Check]]:
        return [pair for pair in checks if pair[0] in components]

    def few(checks: Sequence[tuple[str, Check]]) -> list[tuple[str, Check]]:
        return [(name, replace(c, draws=min(c.draws, FAR_DRAWS))) for name, c in checks]

    own = of({extent.broken})
    drawn = partial(plan, seed=seed, dtype=dtype, call_variants=call_variants)
    if sample:
        return drawn(few(own))
    close, rest = few(of(extent.close)), few(of(extent.imported | extent.remote))
    far_costly = {name: slow for name, slow in costly.items() if name not in extent.direct}
    far = joined(
        thinned(drawn(close), usual_regimes(close), far_costly, FAR_COSTLY),
        drawn(some_probes(rest, FAR_PROBES, seed=seed, costly=costly, foremost=seldom)),
    )
    slow = costly.get(extent.broken, ())
    stood_on = {*_stood_on(spec, own)}
    at_least: dict[str, int] = {}
    for probe in dict.fromkeys(check.probe for _, check in own):
        many, some = (OWN_DRAWS, COSTLY_DRAWS) if probe in slow else (FIX_DRAWS, OWN_DRAWS)
        at_least[probe] = many if probe in stood_on else some
    at_least[most_looked_at(own)[1]] = FIX_DRAWS
    return joined(drawn(own, at_least=at_least, sparing=slow, last=LATE), far)


def _aim(
    spec: Break,
    checks: Sequence[tuple[str, Check]],
    extent: Extent,
    before: Tree,
    candidate: Tree,
    *,
    costly: Costly,
    settings: Mapping[str, Collection[str]],
    call_variants: Sequence[str],
    seed: int,
    dtype: str,
) -> Aimed:
    """Where the steered draws of a fix go, by what it changed."""
    names = _modules(candidate) | defined(candidate.files)
    return aimed(
        [pair for pair in checks if pair[0] in extent.measured],
        fresh_numbers(before.files, candidate.files),
        callers=fresh_callers(before.files, candidate.files, names),
        component=extent.broken,
        free=_free(spec, checks, extent.touched - extent.remote),
        close=extent.close,
        costly=costly,
        settings=settings,
        call_variants=call_variants,
        seed=seed,
        dtype=dtype,
    )


def _free(
    spec: Break, checks: Sequence[tuple[str, Check]], components: Collection[str]
) -> list[tuple[str, Check]]:
    """The checks of builds of these components. The story of a break is told with numbers that were made
    for it, which may come to nothing where they follow a pattern.
    """
    return [pair for pair in checks if pair[0] in components and pair[1] not in spec.judged_by]


def _stood_on(spec: Break, own: Sequence[tuple[str, Check]]) -> Iterator[str]:
    """The probes of the broken component that a break is about: the first that it needs, those of its own
    checks, and the one that most checks look at.
    """
    yield most_looked_at(own)[1]
    yield from (check.probe for check in spec.judged_by)
    component, probe = component_probe(spec.needs[0].probe, "needs")
    if component == own[0][0]:
        yield probe


def _check_still_runs(spec: Break, cases: Sequence[Case], own: Sequence[Outcome]) -> None:
    """What was healthy before the break must give values now: nothing agrees with nothing.

    Raises NotApplicable, say when the interpreter has lost its numpy since.
    """
    needed = {(need.probe, regime) for need in spec.needs for regime in need.regimes}
    for case, outcome in zip(cases, own, strict=True):
        if (f"{case.draw.component}.{case.draw.probe}", case.draw.regime) not in needed:
            continue
        reference = case.expected.get("")
        if outcome.raised and (reference is None or reference.raised is None):
            what = f"it raises {outcome.raised.type}: {outcome.raised.message}"
        elif outcome.stopped:
            what = f"it gives no answer ({outcome.stopped})"
        else:
            continue
        raise NotApplicable(
            f"Your own code, as it was before the break, does not run any more: {what}."
            " So there is nothing to compare with, and nothing was judged.",
            where=f"{case.draw.component}.{case.draw.probe}, {case.draw.regime}",
            next="Has the interpreter or a package changed since? `engine doctor` looks.",
        )


def _modules(tree: Tree) -> set[str]:
    """The modules that the contract's names are imported from."""
    return {where.partition(":")[0] for where in tree.roles.values()}
