"""What the recipes of a break name: roles, probes, and values to look for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.spec.types import Break, Recipe, Step


def steps_of(recipes: Sequence[Recipe]) -> Iterator[Step]:
    """Every step of every recipe, and every way to do it."""
    waiting = [step for recipe in recipes for step in recipe.steps]
    while waiting:
        step = waiting.pop(0)
        yield step
        waiting = [*step.any, *waiting]


def roles_of_steps(spec: Break) -> set[str]:
    """The roles that the recipes of a break name."""
    found: set[str] = set()
    for step in steps_of(spec.inject):
        for way in (step.pattern, step.role, step.graft):
            found |= set(way.inside) if way else set()
        for named in (step.append, step.rewrite):
            found |= {named.role} if named else set()
    return found


def probes_of_steps(spec: Break) -> set[str]:
    """The probes that the recipes of a break name, as component.probe."""
    found: set[str] = set()
    for step in steps_of(spec.inject):
        found |= set(step.proves)
        for way in (step.role, step.graft):
            found |= {way.probe} if way else set()
        found |= {step.pattern.probe} if step.pattern and step.pattern.where else set()
    return found


def traced(recipe: Recipe) -> list[tuple[str, str]]:
    """The (probe, regime) whose values a recipe looks for."""
    found: dict[tuple[str, str], None] = {}
    for step in steps_of([recipe]):
        for way in (step.role, step.graft):
            if way:
                found[way.probe, way.regime] = None
        if step.pattern and step.pattern.where:
            found[step.pattern.probe, step.pattern.regime] = None
    return list(found)
