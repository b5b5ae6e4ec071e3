"""Which inputs a judgement draws: seeds from one master seed, regimes from the specs."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from engine.run.types import Draw
from engine.spec.types import Check

FIX_DRAWS = 24  # unseen draws at least, over the regimes of each probe of the broken component


class Planned(msgspec.Struct, frozen=True):
    """A check of a component, and the draws it looks at (by position in the plan's list)."""

    component: str
    check: Check
    draws: tuple[int, ...]


class Plan(msgspec.Struct, frozen=True):
    """All draws of one judgement, each once, and the checks that look at them."""

    draws: tuple[Draw, ...]
    checks: tuple[Planned, ...]
    seed: int


def derive(master: int, *parts: object) -> int:
    """A seed of 63 bits for one draw, the same for the same master seed and parts."""
    text = "/".join(str(part) for part in (master, *parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def plan(
    checks: Iterable[tuple[str, Check]],
    *,
    seed: int,
    dtype: str,
    at_least: int = 0,
    manners: Sequence[str] = ("",),
    last: str = "",
) -> Plan:
    """Draw each (probe, regime) once for all the checks that share it.

    at_least: draws for each probe, spread over its regimes, on top of what the checks ask.
    manners: how the draws of each probe are given to the learner's code, in turn. last: a
    manner of which there is one more draw, at the end, of the probe that most checks look at.
    """
    checks = list(checks)
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for component, check in checks:
        regimes = counts.setdefault((component, check.probe), {})
        for regime in check.regimes:
            regimes[regime] = max(regimes.get(regime, 0), check.draws)
    draws: list[Draw] = []
    places: dict[tuple[str, str, str], list[int]] = {}
    for (component, probe), regimes in counts.items():
        each = -(-at_least // len(regimes))
        turn = itertools.cycle(manners)
        for regime, count in regimes.items():
            for i in range(max(count, each)):
                value = derive(seed, component, probe, regime, i)
                places.setdefault((component, probe, regime), []).append(len(draws))
                draws.append(Draw(component, probe, regime, value, dtype, next(turn)))
    if last and counts:
        seen = Counter((component, check.probe) for component, check in checks)
        component, probe = max(seen, key=lambda key: seen[key])
        regime = next(iter(counts[component, probe]))
        places[component, probe, regime].append(len(draws))
        value = derive(seed, component, probe, regime, last)
        draws.append(Draw(component, probe, regime, value, dtype, last))
    planned = [
        Planned(
            component,
            check,
            tuple(i for r in check.regimes for i in places[component, check.probe, r]),
        )
        for component, check in checks
    ]
    return Plan(tuple(draws), tuple(planned), seed)


def joined(*plans: Plan) -> Plan:
    """All plans as one, of the first one's seed."""
    draws: list[Draw] = []
    checks: list[Planned] = []
    for one in plans:
        shift = len(draws)
        draws += one.draws
        for planned in one.checks:
            moved = tuple(i + shift for i in planned.draws)
            checks.append(msgspec.structs.replace(planned, draws=moved))
    return Plan(tuple(draws), tuple(checks), plans[0].seed)
