"""Which of the draws near a number are run: most of the broken component, and each probe in turn.

Fewer can have a size that is too much for most, and which they are is seen when inputs are made; a lot
among all left the only probe that could tell without a draw in two verdicts of five.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Mapping, Sequence

from engine.exam.targeted import LARGEST_SIZE
from engine.judge.sampling import Plan, derive, most_looked_at
from engine.run.types import LATE, Draw

MOST = 64  # draws of the component that was broken,
MOST_COSTLY = 32  # where its probes take long,
OTHERS = 8  # and of others
TIMES = (
    3  # inputs are made for so many times as many: most turn out to have nothing that constraints
)
FAR = 6  # one in so many draws has a size that is too much for most,
TRIED = 160  # of so many, and more, for which inputs are made
MANY = 8  # draws at most, of the broken component, in which an array has more entries than a number says
FEW_CALLS = 2  # where its probes take long,
CALLS = 3  # draws at least, of the broken component, that come after many calls, or from elsewhere


def chosen_draws(
    plan: Plan,
    component: str,
    close: Collection[str] = (),
    *,
    most: int = MOST,
    calls: int = CALLS,
    others: int = OTHERS,
    tried: int = 0,
) -> set[Draw]:
    """So many draws of this component, and so many of others, drawn by lot; of the others those
    that are close to the change first. Half of the former are of the probe that most checks look at, which
    sees most, as are those that come after many calls (`calls`); the rest is of one probe after the other.

    tried: draws on top whose sizes are too much for most. Few probes can have such a size, and which they
    are is seen when inputs are made.
    """
    every = range(len(plan.draws))
    lots = random.Random(derive(plan.seed, "lot")).sample(every, len(every))
    checks = [(one.component, one.check) for one in plan.checks if one.component == component]
    most_seen = most_looked_at(checks) if checks else ()
    place = {i: (plan.draws[i].component, plan.draws[i].probe) for i in lots}
    main = [i for i in lots if place[i] == most_seen]
    more = [i for i in lots if place[i] != most_seen and place[i][0] == component]
    first = _woven(main, _probe_by_probe(more, place))
    kept = [i for i in (*main, *more) if plan.draws[i].call_variant == LATE][:calls]
    kept += [i for i in first if plan.draws[i].call_variant == "inside"][:CALLS]
    kept += [i for i in first if _many(plan.draws[i])][:MANY]
    far = _probe_by_probe([i for i in first if _far(plan.draws[i])], place)
    kept += far[: most // FAR]
    rest = [i for i in lots if place[i][0] != component]
    rest = [i for i in rest if not _far(plan.draws[i]) and not _many(plan.draws[i])]
    rest = [i for i in rest if plan.draws[i].call_variant != LATE or place[i][0] in close]
    rest.sort(key=lambda i: place[i][0] not in close)
    usual = [i for i in first if i not in kept and plan.draws[i].call_variant != LATE]
    usual.sort(key=lambda i: _far(plan.draws[i]))  # no more of those while there are others
    chosen = {*[*kept, *usual][:most], *far[:tried], *rest[:others]}
    return {plan.draws[i] for i in chosen}


def _probe_by_probe(places: Sequence[int], probes: Mapping[int, object]) -> list[int]:
    """The first place of each probe, then the second of each, and so on."""
    some: dict[object, list[int]] = {}
    for i in places:
        some.setdefault(probes[i], []).append(i)
    return _woven(*some.values())


def _woven(*some: Sequence[int]) -> list[int]:
    """The first of each, then the second of each, and so on."""
    return [i for turn in itertools.zip_longest(*some) for i in turn if i is not None]


def _many(draw: Draw) -> bool:
    """Whether an array has more entries than a number says."""
    return draw.constraint is not None and draw.constraint.kind == "entries"


def _far(draw: Draw) -> bool:
    """Whether a size has to be too much for most."""
    return (
        draw.constraint is not None
        and draw.constraint.kind == "size"
        and draw.constraint.number > LARGEST_SIZE
    )
