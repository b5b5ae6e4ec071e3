"""Whether code is healthy where a break needs it, and what a learner is told where it is not."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import Message, NotApplicable
from engine.flows import expectations
from engine.judge.measured import Measured
from engine.judge.sampling import Plan
from engine.judge.verdict import failing_checks
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Case, Outcome, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import Need


class Unhealthy(NotApplicable):
    """The code is not healthy where this break needs it."""


def check_needs(
    servers: Servers, catalogue: Catalogue, id: str, tree: Tree, dtype: str, seed: int
) -> None:
    """Whether a tree is healthy where a break needs it. Raises Unhealthy."""
    made = expectations.needs_of(catalogue, id, dtype, seed)
    cases = servers.cases(made.draws)
    outcomes = servers.outcomes(tree, jobs_of(cases))
    check_outcomes(servers, catalogue, id, tree, made, cases, outcomes)


def check_outcomes(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    tree: Tree,
    made: Plan,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
) -> None:
    """The same, of what has been measured already. Raises Unhealthy."""
    by_draw = dict(zip(made.draws, cases, strict=True))
    gave = dict(zip(made.draws, outcomes, strict=True))
    failing = failing_checks(Measured(made, by_draw, gave))
    if failing:
        _check_roles(servers, catalogue, id, tree, failing[0].component)
        first = failing[0]
        assert first.difference is not None
        differs = first.difference
        told = Message("expected {expected}, got {got}", expected=differs.expected, got=differs.got)
        if differs.value:
            told = Message("{value}: {told}", value=differs.value, told=told)
        needs = catalogue.break_(id).needs
        raise Unhealthy(
            Message(
                "{exercise} needs a healthy {component}, and yours is not: {told}. Nothing was changed.",
                exercise=id,
                component=first.component,
                told=told,
            ),
            where=Message.joined(
                "\n  ",
                (
                    Message(
                        "{component}.{id}, {regime}: {inputs}",
                        component=first.component,
                        id=first.id,
                        regime=first.regime,
                        inputs=first.inputs,
                    ),
                    *first.traceback[-3:],
                ),
            ),
            next=Message(
                "`engine submit-build {to_mend}` shows what to fix first.",
                to_mend=_to_mend(catalogue, needs, first.component),
            ),
        )


def _check_roles(
    servers: Servers, catalogue: Catalogue, id: str, tree: Tree, component: str
) -> None:
    """A name of the contract that is not there is named as that. Raises Unhealthy."""
    missing = servers.missing_roles(tree)
    for role in sorted(catalogue.roles_of(component) & missing.keys()):
        raise Unhealthy(
            Message(
                "{exercise} needs {role}, and it is not where it should be: {missing}. "
                "Nothing was changed.",
                exercise=id,
                role=role,
                missing=missing[role],
            ),
            where=Message("looked for {place}", place=tree.roles[role]),
            next=Message(
                "If it has another name or place, say which in learner.yaml: `roles: "
                "{{{role}: your.module:YourName}}`. Else `engine submit-build {to_mend}` "
                "shows what to fix first.",
                role=role,
                to_mend=_to_mend(catalogue, (), component),
            ),
        )


def _to_mend(catalogue: Catalogue, needs: Sequence[Need], component: str) -> str:
    """The build exercise to start with: the first in the course that the failing part stands on."""
    return component if component in catalogue.entries else next(iter(catalogue.entries))
