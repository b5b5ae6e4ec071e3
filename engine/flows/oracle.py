"""What decides whether an edit is the bug: the declared symptom is there, and nothing else changed."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import Message, SpecError
from engine.flows import expectations
from engine.flows.measuring import Progress, quiet
from engine.flows.siblings import Siblings
from engine.inject.oracle import Asked, Item, Oracle
from engine.judge.sampling import compared
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Case, Draw, Outcome, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import BEFORE, Symptom

IMPORTS = 4.0  # seconds that the first optimizer of a process with torch may take


def oracle_for(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    tree: Tree,
    dtype: str,
    seed: int,
) -> Oracle:
    """What decides whether a candidate bites in this healthy tree. Raises SpecError."""
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    symptoms = expectations.symptoms_of(spec, entry.file, dtype, seed)
    draws = [draw for draw, _ in symptoms]
    cases = servers.cases(draws, expectations.variants_of(symptoms), healthy=False)
    own = servers.outcomes(tree, jobs_of(cases))
    items = items_of(catalogue, cases, symptoms, own)
    siblings = Siblings(servers, catalogue, tree, seed)
    return built(servers, catalogue, id, items, siblings, start=max(one.seconds for one in own))


def built(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    symptoms: Sequence[Item],
    known: Siblings,
    progress: Progress = quiet,
    start: float = 0.0,
) -> Oracle:
    """The oracle of these symptoms and of what an edit may reach. start: seconds that the slowest answer of
    healthy code took. Raises SpecError where the symptoms do not differ from healthy code.
    """
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    touched = {entry.component} | catalogue.users(entry.component)

    def reached(candidate: Tree) -> list[Item]:
        found = known.reached_by(candidate, touched)
        return [item for item in found if item.probe not in spec.also_changes]

    def measure(asked: Sequence[Asked]) -> list[list[Outcome]]:
        told = Message("looking for a place for the bug: {tried} tried", tried=oracle.tried)
        progress(told)
        found = servers.several(
            [(tree, jobs_of(cases), min(limit, servers.limit)) for tree, cases, limit in asked]
        )
        progress(told)
        return found

    if catalogue.contract.framework == "torch":
        start = max(start, IMPORTS)
    oracle = Oracle(measure, symptoms, reached, start)
    if not oracle.check_symptom():
        raise SpecError(
            Message("The declared symptom is the same as healthy code."), where=entry.file
        )
    return oracle


def items_of(
    catalogue: Catalogue,
    cases: Sequence[Case],
    symptoms: Sequence[tuple[Draw, Symptom]],
    before: Sequence[Outcome],
) -> list[Item]:
    """Symptoms as the oracle wants them; before: what the healthy code gave in these cases. Where nothing
    should have changed, that is all that a check of the build compares there.
    """

    def values(draw: Draw, symptom: Symptom) -> tuple[str, ...]:
        if symptom.values or symptom.like != BEFORE or draw.component not in catalogue.entries:
            return symptom.values
        checks = catalogue.build(draw.component).checks
        return compared(c for c in checks if c.probe == draw.probe and draw.regime in c.regimes)

    return [
        Item(case, symptom.like, own, values(draw, symptom))
        for case, (draw, symptom), own in zip(cases, symptoms, before, strict=True)
    ]
