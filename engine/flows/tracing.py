"""Which expressions of a learner's code held a value: the probes that are run to find that out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.errors import Message, Said, SpecError
from engine.flows.expectations import followed_by
from engine.inject import places
from engine.judge.compare import stopped
from engine.run.jobs import jobs_of
from engine.run.servers import TRACED, RunOptions, Servers
from engine.run.types import Case, Tree, Values

TRACE_CAP = 1 << 26  # bytes of recorded values a probe


class Tracer:
    """Expressions by the value they hold; each probe is traced once, for all that it names."""

    def __init__(
        self,
        servers: Servers,
        file: str,
        tree: Tree,
        dtype: str,
        seed: int,
        together: Sequence[Sequence[tuple[str, str]]] = (),
    ) -> None:
        """together: (probe, regime) that are traced in one run, as soon as one of them is asked for."""
        self._servers = servers
        self._file = file
        self._tree = tree
        self._dtype = dtype
        self._seed = seed
        self._together = together
        self._runs: dict[tuple[str, str], list[tuple[Values, places.Recording]]] = {}
        self._known: dict[tuple[str, str, str], list[places.Site]] = {}
        self.silent: list[Said] = []  # why runs that were to be recorded gave no answer

    def __call__(self, probe: str, regime: str, value: str) -> list[places.Site]:
        """The expressions that held the value in two runs with different sizes."""
        key = (probe, regime, value)
        if key not in self._known:
            self._known[key] = self._found(probe, regime, value)
        return self._known[key]

    def missing(self) -> list[str]:
        """The values that were looked for and that no expression held."""
        return sorted({value for (_, _, value), found in self._known.items() if not found})

    def _found(self, probe: str, regime: str, value: str) -> list[places.Site]:
        kept: dict[places.Key, places.Site] | None = None
        for named, recorded in self._run(probe, regime):
            if value not in named:
                raise SpecError(
                    Message(
                        "The reference neither records nor names {value!r} in {probe}.",
                        value=value,
                        probe=probe,
                    ),
                    where=self._file,
                )
            found = {s.key: s for s in recorded.holding(np.asarray(named[value]))}
            before = found if kept is None else kept
            kept = {
                key: min(before[key], found[key], key=lambda site: site.steady)
                for key in before
                if key in found
            }
        return list((kept or {}).values())

    def _run(self, name: str, regime: str) -> list[tuple[Values, places.Recording]]:
        asked = (name, regime)
        if asked not in self._runs:
            group = next((group for group in self._together if asked in group), [asked])
            pairs = [pair for pair in group if pair not in self._runs]
            draws = followed_by(pairs, self._file, self._dtype, self._seed)
            self.measure(pairs, self._servers.cases(draws))
        return self._runs[asked]

    def measure(self, pairs: Sequence[tuple[str, str]], cases: Sequence[Case]) -> None:
        """Trace (probe, regime)s on the cases of their draws."""
        if not pairs:
            return
        named = [{**case.expected[""].values, **case.named} for case in cases]
        sizes = {size for values in named for value in values.values() for size in _sizes(value)}
        outcomes = self._servers.outcomes(
            self._tree,
            jobs_of(cases),
            server=TRACED,
            options=RunOptions(trace={"sizes": sorted(sizes), "cap": TRACE_CAP}),
        )
        self.silent += [stopped(outcome) for outcome in outcomes if outcome.stopped]
        recorded = [
            (values, places.Recording(outcome.trace, self._dtype))
            for values, outcome in zip(named, outcomes, strict=True)
        ]
        self._runs |= {pair: recorded[2 * i : 2 * i + 2] for i, pair in enumerate(pairs)}


def _sizes(value: object) -> set[int]:
    """The element count of a value, and of its slices along one axis."""
    if isinstance(value, np.ndarray):
        return {int(value.size)} | {int(value.size) // n for n in value.shape if n}
    return {1} if isinstance(value, (int, float)) and not isinstance(value, bool) else set()
