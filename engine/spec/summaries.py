"""What lists and hints say of an exercise, read from its YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine.spec.index import Summary

if TYPE_CHECKING:
    from engine.spec.catalogue import Catalogue


def summary(catalogue: Catalogue, id: str) -> Summary:
    """Raises SpecError for an exercise that is at fault."""
    if catalogue.entries[id].kind == "build":
        spec = catalogue.assignment(id)
        questions = tuple(one.id for one in spec.questions)
        return Summary(
            spec.title, spec.hints, spec.hints_for, questions=questions, minutes=spec.minutes
        )
    found = catalogue.story(id)
    told = Summary(found.title, found.hints, {}, found.grafted, found.area, minutes=found.minutes)
    if found.blind is None:
        return told
    return replace(told, blind=found.blind.hints, blind_grafted=found.blind.grafted)
