"""Draws that are steered: their numbers come near those that a change brought into the code, or follow a
pattern, their sizes are as small as can be, or their settings are those of another regime.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from engine.judge.sampling import Drawn, Plan, derive, most_looked_at, usual_regimes
from engine.run.types import LATE, SMALL, Constraint, Draw
from engine.spec.types import Check

LARGEST_SIZE = 1100  # of a size that is brought near a number
FURTHEST = 70_000  # of one of the broken component's, where its cases say that this is quick
FEWEST, ENTRIES = 64, 200_000  # of an array, that are brought above a number
SMALLEST, LARGEST = 1e-8, 1e8  # what values are brought near
TWICE = 2  # times a number: where n // 16 begins to count,
BEYOND = 8  # and so many times, or as far as sizes go: where what ends there is seen best
VALUES = 8  # ways in which the values of an input come near a number: see leaning.py
PLACES = 10  # sizes of an input that are brought near it, at most: see leaning.py
FEW_PLACES = 4  # the same, for what takes long
PAST = 10  # more than a number that is too much for most: the first positions beyond it


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
    constraints = [Constraint("caller", name=name) for name in callers]
    for number in sorted(numbers):  # the quick ones first: what is too slow ends the run
        if number == int(number) and 2 < number <= LARGEST_SIZE:
            far = min(BEYOND * number, LARGEST_SIZE)
            sizes = sorted({number, number + 1, TWICE * number, far})
            constraints += [
                Constraint("size", size, i)
                for size in sizes
                if size <= LARGEST_SIZE
                for i in range(PLACES)
            ]
            constraints.append(Constraint("calls", number))
        elif number == int(number) and LARGEST_SIZE < number <= FURTHEST:
            size = min(number + PAST, FURTHEST + 1)
            constraints += [Constraint("size", size, i) for i in range(FEW_PLACES)]
        if number == int(number) and FEWEST < number <= ENTRIES:
            constraints += [Constraint("entries", number, i) for i in range(PLACES)]
        if SMALLEST <= number <= LARGEST:
            constraints += [Constraint("value", number, i) for i in range(VALUES)]
    checks = list(checks)
    regimes = usual_regimes(checks)
    drawn = Drawn()
    for constraint in constraints:
        call_variant = {"calls": LATE, "caller": "inside"}.get(constraint.kind, "")
        for (component, probe), regime in regimes.items():
            value = derive(seed, "near", component, probe, *msgspec.structs.astuple(constraint))
            drawn.add(Draw(component, probe, regime, value, dtype, call_variant, constraint))
    usual = [
        (name, msgspec.structs.replace(c, regimes=(regimes[name, c.probe],))) for name, c in checks
    ]
    return drawn.plan(usual, seed)


def _regimes(checks: Iterable[tuple[str, Check]]) -> dict[tuple[str, str], list[str]]:
    """Component and probe -> the regimes in which checks look at it, each once."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for component, check in checks:
        found.setdefault((component, check.probe), {}).update(dict.fromkeys(check.regimes))
    return {key: [*regimes] for key, regimes in found.items()}


EACH = 4  # draws of each regime that constraint: its sizes in turn
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
    keys = [(*key, regime) for key, regimes in _regimes(checks).items() for regime in regimes]
    drawn = Drawn()
    for number, key in enumerate(keys if values else (), 1):
        for i in range(EACH):
            value = derive(seed, "mixed", *key, i)
            constraint = _mix(random.Random(value), lengths, values, i, number % VALUES)
            drawn.add(Draw(*key, value, dtype, "", constraint))
    return drawn.plan(checks, seed)


def _mix(
    lots: random.Random, lengths: Sequence[int], values: Sequence[float], i: int, way: int
) -> Constraint:
    """A size by lot, mostly with another of the numbers as a value; a value alone where no number is a
    size.
    """
    if not lengths:
        return Constraint("value", lots.choice(values), way)
    number, times = lots.choice(lengths), lots.choice(MIXES)
    size = number + 1 if times == 1 else min(number * (times or 1), LARGEST_SIZE)
    others = [value for value in values if value != number]
    also = lots.choice(others) if others and lots.random() < TOGETHER else 0.0
    which = (i + EACH * lots.randrange(PLACES)) % PLACES
    return Constraint("size", size, which, also=also, way=way)


