"""What the checks of a build leave unseen: regimes that draw the same, values that nobody looks at,
settings that never vary.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.judge.sampling import derive
from engine.run.servers import Servers
from engine.run.types import Draw, Values
from engine.spec.catalogue import Catalogue

DTYPE = "float64"
DRAWS = (
    12  # in all of which two regimes have to be the same: masks of three positions may be by chance
)


def alike(servers: Servers, catalogue: Catalogue, component: str, seed: int) -> Iterator[str]:
    """Regimes of one probe that draw the same from the same seeds: a slip of the pen in a name, or a
    branch of cases.py that is gone.
    """
    regimes = {
        (check.probe, regime): None
        for check in catalogue.build(component).checks
        for regime in check.regimes
    }
    draws = [
        Draw(component, probe, regime, derive(seed, component, probe, i), DTYPE)
        for probe, regime in regimes
        for i in range(DRAWS)
    ]
    cases = servers.cases(draws, healthy=False)
    seen: dict[tuple[object, ...], str] = {}
    for i, (probe, regime) in enumerate(regimes):
        mine = cases[DRAWS * i : DRAWS * (i + 1)]
        drawn = (probe, *(_digest(case.inputs) for case in mine))
        if drawn in seen:
            yield f"{probe}: {seen[drawn]} and {regime}"
        seen.setdefault(drawn, regime)


def unread(servers: Servers, catalogue: Catalogue, component: str, seed: int) -> Iterator[str]:
    """Values that the reference records in a regime, and that no check compares there; but those that a
    check leaves out by name (`but`).
    """
    checks = catalogue.build(component).checks
    read: dict[tuple[str, str], set[str]] = {}
    whole: set[tuple[str, str]] = set()
    for check in checks:
        for regime in (*check.regimes, *check.but):
            read.setdefault((check.probe, regime), set()).update(check.values)
            if not check.values and "value" in check.aspects:
                whole.add((check.probe, regime))
    left = [key for key in read if key not in whole]
    draws = [Draw(component, *key, derive(seed, component, *key), DTYPE) for key in left]
    for (probe, regime), case in zip(left, servers.cases(draws), strict=True):
        for name in case.expected[""].values:
            if name not in read[probe, regime]:
                yield f"{probe}: {name} in {regime}"


def constant(servers: Servers, catalogue: Catalogue, component: str, seed: int) -> Iterator[str]:
    """Names among the `settings` of a component that never vary, or are no plain values of their probe: a
    slip in a name, say.
    """
    checks = catalogue.build(component).checks
    for probe, names in catalogue.contract.components[component].settings.items():
        regimes = {regime for check in checks if check.probe == probe for regime in check.regimes}
        draws = [
            Draw(component, probe, regime, derive(seed, component, probe, regime), DTYPE)
            for regime in sorted(regimes)
        ]
        cases = servers.cases(draws, healthy=False)
        for name in names:
            plain = [v for c in cases if not isinstance(v := c.inputs.get(name), np.ndarray)]
            if len({_digest({name: value}) for value in plain}) < 2:
                yield f"{probe}: {name}"


def _digest(inputs: Values) -> object:
    """What tells two inputs apart, hashable."""

    def of(value: object) -> object:
        if isinstance(value, np.ndarray):
            return value.dtype.str, value.shape, value.tobytes()
        if isinstance(value, dict):
            return tuple((name, of(part)) for name, part in value.items())
        if isinstance(value, (list, tuple)):
            return tuple(map(of, value))
        return type(value).__name__, value

    return of(inputs)
