"""Runs what `judge/near.py` decides upon: draws whose numbers follow a pattern, or come near those that a
change brought into the code.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from engine.judge.near import (
    MOST,
    MOST_COSTLY,
    OTHERS,
    TIMES,
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
from engine.judge.plan import Costly, Plan, derive, joined, most_looked_at
from engine.judge.steered import STIRRED, STIRRED_COSTLY, leaning, mixed, patterned
from engine.run.jobs import jobs_of
from engine.run.servers import HEALTHY_FACTOR, Servers
from engine.run.types import Case, Outcome, Tree
from engine.spec.types import Check

PATIENCE = 0.5  # seconds that one draw may take, at least,
SLOWER = 10  # or so many times what the slowest ordinary one took
TURN = 128  # draws that are run at a time, by the code before the break,
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
    costly: Costly = MappingProxyType({}),
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
    close: components that run changed code. costly: component -> probes that take long; where most of the
    broken one's checks look at such a probe there are fewer draws. callers: modules that the change may
    ask for. seconds: what the ordinary draws took. coarse: a variant of the reference that keeps fewer
    digits.
    """
    own_checks = [check for check in checks if check[0] == component]
    slow = most_looked_at(own_checks)[1] in costly.get(component, ())
    stirred = patterned(
        free, component, seed=seed, dtype=dtype, manners=manners,
        most=STIRRED_COSTLY if slow else STIRRED,
    )  # fmt: skip
    wide = [stirred]
    most = MOST_COSTLY if slow else MOST
    if numbers or callers:
        usual = leaning(checks, numbers, seed=seed, dtype=dtype, callers=callers)
        rare = mixed(own_checks, numbers, seed=seed, dtype=dtype)
        for one in (usual, rare):
            many = left_out(one, component, close, most=TIMES * most, others=TIMES * OTHERS)
            wide.append(one.without(many))
    made, cases = _made(servers, wide, component, close, most)
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


def _made(
    servers: Servers, plans: Sequence[Plan], component: str, close: Collection[str], most: int
) -> tuple[Plan, list[Case]]:
    """Those draws that can be made as their plans want them, with their inputs: all of the first, and of
    each of the others as many as are to be run.
    """
    every = iter(servers.cases([draw for plan in plans for draw in plan.draws], healthy=False))
    chosen: list[Plan] = []
    kept: list[Case] = []
    for plan in plans:
        cases = list(itertools.islice(every, len(plan.draws)))
        able = plan.without({i for i, case in enumerate(cases) if case.declined})
        out = left_out(able, component, close, most=most) if chosen else set()
        made = [case for case in cases if not case.declined]
        chosen.append(able.without(out))
        kept += [case for i, case in enumerate(made) if i not in out]
    return joined(*chosen), kept


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
