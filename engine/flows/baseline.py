"""The code before the break, and what it gave: kept for whoever is held against it next."""

from __future__ import annotations

from collections.abc import Sequence

from engine.flows.build import dtype_of
from engine.run.jobs import jobs_of
from engine.run.servers import RunOptions, Servers
from engine.run.types import SMALL, Case, Draw, Outcome, Tree
from engine.spec.load import Catalogue


class Known:
    """The code before the break, and what it gave: on each draw that depends on no candidate, it is
    measured once.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._dtype = ""
        self._cases: dict[Draw, Case] = {}
        self._outcomes: dict[Draw, Outcome] = {}

    def dtype_of(self, servers: Servers, catalogue: Catalogue) -> str:
        """The dtype of its arrays. Raises Halted."""
        self._dtype = self._dtype or dtype_of(servers, catalogue, self.tree, server="before")
        return self._dtype

    def measured(self, servers: Servers, draws: Sequence[Draw]) -> tuple[list[Case], list[Outcome]]:
        """The inputs of these draws, and what the code gave for them. Raises SpecError."""
        cases = self.cases(servers, draws)
        return cases, self.outcomes(servers, cases)

    def cases(self, servers: Servers, draws: Sequence[Draw]) -> list[Case]:
        """The inputs of these draws. Raises SpecError."""
        new = [draw for draw in draws if draw not in self._cases]
        made = dict(zip(new, servers.cases(new, healthy=False), strict=True))
        self._cases |= {draw: case for draw, case in made.items() if _lasting(draw)}
        return [made[draw] if draw in made else self._cases[draw] for draw in draws]

    def outcomes(
        self, servers: Servers, cases: Sequence[Case], *, limit: float | None = None, skips: int = 0
    ) -> list[Outcome]:
        """What the code gives for these inputs. See `Servers.outcomes`."""
        new = [case for case in cases if case.draw not in self._outcomes]
        options = RunOptions(skips=skips)
        found = servers.outcomes(
            self.tree, jobs_of(new), server="before", limit=limit, options=options
        )
        gave = {case.draw: outcome for case, outcome in zip(new, found, strict=True)}
        self._outcomes |= {
            draw: outcome
            for draw, outcome in gave.items()
            if _lasting(draw) and not outcome.stopped  # that may have been the machine
        }
        return [
            gave[case.draw] if case.draw in gave else self._outcomes[case.draw] for case in cases
        ]


def _lasting(draw: Draw) -> bool:
    """Whether a draw may come again: not where it leans towards a number of one candidate's."""
    constraint = draw.constraint
    return (
        constraint is None or constraint.kind in ("pattern", "settings") or constraint.name == SMALL
    )
