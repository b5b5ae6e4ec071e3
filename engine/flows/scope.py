"""What the judgement of a fix is about: the trees, the checks, and how far the change may reach."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from msgspec.structs import replace

from engine.flows.baseline import Baseline
from engine.flows.impact import Impact, of_a_fix
from engine.judge.level import Level
from engine.run.concurrent import run_both
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import Break, Check

Checks = Sequence[tuple[str, Check]]  # each with its component


class Scope(msgspec.Struct, frozen=True):
    """What is judged, and how far the change reaches.

    checks: of every component that is measured. candidate: the mended tree, which imports all its modules
    first where it may write into what belongs to others. changed: whether any code differs.
    """

    catalogue: Catalogue
    spec: Break
    impact: Impact
    checks: tuple[tuple[str, Check], ...]
    healthy: Baseline
    candidate: Tree
    dtype: str
    seed: int
    level: Level

    @property
    def slow(self) -> dict[str, tuple[str, ...]]:
        """Component -> its probes that take long."""
        parts = self.catalogue.contract.components
        return {name: tuple(part.costly) for name, part in parts.items()}

    def of(self, components: Collection[str]) -> Checks:
        """The checks of these components."""
        return [pair for pair in self.checks if pair[0] in components]

    @property
    def own(self) -> Checks:
        """The checks of the broken component."""
        return self.of({self.impact.broken})


def scope_of(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    healthy: Baseline,
    candidate: Tree,
    seed: int,
    level: Level,
) -> Scope:
    """What the change may reach, told while the servers load the code before the break."""
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    servers.exam = level.exam

    def loaded() -> str:
        servers.load_tree(healthy.tree, "before")
        servers.precompile(*_first_asked(catalogue, entry.component, level))
        return healthy.dtype_of(servers, catalogue)

    def looked() -> tuple[Impact, Checks]:
        impact = of_a_fix(
            catalogue, entry.component, healthy.tree, candidate, everything=level.others == "all"
        )
        return impact, checks_of_a_fix(catalogue, id, impact.measured)

    dtype, (impact, checks) = run_both(loaded, looked)
    if impact.writes:  # whatever comes first, it is in force by then
        modules = {where.partition(":")[0] for where in candidate.roles.values()}
        candidate = replace(candidate, eager=tuple(sorted(modules)))
    servers.load_tree(candidate, "candidate")
    return Scope(catalogue, spec, impact, tuple(checks), healthy, candidate, dtype, seed, level)


def _first_asked(catalogue: Catalogue, broken: str, level: Level) -> list[str]:
    """The components whose cases are drawn in any case; at level exam nearly all are."""
    parts = catalogue.contract.components
    if level.others == "all":
        return [*parts]
    return [broken, *(name for name, part in parts.items() if broken in part.uses)]


def checks_of_a_fix(
    catalogue: Catalogue, id: str, components: Collection[str] | None = None
) -> list[tuple[str, Check]]:
    """What a fix is judged by: the break's own checks, and the build checks of the broken component and of
    these (of every one, when not given).
    """
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    own = catalogue.build(entry.component).checks if entry.component in catalogue.entries else ()
    checks = [(entry.component, check) for check in (*own, *spec.judged_by)]
    for component in catalogue.contract.components:
        if components is not None and component not in components:
            continue
        if component != entry.component and component in catalogue.entries:
            checks += [(component, check) for check in catalogue.build(component).checks]
    return checks
