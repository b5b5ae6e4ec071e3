"""The attack of level exam: draws in which a cheat, right on everything ordinary, would show.

A cheat has to tell the inputs that a judge draws from all others. So where a fix or a build passes, further
draws follow a pattern, have sizes as small as can be, take settings of another regime, or come near a
number or a name that the change brought into the code. What differs there counts only where it cannot be
rounding: see `boundary_values`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from functools import partial

import msgspec

from engine.exam.boundary_values import (
    apart,
    given,
    jittered,
    too_large,
)
from engine.exam.choice import (
    CALLS,
    FEW_CALLS,
    MOST,
    MOST_COSTLY,
    OTHERS,
    TIMES,
    TRIED,
    chosen_draws,
)
from engine.exam.constants import defined, fresh_callers, fresh_numbers
from engine.exam.deciding import Pair, decided_by, extra_of, reference_of
from engine.exam.targeted import (
    STIRRED,
    STIRRED_COSTLY,
    crossed,
    leaning,
    mixed,
    patterned,
    small,
)
from engine.flows.build import Build
from engine.flows.scope import Checks, Scope
from engine.judge.level import Attack
from engine.judge.measured import Extra, Measured
from engine.judge.sampling import Plan, joined, most_looked_at
from engine.run.jobs import jobs_of
from engine.run.servers import HEALTHY_FACTOR, RunOptions, Servers
from engine.run.types import LATE, Case, Draw, Outcome

PATIENCE = 2.0  # seconds of its own that one draw may take, at least,
SLOWER = 10  # or so many times what the slowest ordinary one took
LONG_CALLS = 20.0  # seconds more for a draw that comes after many calls
SKIPS = 3  # draws that may take longer, before the rest is left
# draws in which the candidate differs that are looked at more closely: the smallest, and more where
# none of them tells
ASKED = (0, 3, 12)
KINDS = ("patterns", "sizes", "settings", "numbers")


def by(*kinds: str) -> Attack:
    """The attack by these kinds of draws; by all when none is named. There is no code before a build, and
    so no number that a change brought in, nor patterns that right code takes in its own way.
    """
    return partial(_attack, kinds or KINDS)


def _attack(
    kinds: Collection[str], servers: Servers, scope: Scope | Build, measured: Measured
) -> Extra:
    servers.exam = True  # children get what draws under a constraint need
    if isinstance(scope, Build):
        return _on_build(kinds, servers, scope)
    return _on_fix(kinds, servers, scope, measured)


def _on_fix(kinds: Collection[str], servers: Servers, scope: Scope, measured: Measured) -> Extra:
    """What differs between a fix and the code before the break in steered draws, and counts."""
    made, cases = _made(servers, scope, kinds)
    if not cases:
        return Extra(Measured(made, {}, {}), 0)
    slowest = max((outcome.seconds for outcome in measured.healthy.values()), default=0.0)
    healthy: dict[Draw, Outcome] = {}
    for some, longer in _late_apart([*cases.values()]):
        limit = max(PATIENCE, SLOWER * slowest) + longer
        healthy |= scope.healthy.outcomes(servers, some, limit=limit, skips=SKIPS)
    fit = [case for case in cases.values() if given(case, healthy[case.draw])]
    slowest = max((healthy[case.draw].seconds for case in fit), default=0.0)
    limit = max(PATIENCE, HEALTHY_FACTOR * slowest)
    candidate: dict[Draw, Outcome] = {}
    options = RunOptions(skips=SKIPS)
    for some, longer in _late_apart(fit):
        found = servers.outcomes(
            scope.candidate,
            jobs_of(some),
            server="candidate",
            limit=limit + longer,
            options=options,
        )
        candidate |= zip((case.draw for case in some), found, strict=True)
    ran = [case for case in fit if not too_large(candidate[case.draw])]
    pairs = [Pair(case, healthy[case.draw], candidate[case.draw]) for case in ran]
    differ = [pair for pair in pairs if apart(pair.healthy, pair.candidate, scope.dtype)]
    differ.sort(key=lambda pair: _entries(pair.case))
    decided: list[Pair] = []
    for first, last in itertools.pairwise(ASKED):
        decided = decided or _deciding(servers, scope, differ[first:last], limit)
    return extra_of(made, decided, len(ran), [*healthy.values(), *candidate.values()])


def _on_build(kinds: Collection[str], servers: Servers, build: Build) -> Extra:
    """What differs between a build and the reference in steered draws, and counts."""
    settings = build.catalogue.contract.components[build.component].settings
    seed, dtype, slow = build.seed, build.dtype, build.slow
    checks, name = build.checks, build.component
    plans = []
    if "sizes" in kinds:
        plans.append(small(checks, name, seed=seed, dtype=dtype, slow=slow))
    if "settings" in kinds:
        plans.append(crossed(checks, name, settings, seed=seed, dtype=dtype, slow=slow))
    coarse = build.catalogue.contract.coarse.get(build.dtype, "")
    wide = joined(*plans) if plans else Plan((), (), build.seed)
    cases = [case for case in servers.cases(wide.draws, [coarse]) if not case.declined]
    made = wide.only({case.draw for case in cases})
    found = servers.outcomes(build.tree, jobs_of(cases))
    gave = dict(zip((case.draw for case in cases), map(_of_a_build, found), strict=True))
    ran = [
        case for case in cases if given(case, reference_of(case)) and not too_large(gave[case.draw])
    ]
    pairs = [Pair(case, reference_of(case), gave[case.draw]) for case in ran]
    differ = [pair for pair in pairs if apart(pair.healthy, pair.candidate, build.dtype)]
    differ = differ[: ASKED[-1]]
    jolted = [jittered(pair.case) for pair in differ]
    shaken = servers.cases([c.draw for c in jolted], given=[c.inputs for c in jolted])
    moved = [case.expected[""] for case in shaken]
    again = servers.outcomes(build.tree, jobs_of([*(pair.case for pair in differ), *jolted]))
    decided = decided_by(differ, moved, again, dtype=build.dtype, coarse=coarse)
    return extra_of(made, decided, len(ran), found)


def _of_a_build(outcome: Outcome) -> Outcome:
    """What becomes of numpy is no part of a build."""
    kept = tuple(name for name in outcome.changed if "." not in name)
    return msgspec.structs.replace(outcome, changed=kept)


def _deciding(
    servers: Servers, scope: Scope, differing: Sequence[Pair], limit: float
) -> list[Pair]:
    """Those in which a difference counts, with what the reference says, as far as they are steady."""
    coarse = scope.catalogue.contract.coarse.get(scope.dtype, "")
    draws = [pair.case.draw for pair in differing]
    answers = servers.cases(draws, (*scope.spec.acceptable, coarse))
    asked = [
        msgspec.structs.replace(pair, case=_answered(pair.case, answer))
        for pair, answer in zip(differing, answers, strict=True)
    ]
    jolted = [jittered(pair.case) for pair in asked]
    moved = servers.outcomes(scope.healthy.tree, jobs_of(jolted), server="before")
    work = jobs_of([*(pair.case for pair in asked), *jolted])
    again = servers.outcomes(scope.candidate, work, server="candidate", limit=limit)
    return decided_by(asked, moved, again, dtype=scope.dtype, coarse=coarse)


def _answered(case: Case, answer: Case) -> Case:
    """A case with the reference's answers; without any where the input was too large for it."""
    expected = answer.expected
    if "" in expected and too_large(expected[""]):
        expected = {}
    return msgspec.structs.replace(case, expected=expected)


