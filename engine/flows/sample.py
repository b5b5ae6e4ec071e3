"""The inputs that a fix is judged on, by its level: few of each kind at practice, many at exam."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from engine.flows.measuring import component_probe
from engine.flows.scope import Checks, Scope
from engine.judge.sampling import (
    COSTLY_DRAWS,
    FIX_DRAWS,
    OWN_DRAWS,
    Plan,
    joined,
    most_looked_at,
    once,
    plan,
    some_probes,
    thinned,
    usual,
    usual_regimes,
    varied,
)
from engine.run.types import LATE
from engine.spec.types import Break, Check

FAR_COSTLY = 4  # of probes that take long of what does not use it itself, beside the usual regimes
FAR_PROBES = 4  # of a component that the fix reaches through others alone, or merely imports


def sample(scope: Scope) -> Plan:
    """The draws of a verdict, by its level; where no code differs, one that shows that it still runs."""
    if not scope.impact.changed:
        first = most_looked_at(scope.own)
        (regime,) = [r for key, r in usual_regimes(scope.own).items() if key == first]
        checks = [
            (name, replace(check, regimes=(regime,)))
            for name, check in scope.own
            if (name, check.probe) == first and regime in check.regimes
        ]
        return plan(once(checks), seed=scope.seed, dtype=scope.dtype)
    return _close_sample(scope) if scope.level.draws == 1 else _wide_sample(scope)


def _close_sample(scope: Scope) -> Plan:
    """Each regime of the broken component once, each call variant twice, and one usual draw of each probe of
    what uses it itself or runs changed code; never fewer than FIX_DRAWS. Of probes that take long, the
    usual regime, but for those that the break stands on; in other components, one such probe at most.
    """
    drawn = partial(plan, seed=scope.seed, dtype=scope.dtype)
    stood_on = {*_stood_on(scope.spec, scope.own)}
    slow = {*scope.slow[scope.impact.broken]} - stood_on
    quick = [pair for pair in scope.own if pair[1].probe not in slow]
    brief = usual(pair for pair in scope.own if pair[1].probe in slow)
    variants = scope.level.variants(scope.catalogue.contract)
    rest = joined(
        drawn(once(brief)),
        varied(scope.own, variants, seed=scope.seed, dtype=scope.dtype),
        drawn(once(_near(scope))),
    )
    main = most_looked_at(scope.own)[1]
    more = {(check.probe, r) for _, check in quick if check.probe != main for r in check.regimes}
    missing = FIX_DRAWS - len(rest.draws) - len(more)
    return joined(drawn(once(quick), at_least={main: missing}), rest)


def _near(scope: Scope) -> Checks:
    """Of each other component one usual draw of each probe that does not take long, or, where it has no such
    probe, of the one that most checks look at. Of that each regime where the component is written otherwise
    now; if it takes long, the usual one.
    """
    found: list[tuple[str, Check]] = []
    for name in dict.fromkeys(name for name, _ in scope.of(scope.impact.close)):
        own, slow = scope.of({name}), scope.slow[name]
        main = most_looked_at(own)[1]
        first = [pair for pair in own if pair[1].probe == main]
        near = [pair for pair in usual(own) if pair[1].probe not in slow]
        if name in scope.impact.rewritten:
            near = [pair for pair in near if pair[1].probe != main]
            near += usual(first) if main in slow else first
        found += near or usual(first)
    return found


def _wide_sample(scope: Scope) -> Plan:
    """Many draws of the broken component, most of them of the probes that the break stands on; one of
    each regime of what uses it itself or runs changed code; a few probes of what uses it through others,
    or only imports changed code.
    """
    impact, slow = scope.impact, scope.slow
    parts = scope.catalogue.contract.components
    variants = (
        "",
        *(name for name in scope.level.variants(scope.catalogue.contract) if name != LATE),
    )
    drawn = partial(plan, seed=scope.seed, dtype=scope.dtype, call_variants=variants)
    close, rest = once(scope.of(impact.close)), once(scope.of(impact.imported | impact.remote))
    far_slow = {name: some for name, some in slow.items() if name not in impact.direct}
    seldom = {name: part.seldom for name, part in parts.items()}
    far = joined(
        thinned(drawn(close), usual_regimes(close), far_slow, FAR_COSTLY),
        drawn(some_probes(rest, FAR_PROBES, seed=scope.seed, costly=slow, foremost=seldom)),
    )
    stood_on = {*_stood_on(scope.spec, scope.own)}
    at_least: dict[str, int] = {}
    for probe in dict.fromkeys(check.probe for _, check in scope.own):
        long = probe in slow[impact.broken]
        many, some = (OWN_DRAWS, COSTLY_DRAWS) if long else (scope.level.draws, OWN_DRAWS)
        at_least[probe] = many if probe in stood_on else some
    at_least[most_looked_at(scope.own)[1]] = scope.level.draws
    last = LATE if LATE in scope.level.call_variants else ""
    own = drawn(scope.own, at_least=at_least, sparing=slow[impact.broken], last=last)
    return joined(own, far)


def _stood_on(spec: Break, own: Checks) -> Iterator[str]:
    """The probes of the broken component that a break is about: the first that it needs, those of its own
    checks, and the one that most checks look at.
    """
    yield most_looked_at(own)[1]
    yield from (check.probe for check in spec.judged_by)
    component, probe = component_probe(spec.needs[0].probe, "needs")
    if component == own[0][0]:
        yield probe
