"""One exercise of a catalogue, before its file is read."""

from __future__ import annotations

from typing import Literal

import msgspec


class Entry(msgspec.Struct, frozen=True):
    """One exercise, before its file is read."""

    id: str
    kind: Literal["build", "break"]
    pack: str
    phase: str  # "13-embeddings"
    component: str
    file: str

    @property
    def phase_number(self) -> str:
        """ "13" of "13-embeddings"."""
        return self.phase.partition("-")[0]

    @property
    def phase_name(self) -> str:
        """ "Embeddings" of "13-embeddings"."""
        return self.phase.partition("-")[2].replace("-", " ").capitalize()
