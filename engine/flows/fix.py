"""The verdict on a fix: the mended code against the code before the break.

A pipeline of values: scope (what the change may reach) → sample (which inputs) → measure → judge → extra
(what a level tries where everything else passes). A function of an exercise, trees, a level and a seed,
which knows nothing of terminals, folders, clocks or a learner's store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from engine.errors import NotApplicable
from engine.flows.baseline import Baseline
from engine.flows.build import component_probe
from engine.flows.impact import Impact, of_a_fix
from engine.judge.level import PRACTICE, Level
from engine.judge.sampling import (
    COSTLY_DRAWS,
    FIX_DRAWS,
    OWN_DRAWS,
    Plan,
    joined,
    most_looked_at,
    once,
    plan,
    some_probes,
    thinned,
    usual,
    usual_regimes,
    varied,
)
from engine.judge.verdict import Measured, Verdict, disagreeing, judge_fix, with_extra
from engine.run.concurrent import at_once
from engine.run.jobs import jobs_of
from engine.run.servers import HEALTHY_FACTOR, LIMIT, Servers
from engine.run.types import LATE, Outcome, Tree
from engine.spec.load import Catalogue
from engine.spec.types import Break, Check

FAR_COSTLY = 4  # of probes that take long of what does not use it itself, beside the usual regimes
FAR_PROBES = 4  # of a component that the fix reaches through others alone, or merely imports

Checks = Sequence[tuple[str, Check]]  # each with its component


class Scope(msgspec.Struct, frozen=True):
    """What is judged, and how far the change reaches.

    checks: of every component that is measured. candidate: the mended tree, which imports all its modules
    first where it may write into what belongs to others. changed: whether any code differs.
    """

    catalogue: Catalogue
    spec: Break
    impact: Impact
    checks: tuple[tuple[str, Check], ...]
    healthy: Baseline
    candidate: Tree
    dtype: str
    seed: int
    level: Level

    @property
    def slow(self) -> dict[str, tuple[str, ...]]:
        """Component -> its probes that take long."""
        parts = self.catalogue.contract.components
        return {name: tuple(part.costly) for name, part in parts.items()}

    def of(self, components: Collection[str]) -> Checks:
        """The checks of these components."""
        return [pair for pair in self.checks if pair[0] in components]

    @property
    def own(self) -> Checks:
        """The checks of the broken component."""
        return self.of({self.impact.broken})


def grade_fix(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    before: Tree | Baseline,
    candidate: Tree,
    seed: int,
    level: Level = PRACTICE,
) -> Verdict:
    """The fixed tree against the learner's own code before the break, on inputs nobody saw.

    Where `before` is a Baseline, draws that it was asked about when other candidates were judged are not
    made again. Raises NotApplicable when the code before the break does not run any more.
    """
    healthy = before if isinstance(before, Baseline) else Baseline(before)
    scope = scope_of(servers, catalogue, id, healthy, candidate, seed, level)
    measured = measure(servers, scope, sample(scope))
    _check_still_runs(scope.spec, measured)
    verdict = judged(servers, scope, measured)
    for attack in level.attacks if scope.impact.changed else ():
        if verdict.passed:
            extra = attack(servers, scope, measured)
            touched, acceptable = scope.impact.touched, scope.spec.acceptable
            verdict = with_extra(verdict, extra, touched=touched, acceptable=acceptable)
    return verdict


def refusal(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    before: Tree | Baseline,
    candidate: Tree,
    seed: int,
    level: Level,
) -> Verdict:
    """As `grade_fix`, for what is expected to be refused: at level practice, if that is enough."""
    found = grade_fix(servers, catalogue, id, before, candidate, seed, PRACTICE)
    if not found.passed or level == PRACTICE:
        return found
    return grade_fix(servers, catalogue, id, before, candidate, seed, level)


def scope_of(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    healthy: Baseline,
    candidate: Tree,
    seed: int,
    level: Level,
) -> Scope:
    """What the change may reach, told while the servers load the code before the break."""
    entry, spec = catalogue.entry(id), catalogue.break_(id)

    def loaded() -> str:
        servers.ready(healthy.tree, "before")
        servers.prepare(*catalogue.contract.components)
        return healthy.dtype_of(servers, catalogue)

    def looked() -> tuple[Impact, Checks]:
        impact = of_a_fix(
            catalogue, entry.component, healthy.tree, candidate, everything=level.others == "all"
        )
        return impact, checks_of_a_fix(catalogue, id, impact.measured)

    dtype, (impact, checks) = at_once(loaded, looked)
    if impact.writes:  # whatever comes first, it is in force by then
        modules = {where.partition(":")[0] for where in candidate.roles.values()}
        candidate = replace(candidate, eager=tuple(sorted(modules)))
    servers.ready(candidate, "candidate")
    return Scope(catalogue, spec, impact, tuple(checks), healthy, candidate, dtype, seed, level)


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


def sample(scope: Scope) -> Plan:
    """The draws of a verdict, by its level; where no code differs, one that shows that it still runs."""
    if not scope.impact.changed:
        first = most_looked_at(scope.own)
        (regime,) = [r for key, r in usual_regimes(scope.own).items() if key == first]
        checks = [
            (name, replace(check, regimes=(regime,)))
            for name, check in scope.own
            if (name, check.probe) == first and regime in check.regimes
        ]
        return plan(once(checks), seed=scope.seed, dtype=scope.dtype)
    return _close_sample(scope) if scope.level.draws == 1 else _wide_sample(scope)


def _close_sample(scope: Scope) -> Plan:
    """Each regime of the broken component once, each call variant once, and one usual draw of each probe of
    what uses it itself or runs changed code; never fewer than FIX_DRAWS. Of probes that take long, the
    usual regime, but for those that the break stands on; in other components, one such probe at most.
    """
    drawn = partial(plan, seed=scope.seed, dtype=scope.dtype)
    stood_on = {*_stood_on(scope.spec, scope.own)}
    slow = {*scope.slow[scope.impact.broken]} - stood_on
    quick = [pair for pair in scope.own if pair[1].probe not in slow]
    brief = usual(pair for pair in scope.own if pair[1].probe in slow)
    others = scope.of(scope.impact.close)
    near = [pair for pair in usual(others) if pair[1].probe not in scope.slow[pair[0]]]
    known = {name for name, _ in near}
    near += [
        pair
        for pair in usual(others)
        if pair[0] not in known and pair[1].probe == most_looked_at(scope.of({pair[0]}))[1]
    ]
    variants = scope.level.variants(scope.catalogue.contract)
    rest = joined(
        drawn(once(brief)),
        varied(scope.own, variants, seed=scope.seed, dtype=scope.dtype),
        drawn(once(near)),
    )
    main = most_looked_at(scope.own)[1]
    more = {(check.probe, r) for _, check in quick if check.probe != main for r in check.regimes}
    missing = FIX_DRAWS - len(rest.draws) - len(more)
    return joined(drawn(once(quick), at_least={main: missing}), rest)


def _wide_sample(scope: Scope) -> Plan:
    """Many draws of the broken component, most of them of the probes that the break stands on; one of
    each regime of what uses it itself or runs changed code; a few probes of what uses it through others,
    or only imports changed code.
    """
    impact, slow = scope.impact, scope.slow
    parts = scope.catalogue.contract.components
    variants = (
        "",
        *(name for name in scope.level.variants(scope.catalogue.contract) if name != LATE),
    )
    drawn = partial(plan, seed=scope.seed, dtype=scope.dtype, manners=variants)
    close, rest = once(scope.of(impact.close)), once(scope.of(impact.imported | impact.remote))
    far_slow = {name: some for name, some in slow.items() if name not in impact.direct}
    seldom = {name: part.seldom for name, part in parts.items()}
    far = joined(
        thinned(drawn(close), usual_regimes(close), far_slow, FAR_COSTLY),
        drawn(some_probes(rest, FAR_PROBES, seed=scope.seed, costly=slow, foremost=seldom)),
    )
    stood_on = {*_stood_on(scope.spec, scope.own)}
    at_least: dict[str, int] = {}
    for probe in dict.fromkeys(check.probe for _, check in scope.own):
        long = probe in slow[impact.broken]
        many, some = (OWN_DRAWS, COSTLY_DRAWS) if long else (scope.level.draws, OWN_DRAWS)
        at_least[probe] = many if probe in stood_on else some
    at_least[most_looked_at(scope.own)[1]] = scope.level.draws
    last = LATE if LATE in scope.level.call_variants else ""
    own = drawn(scope.own, at_least=at_least, sparing=slow[impact.broken], last=last)
    return joined(own, far)


def _stood_on(spec: Break, own: Checks) -> Iterator[str]:
    """The probes of the broken component that a break is about: the first that it needs, those of its own
    checks, and the one that most checks look at.
    """
    yield most_looked_at(own)[1]
    yield from (check.probe for check in spec.judged_by)
    component, probe = component_probe(spec.needs[0].probe, "needs")
    if component == own[0][0]:
        yield probe


def measure(servers: Servers, scope: Scope, made: Plan) -> Measured:
    """What both trees give on these draws. What the contract wants an error to name is asked of the
    reference; the rest it is asked about where the two differ.
    """
    cases = scope.healthy.cases(servers, made.draws)
    healthy = scope.healthy.outcomes(servers, [*cases.values()])
    slowest = max((outcome.seconds for outcome in healthy.values()), default=0.0)
    limit = max(LIMIT, HEALTHY_FACTOR * slowest)
    jobs = jobs_of([*cases.values()])
    found = servers.outcomes(scope.candidate, jobs, server="candidate", limit=limit)
    candidate = dict(zip(made.draws, found, strict=True))
    raised = [draw for draw in made.draws if healthy[draw].raised is not None]
    measured = Measured(made, cases, candidate, healthy)
    return measured.asked(servers.cases(raised)) if raised else measured


def judged(servers: Servers, scope: Scope, measured: Measured) -> Verdict:
    """The verdict by the code before the break, else by what the fix is nearest to: that, the reference, or
    one of its variants, which it has to agree with throughout.

    The reference is asked last: most right fixes measure just what the old code did. Where they do not, it
    is asked about the draws that differ, and about the rest only where it agrees in more of those.
    """
    impact = scope.impact
    verdict = judge_fix(measured, touched=impact.touched, restored=True)
    if verdict.passed:
        return verdict
    found = _by_the_nearest_target(servers, scope, measured, verdict)
    order = [impact.broken, *scope.catalogue.contract.components]
    results = sorted(found.results, key=lambda result: order.index(result.component))
    return replace(found, results=tuple(results))  # what others stand on comes first


def _by_the_nearest_target(
    servers: Servers, scope: Scope, measured: Measured, verdict: Verdict
) -> Verdict:
    touched, acceptable = scope.impact.touched, scope.spec.acceptable
    differing = disagreeing(verdict, measured)
    known = measured.asked(servers.cases(differing, acceptable))
    few = judge_fix(known.only({*differing}), touched=touched, acceptable=acceptable)
    if few.failures == verdict.failures:
        return judge_fix(known, touched=touched, restored=True)  # told with the reference's bounds
    failing = {result.component for result in verdict.results if not result.passed}
    asked = failing | (touched if failing & touched else set())  # the rest is as it was
    rest = [d for d in measured.plan.draws if d.component in asked and d not in {*differing}]
    known = known.asked(servers.cases(rest, acceptable))
    return judge_fix(known, touched=touched, acceptable=acceptable)


def _check_still_runs(spec: Break, measured: Measured) -> None:
    """What was healthy before the break must give values now: nothing agrees with nothing.

    Raises NotApplicable, say when the interpreter has lost its numpy since.
    """
    needed = {(need.probe, regime) for need in spec.needs for regime in need.regimes}
    for draw, outcome in measured.healthy.items():
        if (f"{draw.component}.{draw.probe}", draw.regime) not in needed:
            continue
        what = _why_silent(outcome, measured.cases[draw].expected.get(""))
        if what:
            raise NotApplicable(
                f"Your own code, as it was before the break, does not run any more: {what}."
                " So there is nothing to compare with, and nothing was judged.",
                where=f"{draw.component}.{draw.probe}, {draw.regime}",
                next="Has the interpreter or a package changed since? `engine doctor` looks.",
            )


def _why_silent(outcome: Outcome, reference: Outcome | None) -> str:
    if outcome.raised and (reference is None or reference.raised is None):
        return f"it raises {outcome.raised.type}: {outcome.raised.message}"
    return f"it gives no answer ({outcome.stopped})" if outcome.stopped else ""
