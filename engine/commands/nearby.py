"""Runs what `judge/near.py` decides upon: draws whose numbers follow a pattern, or come near those that a
change brought into the code.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from engine.judge.near import (
    DRAWN,
    Nearby,
    apart,
    decides,
    given,
    jittered,
    left_out,
    plainly,
    rounded,
    too_large,
    with_reference,
)
from engine.judge.plan import Plan, derive, joined, leaning, mixed, patterned
from engine.run.jobs import jobs_of
from engine.run.servers import HEALTHY_FACTOR, Servers
from engine.run.types import Case, Outcome, Tree
from engine.spec.types import Check

PATIENCE = 0.5  # seconds that one draw may take, at least,
SLOWER = 10  # or so many times what the slowest ordinary one took
TURN = 64  # draws that are run at a time, by the code before the break,
BUDGET = 2.0  # until so many seconds are over, at least,
WORTH = 1000  # or as many as so many ordinary draws took, which is more on a machine that is busy
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
    free: Sequence[tuple[str, Check]] = (),
    close: Collection[str] = (),
    manners: Sequence[str] = ("",),
    seconds: Sequence[float],
    seed: int,
    dtype: str,
    variants: Sequence[str],
    coarse: str = "",
) -> Nearby:
    """Compare a candidate with the code before the break where numbers follow a pattern, in these
    manners, and near these numbers.

    component: the broken one. free: checks of probes that take any numbers, which may follow a pattern.
    close: components that run changed code. callers: modules that the change may ask for. seconds: what
    the ordinary draws took. coarse: a variant of the reference that keeps fewer digits.
    """
    own_checks = [check for check in checks if check[0] == component]
    stirred = patterned(free, component, seed=seed, dtype=dtype, manners=manners)
    chosen = [_made(servers, stirred)]
    if numbers or callers:
        usual = leaning(checks, numbers, seed=seed, dtype=dtype, callers=callers)
        rare = mixed(own_checks, numbers, seed=seed, dtype=dtype)
        chosen += [_chosen(servers, one, component, close) for one in (usual, rare)]
    made = joined(*(one for one, _ in chosen))
    cases = [case for _, some in chosen for case in some]
    own = _measured(servers, before, in_turn(cases, component, seed), cases, seconds)
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
        and (
            plainly(case, own[i], theirs[i], coarse)
            or not rounded(own[i], theirs[i], one, other, dtype=dtype)
        )
    }


def _made(servers: Servers, plan: Plan) -> tuple[Plan, list[Case]]:
    """Those draws of a plan that can be made as it wants them, with their inputs."""
    cases = servers.cases(plan.draws, healthy=False)
    idle = {i for i, case in enumerate(cases) if case.declined}
    return plan.without(idle), [case for case in cases if not case.declined]


def _chosen(
    servers: Servers, plan: Plan, component: str, close: Collection[str]
) -> tuple[Plan, list[Case]]:
    """Those draws of a plan that are made, and in which something leans, with their inputs."""
    wide, cases = _made(servers, plan.without(left_out(plan, component, close, most=DRAWN)))
    out = left_out(wide, component, close)
    return wide.without(out), [case for i, case in enumerate(cases) if i not in out]


def in_turn(cases: Sequence[Case], component: str, seed: int) -> list[int]:
    """The places of cases in the order in which they are run: those that follow a pattern, others of the
    broken component, the rest; each of them by lot.
    """

    def turn(i: int) -> tuple[bool, bool, int]:
        own = cases[i].draw.component == component
        return not _follows(cases[i]), not own, derive(seed, "turn", i)

    return sorted(range(len(cases)), key=turn)


def _measured(
    servers: Servers,
    before: Tree,
    places: Sequence[int],
    cases: Sequence[Case],
    seconds: Sequence[float],
) -> list[Outcome]:
    """What the code before the break gives for as many cases as there is time for, in this order."""
    found = [Outcome(stopped="not run")] * len(cases)
    patience = max(PATIENCE, SLOWER * max(seconds, default=0.0))
    until = time.monotonic() + budget(seconds)
    for turn in _turns(places):
        if time.monotonic() > until:
            break
        jobs = jobs_of([cases[i] for i in turn])
        outcomes = servers.outcomes(before, jobs, server="before", limit=patience, skips=SKIPS)
        for i, outcome in zip(turn, outcomes, strict=True):
            found[i] = outcome
    return found


def budget(seconds: Sequence[float]) -> float:
    """Seconds for all draws, by what the ordinary ones took."""
    return max(BUDGET, WORTH * sum(seconds) / max(1, len(seconds)))


def _turns(places: Sequence[int]) -> Iterator[Sequence[int]]:
    return (places[start : start + TURN] for start in range(0, len(places), TURN))


def _follows(case: Case) -> bool:
    """Whether its numbers follow a pattern."""
    return case.draw.lean is not None and case.draw.lean.kind == "pattern"
