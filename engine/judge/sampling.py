"""Which inputs a judgement draws: seeds from one master seed, regimes from the specs."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from engine.run.types import Draw
from engine.spec.types import Check

FIX_DRAWS = 24  # unseen draws at least, over the regimes of each probe that a break stands on
USUAL_REGIME = "normal"
SEEDS = 3  # draws a symptom of a break and regime
OWN_DRAWS = 8  # the same, for other probes of the broken component
COSTLY_DRAWS = 4  # and for those that take long
COSTLY_REPEATS = 24  # calls of those before the one that counts, in the call variant "late"


Costly = Mapping[str, Collection[str]]  # component -> its probes that take long


class Planned(msgspec.Struct, frozen=True):
    """A check of a component, and the draws that it looks at."""

    component: str
    check: Check
    draws: tuple[Draw, ...]


class Plan(msgspec.Struct, frozen=True):
    """All draws of one judgement, each once, in the order in which they are run, and the checks that look at
    them.
    """

    draws: tuple[Draw, ...]
    checks: tuple[Planned, ...]
    seed: int

    def compared(self) -> list[tuple[str, ...]]:
        """For each draw, what `compared` gives of the checks that look at it."""
        looking: dict[Draw, list[Check]] = {draw: [] for draw in self.draws}
        for planned in self.checks:
            for draw in planned.draws:
                looking[draw].append(planned.check)
        return [compared(looking[draw]) for draw in self.draws]

    def only(self, kept: Collection[Draw]) -> Plan:
        """The plan with these draws alone, and without the checks that had no others."""
        checks = [
            msgspec.structs.replace(one, draws=tuple(d for d in one.draws if d in kept))
            for one in self.checks
        ]
        draws = tuple(draw for draw in self.draws if draw in kept)
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
    call_variants: Sequence[str] = ("",),
    sparing: Collection[str] = (),
    last: str = "",
) -> Plan:
    """Draw each (probe, regime) once for all the checks that share it.

    at_least: draws of some probes, by name, spread over their regimes where the checks ask for fewer.
    sparing: probes of which regimes that are not the usual one get one draw, where checks ask for more.
    call_variants: how the draws of each probe are given to the learner's code, in turn. last: a
    call_variant of which there is one more draw, at the end, of the probe that most checks look at.
    """
    checks = list(checks)
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for component, check in checks:
        regimes = counts.setdefault((component, check.probe), {})
        for regime in check.regimes:
            regimes[regime] = max(regimes.get(regime, 0), check.draws)
    often = usual_regimes(checks)
    drawn = Drawn()
    turns: Counter[tuple[str, str]] = Counter()
    for (component, probe), regimes in counts.items():
        turn = itertools.cycle(call_variants)
        usual = often[component, probe]
        wanted = _spread(regimes, usual, at_least.get(probe, 0), probe in sparing)
        for regime, count in wanted.items():
            for i in range(count):
                value = derive(seed, component, probe, regime, i)
                call_variant = next(turn)
                here = turns[component, call_variant]
                turns[component, call_variant] += 1
                drawn.add(Draw(component, probe, regime, value, dtype, call_variant, turn=here))
    if last and counts:
        component, probe = most_looked_at(checks)
        regime = next(iter(counts[component, probe]))
        value = derive(seed, component, probe, regime, last)
        repeats = COSTLY_REPEATS if probe in sparing else 0
        drawn.add(Draw(component, probe, regime, value, dtype, last, repeats=repeats))
    return drawn.plan(checks, seed)


def _spread(asked: Mapping[str, int], usual: str, least: int, sparing: bool) -> dict[str, int]:
    """How many draws each regime of a probe gets, so many (`least`) in all.

    sparing: whether those that are not the usual one get no more than it takes to come to that.
    """
    if not sparing:
        each = -(-least // len(asked))
        return {regime: max(count, each) for regime, count in asked.items()}
    each = max(1, least // len(asked))
    rest = least - each * (len(asked) - 1)
    return {**dict.fromkeys(asked, each), usual: max(asked[usual], rest)}


class Drawn:
    """Draws as they are made; a plan of them has the checks that look at their probe and regime."""

    def __init__(self) -> None:
        self._by_regime: dict[tuple[str, str, str], list[Draw]] = {}
        self._draws: list[Draw] = []

    def add(self, draw: Draw) -> None:
        """One draw more."""
        key = draw.component, draw.probe, draw.regime
        self._by_regime.setdefault(key, []).append(draw)
        self._draws.append(draw)

    def plan(self, checks: Iterable[tuple[str, Check]], seed: int) -> Plan:
        """All of them, and the checks that look at some."""
        planned = []
        for component, check in checks:
            some = [self._by_regime.get((component, check.probe, r), []) for r in check.regimes]
            if any(some):
                draws = tuple(itertools.chain.from_iterable(some))
                planned.append(Planned(component, check, draws))
        return Plan(tuple(self._draws), tuple(planned), seed)


def compared(checks: Iterable[Check]) -> tuple[str, ...]:
    """The recorded names that some of these checks compare; () where one compares all, or none any.

    What no check looks at may be 0 up to rounding in this regime, and another 0 in the next run.
    """
    names = [set(check.values) for check in checks if "value" in check.aspects]
    return tuple(sorted(set().union(*names))) if all(names) else ()


def once(checks: Iterable[tuple[str, Check]]) -> list[tuple[str, Check]]:
    """The same checks, each with one draw a regime."""
    return [(name, msgspec.structs.replace(check, draws=1)) for name, check in checks]


def varied(
    checks: Iterable[tuple[str, Check]], variants: Sequence[str], *, seed: int, dtype: str
) -> Plan:
    """Two draws for each call variant, in the usual regime of the probe that most checks look at: at an even
    turn and at the odd one after it, by which some variants differ. A special regime may hide what a variant
    shows: one of zeros hid an optimiser that updates copies of column-major arrays.
    """
    checks = list(checks)
    component, probe = most_looked_at(checks)
    regime = usual_regimes(checks)[component, probe]
    drawn = Drawn()
    for variant in variants:
        even = derive(seed, component, probe, regime, variant) % 4 * 2
        for odd in (0, 1):
            value = derive(seed, component, probe, regime, variant, odd)
            turn = even + odd
            drawn.add(Draw(component, probe, regime, value, dtype, variant, turn=turn))
    return drawn.plan(checks, seed)


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


def some_probes(
    checks: Iterable[tuple[str, Check]],
    most: int,
    *,
    seed: int,
    costly: Costly = MappingProxyType({}),
    foremost: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[tuple[str, Check]]:
    """So many probes of each component, each in its usual regime, and the checks that look at them: those
    that are foremost, the one that most look at, and others by lot, quick ones before costly ones.
    """
    checks = usual(checks)
    kept: set[tuple[str, str]] = set()
    for component in dict.fromkeys(name for name, _ in checks):
        own = [pair for pair in checks if pair[0] == component]
        probes = {(name, check.probe) for name, check in own}
        named = [(component, probe) for probe in foremost.get(component, ())]
        first = dict.fromkeys([*(key for key in named if key in probes), most_looked_at(own)])
        others = sorted(
            probes - first.keys(),
            key=lambda key: (key[1] in costly.get(key[0], ()), derive(seed, "probe", *key)),
        )
        kept |= {*[*first, *others][:most]}
    return [pair for pair in checks if (pair[0], pair[1].probe) in kept]


def thinned(whole: Plan, usual: Mapping[tuple[str, str], str], costly: Costly, most: int) -> Plan:
    """A plan with so many draws (`most`) of the costly probes of each component, by lot, beside those in
    the usual regime of a probe.
    """
    seen: Counter[str] = Counter()
    out = set()
    order = sorted(range(len(whole.draws)), key=lambda i: derive(whole.seed, "lot", i))
    for draw in (whole.draws[i] for i in order):
        usually = draw.regime == usual[draw.component, draw.probe]
        if not usually and draw.probe in costly.get(draw.component, ()):
            seen[draw.component] += 1
            if seen[draw.component] > most:
                out.add(draw)
    return whole.only({*whole.draws} - out)


def usual_regimes(checks: Iterable[tuple[str, Check]]) -> dict[tuple[str, str], str]:
    """For each (component, probe): "normal" where there is one, else what its checks name first."""
    regimes: dict[tuple[str, str], str] = {}
    for component, check in checks:
        key = component, check.probe
        if USUAL_REGIME in check.regimes:
            regimes[key] = USUAL_REGIME
        regimes.setdefault(key, check.regimes[0])
    return regimes


def joined(*plans: Plan) -> Plan:
    """All plans as one, of the first one's seed; a draw that several have is made once."""
    draws = dict.fromkeys(draw for one in plans for draw in one.draws)
    checks = [planned for one in plans for planned in one.checks]
    return Plan(tuple(draws), tuple(checks), plans[0].seed)
