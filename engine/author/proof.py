"""What `engine dev check` tries."""

from __future__ import annotations

import msgspec


class Proof(msgspec.Struct, frozen=True):
    """One thing that was tried on one model, and whether it went as the spec says."""

    exercise: str
    model: str
    claim: str
    held: bool
    detail: str
