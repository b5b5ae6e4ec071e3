"""Which break comes next to somebody who is not told: by lot, of those that are not done."""

from __future__ import annotations

from collections.abc import Collection

from engine.errors import Message, UsageError
from engine.flows.chance import chance
from engine.spec.catalogue import Catalogue


def takeable(catalogue: Catalogue, id: str) -> str:
    """The break that is named, which is for authors and tests: who types it knows it. Raises UsageError."""
    entry = catalogue.entry(id)
    if entry.kind != "break" or not catalogue.summaries[entry.id].blind:
        raise UsageError(
            Message("{exercise} cannot be taken blind.", exercise=entry.id),
            next=Message("`engine break --blind` chooses one that can."),
        )
    return entry.id


def draw(
    catalogue: Catalogue, done: Collection[str], phase: str | None, area: str | None
) -> list[str]:
    """The breaks that may come, in an order by lot. Raises UsageError where there is none."""
    entries = {entry.id: entry for entry in catalogue.entries.values() if entry.kind == "break"}
    known = {id: catalogue.summaries[id] for id in entries if catalogue.summaries[id].blind}
    areas = sorted({summary.area for summary in known.values()})
    area = _area(catalogue, area) if area is not None else None
    if area is not None and area not in areas:
        raise UsageError(
            Message("There is no area {area!r}.", area=area),
            next=Message("There are: {areas}.", areas=", ".join(areas)),
        )
    phases = sorted({entries[id].phase_number for id in known})
    if phase is not None and phase not in phases:
        raise UsageError(
            Message("Phase {phase} has no blind breaks.", phase=phase),
            next=Message("These have: {phases}.", phases=", ".join(phases)),
        )
    left = [
        id
        for id, summary in known.items()
        if id not in done
        and phase in (None, entries[id].phase_number)
        and area in (None, summary.area)
    ]
    if not left:
        raise UsageError(
            Message("Every break that could come is done."),
            next=Message("`engine list` shows them; `engine break ID` takes one again."),
        )
    chance().shuffle(left)
    return left


def _area(catalogue: Catalogue, typed: str) -> str:
    """The id of an area that is typed by its id or by its title in any language."""
    for id, area in catalogue.areas.items():
        if typed.casefold() in (id, *(title.casefold() for title in area.title.values())):
            return id
    return typed
