"""What the components of healthy code measure, for seeing that an edit leaves the others as they were."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from msgspec.structs import replace

from engine.code.changes import differing
from engine.code.functions import changed_functions
from engine.code.reachability import Reachability
from engine.flows.impact import by_names
from engine.flows.measuring import dtype_of
from engine.inject.oracle import Item
from engine.judge.sampling import derive, plan
from engine.run.concurrent import Future
from engine.run.jobs import jobs_of
from engine.run.servers import RunOptions, Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import BEFORE

SIBLING_DRAWS = 1  # draws a regime of every other component, for each candidate injection


class Siblings:
    """What the components of a healthy tree measure, each measured when it is first asked for.

    likely: the files that will be changed, as far as they are known; None where any may be.
    """

    def __init__(
        self,
        servers: Servers,
        catalogue: Catalogue,
        tree: Tree,
        seed: int,
        likely: Collection[str] | None = None,
    ) -> None:
        self._servers = servers
        self._catalogue = catalogue
        self._tree = tree
        self._seed = derive(seed, "siblings")
        self._reach = Future(
            lambda: Reachability(tree.files, tree.roots)
        )  # while others are measured
        self._known: dict[str, list[Item]] = {}
        self._likely = set(tree.files if likely is None else likely)
        self.dtype_if_known = ""

    @property
    def dtype(self) -> str:
        """The dtype of the tree's arrays. Raises Halted."""
        if not self.dtype_if_known:
            self.learn(dtype_of(self._servers, self._catalogue, self._tree))
        return self.dtype_if_known

    def learn(self, dtype: str) -> None:
        """What the dtype of the tree's arrays is."""
        self.dtype_if_known = dtype

    @cached_property
    def _static(self) -> bool:
        """Whether the tree's code is what its text says, and does not look at itself."""
        return self._reach().is_static(self._tree.files)

    def reached_by(self, candidate: Tree, touched: set[str]) -> list[Item]:
        """All that an edit may reach, but for the components that it is meant to touch: by names, and
        where only bodies of functions differ, what ran one of them when the code was healthy.
        """
        reached = by_names(self._catalogue, self._reach(), candidate) - touched
        old, new = self._tree.files, candidate.files
        self._likely |= differing(old, new)
        self._measure(sorted(reached))
        found = [item for component in sorted(reached) for item in self.of(component)]
        places = changed_functions(old, new) if self._static else None
        return found if places is None else [item for item in found if item.runs_any(places)]

    def of(self, component: str) -> list[Item]:
        """One draw of every regime of the component's build checks, in healthy code."""
        self._measure([component])
        return self._known[component]

    def _measure(self, components: Sequence[str]) -> None:
        """Those that are not known yet, in one run."""
        fresh = [name for name in components if name not in self._known]
        found: dict[str, list[Item]] = {name: [] for name in fresh}
        checks = [
            (name, replace(check, draws=SIBLING_DRAWS))
            for name in fresh
            if name in self._catalogue.entries
            for check in self._catalogue.build(name).checks
        ]
        if checks:
            made = plan(checks, seed=self._seed, dtype=self.dtype)
            cases = self._servers.cases(made.draws, healthy=False)
            covered = frozenset(p for p in self._likely if p.endswith(".py") and self._static)
            before = self._servers.outcomes(
                self._tree, jobs_of(cases), options=RunOptions(covered=covered)
            )
            for case, own, values in zip(cases, before, made.compared(), strict=True):
                item = Item(case, BEFORE, own, values, covered)
                found[case.draw.component].append(item)
        self._known |= found
