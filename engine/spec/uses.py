"""Which components of a contract use which."""

from __future__ import annotations

from collections.abc import Mapping

from engine.spec.types import Component


def users(components: Mapping[str, Component], component: str) -> frozenset[str]:
    """The components that use `component`, directly or not."""
    found: set[str] = set()
    grown = {component}
    while grown:
        grown = {
            name
            for name, part in components.items()
            if set(part.uses) & (grown | found) and name not in found | {component}
        }
        found |= grown
    return frozenset(found)
