"""What `engine observe TOPIC` shows: walkthroughs, and comparisons of two versions of a model."""

from __future__ import annotations

from engine.errors import Message, UsageError
from engine.spec.catalogue import Catalogue
from engine.spec.load import load, nearest
from engine.spec.types import Comparison, Walkthrough


def walkthrough(catalogue: Catalogue, id: str) -> Walkthrough:
    """The walkthrough called `id`. Raises UsageError with the nearest names."""
    if id not in catalogue.walkthroughs:
        known = [*catalogue.walkthroughs, *catalogue.comparisons]
        raise UsageError(
            Message(
                "There is no walkthrough {id!r} in the pack {pack}.{hint}",
                id=id,
                pack=catalogue.pack,
                hint=nearest(id, known),
            ),
            next=Message(
                "There are: {walkthroughs}. Without a name, `engine observe` measures the break that"
                " is open.",
                walkthroughs=", ".join(known) or "-",
            ),
        )
    return load(catalogue.walkthroughs[id], Walkthrough)


def comparison(catalogue: Catalogue, id: str) -> Comparison:
    """The comparison called `id`, which there is."""
    return load(catalogue.comparisons[id], Comparison)
