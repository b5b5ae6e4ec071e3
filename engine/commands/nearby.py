"""Runs what `judge/near.py` decides upon: draws near the numbers that a change brought into the code."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from engine.judge.near import (
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
from engine.judge.plan import joined, leaning, mixed
from engine.run.servers import HEALTHY_FACTOR, Servers, jobs_of
from engine.run.types import Tree
from engine.spec.types import Check

PATIENCE = 3.0  # seconds for one draw, by the code before the break
ASKED = 12  # draws in which the candidate differs, that are looked at more closely


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
    seed: int,
    dtype: str,
    variants: Sequence[str],
) -> Nearby:
    """Compare a candidate with the code before the break near these numbers.

    component: the broken one. close: those that run changed code. callers: modules that the change may
    ask for.
    """
    usual = leaning(checks, numbers, seed=seed, dtype=dtype, callers=callers)
    own_checks = [check for check in checks if check[0] == component]
    rare = mixed(own_checks, numbers, seed=seed, dtype=dtype)
    made = joined(*(one.without(left_out(one, component, close)) for one in (usual, rare)))
    cases = servers.cases(made.draws, healthy=False)
    own = servers.outcomes(before, jobs_of(cases), server="before", limit=PATIENCE)
    fit = [i for i, case in enumerate(cases) if given(case, own[i])]
    limit = max(PATIENCE, HEALTHY_FACTOR * max((own[i].seconds for i in fit), default=0.0))
    found = servers.outcomes(
        candidate, jobs_of([cases[i] for i in fit]), server="candidate", limit=limit
    )
    theirs = dict(zip(fit, found, strict=True))
    ran = [i for i in fit if not too_large(theirs[i])]
    differ = [i for i in ran if apart(own[i], theirs[i], dtype)][:ASKED]
    told = servers.cases([made.draws[i] for i in differ], variants)
    asked = {
        i: msgspec.structs.replace(cases[i], expected=case.expected)
        for i, case in zip(differ, told, strict=True)
    }
    jolted = [*map(jittered, asked.values())]
    moved = servers.outcomes(before, jobs_of(jolted), server="before")
    once_more = jobs_of([*asked.values(), *jolted])
    again = servers.outcomes(candidate, once_more, server="candidate", limit=limit)
    same, shaken = again[: len(asked)], again[len(asked) :]
    decided = {
        i: with_reference(case, own[i])
        for (i, case), ours, one, other in zip(asked.items(), moved, same, shaken, strict=True)
        if decides(case, own[i], ours) and not rounded(own[i], theirs[i], one, other, dtype=dtype)
    }
    return Nearby(
        len(ran),
        made.without(set(range(len(cases))) - decided.keys()),
        list(decided.values()),
        [own[i] for i in decided],
        [theirs[i] for i in decided],
    )
