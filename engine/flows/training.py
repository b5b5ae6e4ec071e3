"""The second half of a check: the training script in a small world, and the sampler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from engine.facts.experiments import Candidate

if TYPE_CHECKING:
    from engine.flows.check import Bench


class Half(msgspec.Struct, frozen=True):
    """Facts of a script or a sampler, and what was taken for it."""

    what: str
    facts: list[Any]
    made_up: tuple[str, ...] = ()


def script(
    bench: Bench, named: str, found: Candidate, progress: Callable[[str], None]
) -> Half | None:
    return None


def sampler(bench: Bench, found: Candidate, progress: Callable[[str], None]) -> Half | None:
    return None