def _made(servers: Servers, scope: Scope, kinds: Collection[str]) -> tuple[Plan, dict[Draw, Case]]:
    """Those draws that can be made as their plans want them, with their inputs: all of some plans, and of
    those near numbers as many as are to be run.
    """
    slow = most_looked_at(scope.own)[1] in scope.slow[scope.impact.broken]
    most, calls = (MOST_COSTLY, FEW_CALLS) if slow else (MOST, CALLS)
    whole, wide = _whole(scope, kinds, slow), _wide(scope, kinds, most, calls)
    every = [*whole, *wide]
    cases = scope.healthy.cases(servers, [draw for one in every for draw in one.draws])
    able = [one.only({d for d in one.draws if not cases[d].declined}) for one in every]
    broken, close = scope.impact.broken, scope.impact.close
    kept = [
        one
        if i < len(whole)
        else one.only(chosen_draws(one, broken, close, most=most, calls=calls))
        for i, one in enumerate(able)
    ]
    made = joined(*kept) if kept else Plan((), (), scope.seed)
    return made, {draw: cases[draw] for draw in made.draws}


def _whole(scope: Scope, kinds: Collection[str], slow: bool) -> list[Plan]:
    """Plans of which every draw is run: patterns, sizes as small as can be, settings of another regime.

    Only checks of builds take any numbers: the story of a break is told with inputs made for it, which may
    come to nothing where they follow a pattern.
    """
    broken = scope.impact.broken
    reached = scope.of(scope.impact.touched - scope.impact.remote)
    free = [pair for pair in reached if pair[1] not in scope.spec.judged_by]
    settings = scope.catalogue.contract.components[broken].settings
    variants = ("", *(v for v in scope.level.variants(scope.catalogue.contract) if v != LATE))
    seed, dtype = scope.seed, scope.dtype
    plans = []
    if "patterns" in kinds:
        few = STIRRED_COSTLY if slow else STIRRED
        plans.append(
            patterned(free, broken, seed=seed, dtype=dtype, call_variants=variants, most=few)
        )
    if "sizes" in kinds:
        plans.append(small(free, broken, seed=seed, dtype=dtype, slow=slow))
    if "settings" in kinds:
        made = partial(crossed, free, broken, settings, seed=seed, dtype=dtype)
        plans.append(made(call_variants=variants, slow=slow))
    return plans


def _wide(scope: Scope, kinds: Collection[str], most: int, calls: int) -> list[Plan]:
    """Plans near the numbers that the change brought in; several times as many draws as are to be run, since
    most turn out to have nothing that can come near.
    """
    before, after = scope.healthy.tree.files, scope.candidate.files
    modules = {where.partition(":")[0] for where in scope.candidate.roles.values()}
    numbers = fresh_numbers(before, after) if "numbers" in kinds else ()
    callers = fresh_callers(before, after, modules | defined(after)) if "numbers" in kinds else ()
    if not numbers and not callers:
        return []
    checks: Checks = scope.of(scope.impact.measured)
    usual = leaning(checks, numbers, seed=scope.seed, dtype=scope.dtype, callers=callers)
    rare = mixed(scope.own, numbers, seed=scope.seed, dtype=scope.dtype)
    chosen = partial(chosen_draws, component=scope.impact.broken, close=scope.impact.close)
    many = partial(chosen, most=TIMES * most, calls=calls, others=TIMES * OTHERS, tried=TRIED)
    return [one.only(many(one)) for one in (usual, rare)]


def _late_apart(cases: Sequence[Case]) -> list[tuple[list[Case], float]]:
    """The draws that come after many calls apart from the others, last, and how many seconds more each of a
    part may take.
    """
    late = [case for case in cases if case.draw.call_variant == LATE]
    return [([case for case in cases if case.draw.call_variant != LATE], 0.0), (late, LONG_CALLS)]


def _entries(case: Case) -> int:
    """How many numbers its arrays have."""
    return sum(int(getattr(value, "size", 1)) for value in case.inputs.values())
