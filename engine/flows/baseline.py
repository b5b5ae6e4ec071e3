"""The baseline of a fix: the code before the break, and what it gave; kept for whoever is held against it
next.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.flows.measuring import dtype_of
from engine.run.jobs import jobs_of
from engine.run.servers import RunOptions, Servers
from engine.run.types import SMALL, Case, Draw, Outcome, Tree
from engine.spec.catalogue import Catalogue


class Baseline:
    """On each draw that depends on no candidate, the code before the break is measured once."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._dtype = ""
        self._cases: dict[Draw, Case] = {}
        self._outcomes: dict[Draw, Outcome] = {}

    def dtype_of(self, servers: Servers, catalogue: Catalogue) -> str:
        """The dtype of its arrays. Raises Halted."""
        self._dtype = self._dtype or dtype_of(servers, catalogue, self.tree, server="before")
        return self._dtype

    def cases(self, servers: Servers, draws: Sequence[Draw]) -> dict[Draw, Case]:
        """The inputs of these draws. Raises SpecError."""
        new = [draw for draw in draws if draw not in self._cases]
        made = dict(zip(new, servers.cases(new, healthy=False), strict=True))
        self._cases |= {draw: case for draw, case in made.items() if _lasting(draw)}
        return {draw: made.get(draw) or self._cases[draw] for draw in draws}

    def outcomes(
        self, servers: Servers, cases: Sequence[Case], *, limit: float | None = None, skips: int = 0
    ) -> dict[Draw, Outcome]:
        """What the code gives for these inputs. See `Servers.outcomes`."""
        new = [case for case in cases if case.draw not in self._outcomes]
        options = RunOptions(skips=skips)
        jobs = jobs_of(new)
        found = servers.outcomes(self.tree, jobs, server="before", limit=limit, options=options)
        gave = {case.draw: outcome for case, outcome in zip(new, found, strict=True)}
        self._outcomes |= {
            draw: outcome
            for draw, outcome in gave.items()
            if _lasting(draw) and not outcome.stopped  # that may have been the machine
        }
        return {case.draw: gave.get(case.draw) or self._outcomes[case.draw] for case in cases}


def _lasting(draw: Draw) -> bool:
    """Whether a draw may come again: not where it comes near a number of one candidate's."""
    constraint = draw.constraint
    return (
        constraint is None or constraint.kind in ("pattern", "settings") or constraint.name == SMALL
    )
