"""Draws near the numbers that a change brought into the code, and which of them can decide.

A verdict near such a number has to be as right as any other. So a difference counts there only where
the code before the break gives finite values, the reference gives the same, and numbers that are a
hundred roundings away give the same too.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from engine.judge.compare import difference
from engine.judge.plan import Plan, derive, leaning
from engine.run.servers import HEALTHY_FACTOR, Servers, jobs_of
from engine.run.types import LATE, Case, Outcome, Tree, Values
from engine.spec.types import Check

MOST = 160  # draws, half of them of the component that was broken
CALLS = 4  # draws at least, of the broken component, that come after many calls, or from elsewhere
PATIENCE = 3.0  # seconds for one, by the code before the break
ROUNDINGS = 100
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
    seed: int,
    dtype: str,
    variants: Sequence[str],
) -> tuple[int, Plan, list[Case], list[Outcome], list[Outcome]]:
    """How many draws were compared, and a plan of those in which the candidate differs: its cases with
    the reference's answers, what the code before the break gave, and what the candidate.

    component: the broken one. callers: modules that the change may ask for.
    """
    wanted = leaning(checks, numbers, seed=seed, dtype=dtype, callers=callers)
    made = wanted.without(_left_out(wanted, component))
    cases = servers.cases(made.draws, healthy=False)
    own = servers.outcomes(before, jobs_of(cases), server="before", limit=PATIENCE)
    fit = [i for i, case in enumerate(cases) if not case.declined and _given(own[i])]
    limit = max(PATIENCE, HEALTHY_FACTOR * max((own[i].seconds for i in fit), default=0.0))
    found = servers.outcomes(
        candidate, jobs_of([cases[i] for i in fit]), server="candidate", limit=limit
    )
    theirs = dict(zip(fit, found, strict=True))
    ran = [i for i in fit if not _too_large(theirs[i])]
    apart = [i for i in ran if difference(own[i], theirs[i], dtype=dtype) is not None][:ASKED]
    told = servers.cases([made.draws[i] for i in apart], variants)
    asked = {
        i: msgspec.structs.replace(cases[i], expected=case.expected)
        for i, case in zip(apart, told, strict=True)
    }
    moved = servers.outcomes(before, jobs_of([*map(_jittered, asked.values())]), server="before")
    decided = {
        i: _with_reference(case, own[i])
        for (i, case), again in zip(asked.items(), moved, strict=True)
        if _decides(case, own[i], again)
    }
    rest = made.without(set(range(len(cases))) - decided.keys())
    return (
        len(ran),
        rest,
        list(decided.values()),
        [own[i] for i in decided],
        [theirs[i] for i in decided],
    )


def _left_out(plan: Plan, component: str) -> set[int]:
    """All but MOST draws, drawn by lot."""
    lots = sorted(range(len(plan.draws)), key=lambda i: derive(plan.seed, "lot", i))
    first = [i for i in lots if plan.draws[i].component == component]
    calls = [i for i in first if plan.draws[i].manner == LATE][:CALLS]
    calls += [i for i in first if plan.draws[i].manner == "inside"][:CALLS]
    first = [*calls, *(i for i in first if i not in calls)][: MOST // 2]
    others = [i for i in lots if plan.draws[i].component != component][: MOST - len(first)]
    return set(lots) - {*first, *others}


def _given(own: Outcome) -> bool:
    """Whether the code before the break gave finite values."""
    return not (own.stopped or own.raised) and all(map(_finite, own.values.values()))


def _too_large(outcome: Outcome) -> bool:
    """Whether a candidate had not the time, the memory or the stack for an input, which no contract
    promises: code that goes number by number may be right and slow.
    """
    short = outcome.raised is not None and outcome.raised.type in ("MemoryError", "RecursionError")
    return short or outcome.stopped in ("timeout", "not run")


def _finite(value: object) -> bool:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return bool(np.isfinite(value).all())
    return not isinstance(value, float) or bool(np.isfinite(value))


def _decides(case: Case, own: Outcome, moved: Outcome) -> bool:
    """Whether this input tells right from wrong, and not one rounding from another.

    Where the input is so large that the reference does not answer in time, the code before the break
    stands for it: a large size is as legal as a small one.
    """
    dtype = case.draw.dtype
    if difference(own, moved, dtype=dtype, aspects=("raised", "value")) is not None:
        return False
    reference, lean = case.expected.get(""), case.draw.lean
    if reference is None:
        return lean is not None and lean.kind == "size"
    return difference(reference, own, dtype=dtype) is None


def _with_reference(case: Case, own: Outcome) -> Case:
    return case if "" in case.expected else msgspec.structs.replace(case, expected={"": own})


def _jittered(case: Case) -> Case:
    """The same case, its arrays a few roundings away."""
    rng = np.random.default_rng(case.draw.seed)

    def moved(value: object) -> object:
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return value
        step = ROUNDINGS * np.finfo(value.dtype).eps
        return (value * (1 + step * rng.uniform(-1, 1, value.shape))).astype(value.dtype)

    inputs: Values = {name: moved(value) for name, value in case.inputs.items()}
    return msgspec.structs.replace(case, inputs=inputs)
