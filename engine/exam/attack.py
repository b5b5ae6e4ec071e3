"""Runs what `judge/near.py` decides upon: draws whose numbers follow a pattern, whose sizes are small, whose
settings are another regime's, or that come near numbers that a change brought into the code.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import msgspec

from engine.exam.boundary_values import (
    CALLS,
    FEW_CALLS,
    MOST,
    MOST_COSTLY,
    OTHERS,
    TIMES,
    TRIED,
    Nearby,
    apart,
    decides,
    given,
    jittered,
    left_out,
    only,
    plainly,
    rounded,
    steady,
    too_large,
    with_reference,
)
from engine.exam.targeted import (
    STIRRED,
    STIRRED_COSTLY,
    crossed,
    leaning,
    mixed,
    patterned,
    small,
)
from engine.flows.baseline import Known
from engine.judge.sampling import Costly, Plan, joined, most_looked_at
from engine.run.jobs import jobs_of
from engine.run.servers import HEALTHY_FACTOR, RunOptions, Servers
from engine.run.types import LATE, Case, Outcome, Tree
from engine.spec.types import Check

PATIENCE = 2.0  # seconds of its own that one draw may take, at least,
SLOWER = 10  # or so many times what the slowest ordinary one took
LONG_CALLS = 20.0  # seconds more for a draw that comes after many calls
SKIPS = 3  # draws that may take longer, before the rest is left
# draws in which the candidate differs that are looked at more closely: the smallest, and more where
# none of them tells
ASKED = (0, 3, 12)

Decided = tuple[Case, Outcome, Outcome]


class Aimed(msgspec.Struct, frozen=True):
    """Steered draws to choose from.

    component: the broken one. close: components that run changed code. whole: plans of which every draw is
    run. wide: plans near numbers; of each, `most` draws of the broken component, `calls` of them after many
    calls, and a few of others.
    """

    component: str
    close: frozenset[str]
    whole: tuple[Plan, ...]
    wide: tuple[Plan, ...]
    most: int
    calls: int


def aimed(
    checks: Sequence[tuple[str, Check]],
    numbers: Sequence[float],
    *,
    callers: Sequence[str] = (),
    component: str,
    free: Sequence[tuple[str, Check]] = (),
    close: frozenset[str] = frozenset(),
    costly: Costly = MappingProxyType({}),
    settings: Mapping[str, Collection[str]] = MappingProxyType({}),
    call_variants: Sequence[str] = ("",),
    seed: int,
    dtype: str,
) -> Aimed:
    """Draws whose numbers follow a pattern, or whose settings are another regime's, in these call
    variants, whose sizes are small, or that are near these numbers.

    component: the broken one. free: checks of probes that take any numbers, which may follow a pattern.
    close: components that run changed code. costly: component -> probes that take long; where most of the
    broken one's checks look at such a probe there are fewer draws. settings: probe of the broken component ->
    arguments that go with any other inputs. callers: modules that the change may ask for.
    """
    own_checks = [check for check in checks if check[0] == component]
    slow = most_looked_at(own_checks)[1] in costly.get(component, ())
    stirred = patterned(
        free, component, seed=seed, dtype=dtype, call_variants=call_variants,
        most=STIRRED_COSTLY if slow else STIRRED,
    )  # fmt: skip
    least = small(free, component, seed=seed, dtype=dtype, slow=slow)
    others = crossed(
        free, component, settings, seed=seed, dtype=dtype, call_variants=call_variants, slow=slow
    )
    whole = stirred, least, others
    wide = []
    most, calls = (MOST_COSTLY, FEW_CALLS) if slow else (MOST, CALLS)
    if numbers or callers:
        usual = leaning(checks, numbers, seed=seed, dtype=dtype, callers=callers)
        rare = mixed(own_checks, numbers, seed=seed, dtype=dtype)
        for one in (usual, rare):
            many = left_out(
                one, component, close,
                most=TIMES * most, calls=calls, others=TIMES * OTHERS, tried=TRIED,
            )  # fmt: skip
            wide.append(one.without(many))
    return Aimed(component, close, whole, tuple(wide), most, calls)


def near(
    servers: Servers,
    known: Known,
    candidate: Tree,
    aim: Aimed,
    *,
    seconds: Sequence[float],
    dtype: str,
    variants: Sequence[str],
    coarse: str = "",
) -> Nearby:
    """Compare a candidate with the code before the break in steered draws.

    seconds: what the ordinary draws took. coarse: a variant of the reference that keeps fewer digits.
    """
    made, cases = _made(servers, known, aim)
    own = _measured(servers, known, cases, max(PATIENCE, SLOWER * max(seconds, default=0.0)))
    fit = [i for i, case in enumerate(cases) if given(case, own[i])]
    limit = max(PATIENCE, HEALTHY_FACTOR * max((own[i].seconds for i in fit), default=0.0))
    theirs: dict[int, Outcome] = {}
    for some, longer in late_apart(fit, cases):
        jobs = jobs_of([cases[i] for i in some])
        found = servers.outcomes(
            candidate,
            jobs,
            server="candidate",
            limit=limit + longer,
            options=RunOptions(skips=SKIPS),
        )
        theirs |= zip(some, found, strict=True)
    ran = [i for i in fit if not too_large(theirs[i])]
    differ = sorted(
        (i for i in ran if apart(own[i], theirs[i], dtype)), key=lambda i: entries(cases[i])
    )
    decided: dict[int, Decided] = {}
    for first, last in itertools.pairwise(ASKED):
        if not decided:
            asked = {i: cases[i] for i in differ[first:last]}
            decided = _deciding(
                servers, known.tree, candidate, asked, own, theirs,
                limit=limit, dtype=dtype, variants=variants, coarse=coarse,
            )  # fmt: skip
    return Nearby(
        len(ran),
        made.without(set(range(len(cases))) - decided.keys()),
        [decided[i][0] for i in sorted(decided)],
        [decided[i][1] for i in sorted(decided)],
        [decided[i][2] for i in sorted(decided)],
        unmeasured=sum(too_large(outcome) for outcome in (*own, *theirs.values())),
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
) -> dict[int, Decided]:
    """Those in which a difference counts, with what the reference says, the code before the break and the
    candidate gave, as far as it is steady.

    own, theirs: what the code before the break and the candidate gave, by the place of the case.
    """
    answers = servers.cases([case.draw for case in differing.values()], (*variants, coarse))
    said = [
        {} if "" in answer.expected and too_large(answer.expected[""]) else answer.expected
        for answer in answers
    ]
    asked = [
        msgspec.structs.replace(case, expected=expected)
        for case, expected in zip(differing.values(), said, strict=True)
    ]
    jolted = [*map(jittered, asked)]
    moved = servers.outcomes(before, jobs_of(jolted), server="before")
    work = jobs_of([*asked, *jolted])
    again = servers.outcomes(candidate, work, server="candidate", limit=limit)
    ours = [own[i] for i in differing]
    gave = [theirs[i] for i in differing]
    found = _decided(asked, ours, moved, gave, again, dtype=dtype, coarse=coarse)
    return dict(zip(itertools.compress(differing, found), filter(None, found), strict=True))


def beside_reference(
    servers: Servers,
    tree: Tree,
    made: Plan,
    cases: Sequence[Case],
    theirs: Sequence[Outcome],
    *,
    dtype: str,
    coarse: str = "",
) -> Nearby:
    """Compare a build with the reference in steered draws.

    theirs: what the build gave for these cases, which have the reference's answers.
    """
    own = [case.expected.get("", Outcome(stopped="not run")) for case in cases]
    ran = [i for i, case in enumerate(cases) if given(case, own[i]) and not too_large(theirs[i])]
    differ = [i for i in ran if apart(own[i], theirs[i], dtype)][: ASKED[-1]]
    asked = [cases[i] for i in differ]
    jolted = [*map(jittered, asked)]
    shaken = servers.cases([case.draw for case in jolted], given=[case.inputs for case in jolted])
    moved = [case.expected[""] for case in shaken]
    again = servers.outcomes(tree, jobs_of([*asked, *jolted]))
    ours, gave = ([some[i] for i in differ] for some in (own, theirs))
    found = _decided(asked, ours, moved, gave, again, dtype=dtype, coarse=coarse)
    kept = [*itertools.compress(differ, found)]
    decided = [*filter(None, found)]
    return Nearby(
        len(ran),
        made.without({*range(len(cases))} - {*kept}),
        [case for case, _, _ in decided],
        [mine for _, mine, _ in decided],
        [other for _, _, other in decided],
        unmeasured=sum(map(too_large, theirs)),
    )


def _decided(
    asked: Sequence[Case],
    own: Sequence[Outcome],
    moved: Sequence[Outcome],
    theirs: Sequence[Outcome],
    again: Sequence[Outcome],
    *,
    dtype: str,
    coarse: str,
) -> list[Decided | None]:
    """For each case, what counts in it, or None where no difference does.

    own: what the code gave that is right. moved: the same for inputs a hundred roundings away. again: what
    the candidate gives for all cases once more, then for the moved ones.
    """
    same, shaken = again[: len(asked)], again[len(asked) :]
    decided: list[Decided | None] = []
    for case, was, ours, gave, one, other in zip(
        asked, own, moved, theirs, same, shaken, strict=True
    ):
        names = steady(was, ours, dtype)
        mine, gave = only(was, names), only(gave, names)
        if names < was.values.keys():
            if not apart(mine, gave, dtype):
                decided.append(None)
                continue
            ours = only(ours, names)
            told = {name: only(outcome, names) for name, outcome in case.expected.items()}
            case = msgspec.structs.replace(case, expected=told)
        counts = decides(case, mine, ours, gave, coarse) and (
            plainly(case, mine, gave, coarse) or not rounded(mine, gave, one, other, dtype=dtype)
        )
        decided.append((with_reference(case, mine), mine, gave) if counts else None)
    return decided


def _made(servers: Servers, known: Known, aim: Aimed) -> tuple[Plan, list[Case]]:
    """Those draws that can be made as their plans want them, with their inputs: all of some plans, and of
    each of the wide ones as many as are to be run.
    """
    plans = [*aim.whole, *aim.wide]
    every = iter(known.cases(servers, [draw for plan in plans for draw in plan.draws]))
    chosen: list[Plan] = []
    kept: list[Case] = []
    for number, plan in enumerate(plans):
        cases = list(itertools.islice(every, len(plan.draws)))
        able = plan.without({i for i, case in enumerate(cases) if case.declined})
        out = set()
        if number >= len(aim.whole):
            out = left_out(able, aim.component, aim.close, most=aim.most, calls=aim.calls)
        made = [case for case in cases if not case.declined]
        chosen.append(able.without(out))
        kept += [case for i, case in enumerate(made) if i not in out]
    return joined(*chosen), kept


def _measured(servers: Servers, known: Known, cases: Sequence[Case], limit: float) -> list[Outcome]:
    """What the code before the break gives for these cases."""
    found = [Outcome(stopped="not run")] * len(cases)
    for some, longer in late_apart(range(len(cases)), cases):
        outcomes = known.outcomes(
            servers, [cases[i] for i in some], limit=limit + longer, skips=SKIPS
        )
        for i, outcome in zip(some, outcomes, strict=True):
            found[i] = outcome
    return found


def late_apart(places: Sequence[int], cases: Sequence[Case]) -> list[tuple[list[int], float]]:
    """The places of draws that come after many calls apart from the others, last, and how many seconds more
    each of a part may take.
    """
    late = [i for i in places if cases[i].draw.call_variant == LATE]
    return [([i for i in places if i not in late], 0.0), (late, LONG_CALLS)]


def entries(case: Case) -> int:
    """How many numbers its arrays have."""
    return sum(int(getattr(value, "size", 1)) for value in case.inputs.values())