LEAST = (2, 1, 3, 4)  # what each size of the probe that most checks look at is brought to,
FEWER = 1  # of these, for other probes and for what takes long,
FEWER_PLACES = 4  # and so many sizes of those


def small(
    checks: Iterable[tuple[str, Check]],
    component: str,
    *,
    seed: int,
    dtype: str,
    slow: bool = False,
) -> Plan:
    """Draws in which one size after another is as small as can be, each probe in its usual regime: a
    number as small as that is in any code, and need not be brought in by the one who asks for it.

    component: the broken one; of others there are none. slow: whether its probes take long.
    """
    checks = [pair for pair in checks if pair[0] == component]
    drawn = Drawn()
    for (_, probe), regime in usual_regimes(checks).items():
        first = (component, probe) == most_looked_at(checks)
        for number in LEAST if first and not slow else LEAST[:FEWER]:
            for i in range(PLACES if first else FEWER_PLACES):
                value = derive(seed, "small", probe, number, i)
                constraint = Constraint("size", number, i, name=SMALL)
                drawn.add(Draw(component, probe, regime, value, dtype, "", constraint))
    return drawn.plan(checks, seed)


CROSSED = 36  # draws of the broken component whose settings are another regime's,
CROSSED_COSTLY = 12  # where its probes take long,


def crossed(
    checks: Iterable[tuple[str, Check]],
    component: str,
    settings: Mapping[str, Collection[str]],
    *,
    seed: int,
    dtype: str,
    call_variants: Sequence[str] = ("",),
    slow: bool = False,
) -> Plan:
    """Draws in one regime after the other, in call variants by lot, that take settings from another: each
    regime varies what it is about, and an eps other than the usual one came with three axes alone, so that
    code which forgot it for two was right.

    component: the broken one; of others there are none. settings: probe -> names of arguments that go with
    any other inputs of it. slow: whether its probes take long.
    """
    checks = [pair for pair in checks if pair[0] == component and pair[1].probe in settings]
    known = _regimes(checks)
    drawn = Drawn()
    lots = random.Random(derive(seed, "crossed", component))
    turns = itertools.cycle(known)
    into = {
        key: itertools.cycle(lots.sample(regimes, len(regimes))) for key, regimes in known.items()
    }
    for i in range((CROSSED_COSTLY if slow else CROSSED) if known else 0):
        key = next(turns)
        regime = next(into[key])
        others = [name for name in known[key] if name != regime]
        offered = tuple(lots.sample(others, len(others)))
        constraint = Constraint("settings", settings=tuple(settings[key[1]]), regimes=offered)
        value = derive(seed, "crossed", *key, i)
        drawn.add(Draw(*key, regime, value, dtype, lots.choice(call_variants), constraint, turn=i))
    return drawn.plan(checks, seed)


STIRRED = 112  # draws that follow one, of the broken component,
STIRRED_COSTLY = 42  # where its probes take long,
STIRRED_FAR = 7  # and of those that use it
ANY = 1 << 16  # more than there are patterns: they begin anew


def patterned(
    checks: Iterable[tuple[str, Check]],
    component: str,
    *,
    seed: int,
    dtype: str,
    call_variants: Sequence[str] = ("",),
    most: int = STIRRED,
) -> Plan:
    """Draws of probes in regimes and call variants by lot, whose numbers follow some pattern: see
    patterns.py.

    component: the broken one, of which there are so many (`most`); half of them of the probe that most
    checks look at.
    """
    checks = list(checks)
    regimes = _regimes(checks)
    drawn = Drawn()
    lots = random.Random(derive(seed, "patterned"))
    for own, count in ((True, most), (False, STIRRED_FAR)):
        some = [pair for pair in checks if (pair[0] == component) == own]
        keys = [key for key in regimes if (key[0] == component) == own]
        lots.shuffle(keys)
        if not keys:
            continue
        first, others = most_looked_at(some), itertools.cycle(keys)
        for i in range(count):
            if own and i % 2:
                key, which = first, i // 2
            else:  # by lot: seven probes in turn would get two of fourteen patterns each
                key, which = next(others), lots.randrange(ANY) if own else i
            regime = lots.choice(regimes[key])
            constraint = Constraint("pattern", which=which)
            value = derive(seed, "patterned", *key, i)
            drawn.add(
                Draw(*key, regime, value, dtype, lots.choice(call_variants), constraint, turn=i)
            )
    return drawn.plan(checks, seed)
