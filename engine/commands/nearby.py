"""Runs what `judge/near.py` decides upon: draws near the numbers that a change brought into the code."""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Sequence

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
ASKED = (
    0,
    3,
    12,
)  # draws in which the candidate differs, that are looked at more closely: the quick
# ones, and more where none of them tells


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
) -> Nearby:
    """Compare a candidate with the code before the break near these numbers.

    component: the broken one. close: those that run changed code. callers: modules that the change may
    ask for. slowest: seconds that one of the ordinary draws took.
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

    def told(places: Sequence[int]) -> None:
        """Which of these decide, with what the reference says."""
        asked = [
            msgspec.structs.replace(cases[i], expected=case.expected)
            for i, case in zip(
                places, servers.cases([made.draws[i] for i in places], variants), strict=True
            )
        ]
        jolted = [*map(jittered, asked)]
        moved = servers.outcomes(before, jobs_of(jolted), server="before")
        again = servers.outcomes(
            candidate, jobs_of([*asked, *jolted]), server="candidate", limit=limit
        )
        for i, case, ours, same, shaken in zip(
            places, asked, moved, again[: len(asked)], again[len(asked) :], strict=True
        ):
            steady = decides(case, own[i], ours)
            if steady and not rounded(own[i], theirs[i], same, shaken, dtype=dtype):
                decided[i] = with_reference(case, own[i])

    for first, last in itertools.pairwise(ASKED):
        if not decided:
            told(differ[first:last])
    return Nearby(
        len(ran),
        made.without(set(range(len(cases))) - decided.keys()),
        [decided[i] for i in sorted(decided)],
        [own[i] for i in sorted(decided)],
        [theirs[i] for i in sorted(decided)],
    )


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
        given_ = servers.outcomes(before, jobs, server="before", limit=patience, skips=SKIPS)
        for i, outcome in zip(turn, given_, strict=True):
            found[i] = outcome
    return found
