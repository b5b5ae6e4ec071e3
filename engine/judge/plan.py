"""Which inputs a judgement draws: seeds from one master seed, regimes from the specs."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from engine.run.types import LATE, Draw, Lean
from engine.spec.types import Check

LARGEST_SIZE = 1100  # of a size that is brought near a number
FURTHEST = 70_000  # of one of the broken component's, where its cases say that this is quick
SMALLEST, LARGEST = 1e-8, 1e8  # what values are brought near
FIX_DRAWS = 24  # unseen draws at least, over the regimes of each probe that a break stands on
SEEDS = 3  # draws a symptom of a break and regime
OWN_DRAWS = 8  # the same, for other probes of the broken component


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

    def compared(self) -> list[tuple[str, ...]]:
        """For each draw, what `compared` gives of the checks that look at it."""
        looking: list[list[Check]] = [[] for _ in self.draws]
        for planned in self.checks:
            for i in planned.draws:
                looking[i].append(planned.check)
        return [compared(checks) for checks in looking]

    def without(self, dropped: Collection[int]) -> Plan:
        """The plan without some draws (by position), and without the checks that had no others."""
        kept = [i for i in range(len(self.draws)) if i not in dropped]
        place = {old: new for new, old in enumerate(kept)}
        checks = [
            msgspec.structs.replace(one, draws=tuple(place[i] for i in one.draws if i in place))
            for one in self.checks
        ]
        draws = tuple(self.draws[i] for i in kept)
        return Plan(draws, tuple(one for one in checks if one.draws), self.seed)


def derive(master: int, *parts: object) -> int:
    """A seed of 63 bits for one draw, the same for the same master seed and parts."""
    text = "/".join(str(part) for part in (master, *parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def plan(
    checks: Iterable[tuple[str, Check]],
    *,
    seed: int,
    dtype: str,
    at_least: Mapping[str, int] = {},
    manners: Sequence[str] = ("",),
    last: str = "",
) -> Plan:
    """Draw each (probe, regime) once for all the checks that share it.

    at_least: draws of some probes, by name, spread over their regimes where the checks ask for fewer.
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
    turns: Counter[tuple[str, str]] = Counter()
    for (component, probe), regimes in counts.items():
        each = -(-at_least.get(probe, 0) // len(regimes))
        turn = itertools.cycle(manners)
        for regime, count in regimes.items():
            for i in range(max(count, each)):
                value = derive(seed, component, probe, regime, i)
                places.setdefault((component, probe, regime), []).append(len(draws))
                manner = next(turn)
                here = turns[component, manner]
                turns[component, manner] += 1
                draws.append(Draw(component, probe, regime, value, dtype, manner, turn=here))
    if last and counts:
        component, probe = most_looked_at(checks)
        regime = next(iter(counts[component, probe]))
        places[component, probe, regime].append(len(draws))
        value = derive(seed, component, probe, regime, last)
        draws.append(Draw(component, probe, regime, value, dtype, last))
    return Plan(tuple(draws), tuple(_looking(checks, places)), seed)


def _looking(
    checks: Iterable[tuple[str, Check]], places: Mapping[tuple[str, str, str], Sequence[int]]
) -> Iterator[Planned]:
    """Each check with the draws of its probe and regimes. places: of the draws, by component, probe and
    regime.
    """
    for component, check in checks:
        found = (places.get((component, check.probe, regime), ()) for regime in check.regimes)
        yield Planned(component, check, tuple(itertools.chain.from_iterable(found)))


def compared(checks: Iterable[Check]) -> tuple[str, ...]:
    """The recorded names that some of these checks compare; () where one compares all, or none any.

    What no check looks at may be 0 up to rounding in this regime, and another 0 in the next run.
    """
    names = [set(check.values) for check in checks if "value" in check.aspects]
    return tuple(sorted(set().union(*names))) if all(names) else ()


def most_looked_at(checks: Iterable[tuple[str, Check]]) -> tuple[str, str]:
    """The component and the probe that most checks look at."""
    seen = Counter((component, check.probe) for component, check in checks)
    return max(seen, key=lambda key: seen[key])


def usual(checks: Iterable[tuple[str, Check]]) -> list[tuple[str, Check]]:
    """Each probe in one regime, and the checks that look at it there."""
    checks = list(checks)
    regimes = usual_regimes(checks)
    return [
        (component, msgspec.structs.replace(check, regimes=(regimes[component, check.probe],)))
        for component, check in checks
        if regimes[component, check.probe] in check.regimes
    ]


def usual_regimes(checks: Iterable[tuple[str, Check]]) -> dict[tuple[str, str], str]:
    """For each (component, probe): "normal" where there is one, else what its checks name first."""
    regimes: dict[tuple[str, str], str] = {}
    for component, check in checks:
        key = component, check.probe
        if "normal" in check.regimes:
            regimes[key] = "normal"
        regimes.setdefault(key, check.regimes[0])
    return regimes


SIZES = ((1, 0), (1, 1), (8, 0))  # times, and plus: the last of its kind, the first, and far beyond
VALUES = 8  # ways in which the values of an input come near a number: see leaning.py
PLACES = 10  # sizes of an input that are brought near it, at most: see leaning.py
FEW_PLACES = 4  # the same, for what takes long


def leaning(
    checks: Iterable[tuple[str, Check]],
    numbers: Sequence[float],
    *,
    seed: int,
    dtype: str,
    callers: Sequence[str] = (),
) -> Plan:
    """Draws near numbers that a change brought into the code: sizes, values and counts of calls; and
    calls from modules of the names `callers`.

    Each probe in its usual regime.
    """
    leans = [Lean("caller", name=name) for name in callers]
    for number in sorted(numbers):  # the quick ones first: what is too slow ends the run
        if number == int(number) and 2 < number <= LARGEST_SIZE:
            sizes = [number * times + more for times, more in SIZES]
            leans += [
                Lean("size", size, i)
                for size in sizes
                if size <= LARGEST_SIZE
                for i in range(PLACES)
            ]
            leans += [Lean("calls", number, 0), Lean("calls", number, 1)]
        elif number == int(number) and LARGEST_SIZE < number <= FURTHEST:
            leans += [Lean("size", number + 1, i) for i in range(FEW_PLACES)]
        if SMALLEST <= number <= LARGEST:
            leans += [Lean("value", number, i) for i in range(VALUES)]
    checks = list(checks)
    regimes = usual_regimes(checks)
    draws: list[Draw] = []
    places: dict[tuple[str, str], list[int]] = {key: [] for key in regimes}
    for lean in leans:
        manner = {"calls": LATE, "caller": "inside"}.get(lean.kind, "")
        for (component, probe), regime in regimes.items():
            value = derive(seed, "near", component, probe, *msgspec.structs.astuple(lean))
            places[component, probe].append(len(draws))
            draws.append(Draw(component, probe, regime, value, dtype, manner, lean))
    planned = [
        Planned(component, check, tuple(places[component, check.probe]))
        for component, check in checks
    ]
    return Plan(tuple(draws), tuple(planned), seed)


EACH = 4  # draws of each regime that lean: its sizes in turn
TOGETHER = 0.8  # how often a size comes with a value
MIXES = (1, 1, 1, 0, 8)  # times a number, and one more where it is 1: how far a size goes, by lot


def mixed(
    checks: Iterable[tuple[str, Check]], numbers: Sequence[float], *, seed: int, dtype: str
) -> Plan:
    """Draws of every regime near numbers that a change brought into the code, a size and a value at a
    time: for what needs both, or a regime that is not the usual one.
    """
    lengths = [int(n) for n in numbers if n == int(n) and 2 < n < LARGEST_SIZE]
    values = [number for number in numbers if SMALLEST <= number <= LARGEST]
    checks = list(checks)
    draws: list[Draw] = []
    places: dict[tuple[str, str, str], list[int]] = {}
    for component, check in checks:
        for regime in check.regimes:
            key = component, check.probe, regime
            if key in places or not values:
                continue
            places[key] = []
            for i in range(EACH):
                value = derive(seed, "mixed", *key, i)
                places[key].append(len(draws))
                lean = _mix(random.Random(value), lengths, values, i, len(places) % VALUES)
                draws.append(Draw(component, check.probe, regime, value, dtype, "", lean))
    planned = tuple(one for one in _looking(checks, places) if one.draws)
    return Plan(tuple(draws), planned, seed)


def _mix(
    lots: random.Random, lengths: Sequence[int], values: Sequence[float], i: int, way: int
) -> Lean:
    """A size by lot, mostly with another of the numbers as a value; a value alone where no number is a
    size.
    """
    if not lengths:
        return Lean("value", lots.choice(values), way)
    number, times = lots.choice(lengths), lots.choice(MIXES)
    size = number + 1 if times == 1 else min(number * (times or 1), LARGEST_SIZE)
    others = [value for value in values if value != number]
    also = lots.choice(others) if others and lots.random() < TOGETHER else 0.0
    which = (i + EACH * lots.randrange(PLACES)) % PLACES
    return Lean("size", size, which, also=also, way=way)


STIRRED = 112  # draws that follow one, of the broken component,
STIRRED_FAR = 24  # and of those that use it


def patterned(
    checks: Iterable[tuple[str, Check]],
    component: str,
    *,
    seed: int,
    dtype: str,
    manners: Sequence[str] = ("",),
) -> Plan:
    """Draws of probes in regimes and manners by lot, whose numbers follow each pattern in turn: see
    patterns.py.

    component: the broken one, of which there are more; half of them of the probe that most checks look at.
    """
    checks = list(checks)
    regimes: dict[tuple[str, str], list[str]] = {}
    for name, check in checks:
        known = regimes.setdefault((name, check.probe), [])
        known += [regime for regime in check.regimes if regime not in known]
    draws: list[Draw] = []
    places: dict[tuple[str, str, str], list[int]] = {}
    lots = random.Random(derive(seed, "patterned"))
    for own, count in ((True, STIRRED), (False, STIRRED_FAR)):
        some = [pair for pair in checks if (pair[0] == component) == own]
        keys = [key for key in regimes if (key[0] == component) == own]
        lots.shuffle(keys)
        if not keys:
            continue
        first, others = most_looked_at(some), itertools.cycle(keys)
        for i in range(count):
            key = first if own and i % 2 else next(others)
            regime = lots.choice(regimes[key])
            lean = Lean("pattern", which=i // 2 if own else i)
            value = derive(seed, "patterned", *key, i)
            places.setdefault((*key, regime), []).append(len(draws))
            draws.append(Draw(*key, regime, value, dtype, lots.choice(manners), lean, turn=i))
    planned = tuple(one for one in _looking(checks, places) if one.draws)
    return Plan(tuple(draws), planned, seed)


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
