"""The verdict on a fix: the mended code against the code before the break.

A pipeline of values: scope (what the change may reach) → sample (which inputs) → measure → judge → extra
(what a level tries where everything else passes). A function of an exercise, trees, a level and a seed,
which knows nothing of terminals, folders, clocks or a learner's store.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Message, NotApplicable, Said
from engine.flows.baseline import Baseline
from engine.flows.sample import sample
from engine.flows.scope import Scope, scope_of
from engine.judge.compare import stopped
from engine.judge.decide import Decided, decide
from engine.judge.level import PRACTICE, Level
from engine.judge.measured import Measured
from engine.judge.result import Verdict
from engine.judge.sampling import (
    Plan,
)
from engine.judge.verdict import explained, judge_fix, with_extra
from engine.run.jobs import jobs_of
from engine.run.servers import HEALTHY_FACTOR, LIMIT, Servers
from engine.run.types import Outcome, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import Break


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
    decided = decide(measured, touched=impact.touched, restored=True)
    if not decided.failures:
        return explained(decided, measured)
    found = _by_the_nearest_target(servers, scope, measured, decided)
    order = [impact.broken, *scope.catalogue.contract.components]
    results = sorted(found.results, key=lambda result: order.index(result.component))
    return replace(found, results=tuple(results))  # what others stand on comes first


def _by_the_nearest_target(
    servers: Servers, scope: Scope, measured: Measured, by_own: Decided
) -> Verdict:
    touched, acceptable = scope.impact.touched, scope.spec.acceptable
    differing, failing = by_own.differing, by_own.failing
    apart = [draw for draw in measured.plan.draws if draw in differing]
    known = measured.asked(servers.cases(apart, acceptable))
    few = decide(known.only(differing), touched=touched, acceptable=acceptable)
    if few.failures == by_own.failures:
        return judge_fix(known, touched=touched, restored=True)  # told with the reference's bounds
    asked = failing | (touched if failing & touched else set())  # the rest is as it was
    rest = [d for d in measured.plan.draws if d.component in asked and d not in differing]
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
                Message(
                    "Your own code, as it was before the break, does not run any more: {what}. So there is"
                    " nothing to compare with, and nothing was judged.",
                    what=what,
                ),
                where=f"{draw.component}.{draw.probe}, {draw.regime}",
                next=Message(
                    "Has the interpreter or a package changed since? `engine doctor` looks."
                ),
            )


def _why_silent(outcome: Outcome, reference: Outcome | None) -> Said:
    if outcome.raised and (reference is None or reference.raised is None):
        raised = outcome.raised
        return Message("it raises {type}: {message}", type=raised.type, message=raised.message)
    return stopped(outcome) if outcome.stopped else ""
