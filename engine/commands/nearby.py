"""Runs what `judge/near.py` decides upon: draws near the numbers that a change brought into the code."""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Mapping, Sequence

import msgspec

from engine.judge.near import (
    DRAWN,
    Nearby,
    apart,
    decides,
    given,
    jittered,
    left_out,
    rounded,
    too_large,
    with_reference,
)
from engine.judge.plan import Plan, derive, joined, leaning, mixed
from engine.run.jobs import jobs_of
from engine.run.servers import HEALTHY_FACTOR, Servers
from engine.run.types import Case, Outcome, Tree
from engine.spec.types import Check

PATIENCE = 0.5  # seconds that one draw may take, at least,
SLOWER = 10  # or so many times what the slowest ordinary one took
TURN = 64  # draws that are run at a time, by the code before the break,
BUDGET = 2.0  # until so many seconds are over
SKIPS = 3  # draws that may take longer, before the rest is left
# draws in which the candidate differs that are looked at more closely: the quick ones, and more where
# none of them tells
ASKED = (0, 3, 12)


def near(
    servers: Servers,
    before: Tree,
    candidate: Tree,
    checks: Sequence[tuple[str, Check]],
    numbers: Sequence[float],
    *,
    callers: Sequence[str] = (),
    component: str,
    close: Collection[str] = (),
    slowest: float,
    seed: int,
    dtype: str,
    variants: Sequence[str],
    coarse: str = "",
) -> Nearby:
    """Compare a candidate with the code before the break near these numbers.

    component: the broken one. close: those that run changed code. callers: modules that the change may
    ask for. slowest: seconds that one of the ordinary draws took. coarse: a variant of the
    reference that keeps fewer digits.
    """
    usual = leaning(checks, numbers, seed=seed, dtype=dtype, callers=callers)
    own_checks = [check for check in checks if check[0] == component]
    rare = mixed(own_checks, numbers, seed=seed, dtype=dtype)
    chosen = [_chosen(servers, one, component, close) for one in (usual, rare)]
    made = joined(*(one for one, _ in chosen))
    cases = [case for _, some in chosen for case in some]
    patience = max(PATIENCE, SLOWER * slowest)
    own = _measured(servers, before, cases, patience, seed)
    fit = [i for i, case in enumerate(cases) if given(case, own[i])]
    limit = max(PATIENCE, HEALTHY_FACTOR * max((own[i].seconds for i in fit), default=0.0))
    found = servers.outcomes(
        candidate, jobs_of([cases[i] for i in fit]), server="candidate", limit=limit, skips=SKIPS
    )
    theirs = dict(zip(fit, found, strict=True))
    ran = [i for i in fit if not too_large(theirs[i])]
    differ = sorted(
        (i for i in ran if apart(own[i], theirs[i], dtype)), key=lambda i: own[i].seconds
    )
    decided: dict[int, Case] = {}
    for first, last in itertools.pairwise(ASKED):
        if not decided:
            asked = {i: cases[i] for i in differ[first:last]}
            decided = _deciding(
                servers, before, candidate, asked, own, theirs,
                limit=limit, dtype=dtype, variants=variants, coarse=coarse,
            )  # fmt: skip
    return Nearby(
        len(ran),
        made.without(set(range(len(cases))) - decided.keys()),
        [decided[i] for i in sorted(decided)],
        [own[i] for i in sorted(decided)],
        [theirs[i] for i in sorted(decided)],
    )


def _deciding(
    servers: Servers,
    before: Tree,
    candidate: Tree,
    differing: Mapping[int, Case],
    own: Sequence[Outcome],
    theirs: Mapping[int, Outcome],
    *,
    limit: float,
    dtype: str,
    variants: Sequence[str],
    coarse: str,
) -> dict[int, Case]:
    """Those in which a difference counts, with what the reference says.

    own, theirs: what the code before the break and the candidate gave, by the place of the case.
    """
    answers = servers.cases([case.draw for case in differing.values()], (*variants, coarse))
    asked = [
        msgspec.structs.replace(case, expected=answer.expected)
        for case, answer in zip(differing.values(), answers, strict=True)
    ]
    jolted = [*map(jittered, asked)]
    moved = servers.outcomes(before, jobs_of(jolted), server="before")
    work = jobs_of([*asked, *jolted])
    again = servers.outcomes(candidate, work, server="candidate", limit=limit)
    same, shaken = again[: len(asked)], again[len(asked) :]
    return {
        i: with_reference(case, own[i])
        for i, case, ours, one, other in zip(differing, asked, moved, same, shaken, strict=True)
        if decides(case, own[i], ours, theirs[i], coarse)
        and not rounded(own[i], theirs[i], one, other, dtype=dtype)
    }


def _chosen(
    servers: Servers, plan: Plan, component: str, close: Collection[str]
) -> tuple[Plan, list[Case]]:
    """Those draws of a plan that are made, and in which something leans, with their inputs."""
    wide = plan.without(left_out(plan, component, close, most=DRAWN))
    cases = servers.cases(wide.draws, healthy=False)
    idle = {i for i, case in enumerate(cases) if case.declined}
    out = left_out(wide, component, close, idle=idle)
    return wide.without(out), [case for i, case in enumerate(cases) if i not in out]


def _measured(
    servers: Servers, before: Tree, cases: Sequence[Case], patience: float, seed: int
) -> list[Outcome]:
    """What the code before the break gives for as many cases as there is time for, chosen by lot."""
    found = [Outcome(stopped="not run")] * len(cases)
    lots = sorted(range(len(cases)), key=lambda i: derive(seed, "turn", i))
    until = time.monotonic() + BUDGET
    while lots and time.monotonic() < until:
        turn, lots = lots[:TURN], lots[TURN:]
        jobs = jobs_of([cases[i] for i in turn])
        outcomes = servers.outcomes(before, jobs, server="before", limit=patience, skips=SKIPS)
        for i, outcome in zip(turn, outcomes, strict=True):
            found[i] = outcome
    return found
