"""Where all lots come from: the operating system, or, where the variable ENGINE_SEED is set, its text.

Tests set it, so that a draw that fails one fails it again.
"""

from __future__ import annotations

import os
import random


def chance() -> random.Random:
    """Lots that nobody foresees, and with ENGINE_SEED the same lots each time."""
    given = os.environ.get("ENGINE_SEED")
    return random.Random(given) if given else random.SystemRandom()


def fresh_seed() -> int:
    """A seed for the draws of one verdict, 63 bits."""
    return chance().getrandbits(63)
