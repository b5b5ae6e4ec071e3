"""How strictly a fix or a build is judged, as one value.

*practice* is for a learner's own use: honest mistakes, nobody who deceives themselves. *exam* is for graded
work: it adds what only code that wants to deceive a judge would meet (`engine/exam/`), handed in as
`attacks`, so that the honest path knows nothing of it. One draw of each regime already refuses 98% of the
wrong fixes that the specs list, in a seventh of the time that all of them take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from engine.spec.types import Pack

if TYPE_CHECKING:
    from engine.judge.measured import Extra

MODES = "modes"  # among call variants: after each mode of the pack's contract, such as eval()
HONEST = (MODES, "primed", "resized", "beside", "fortran", "strided", "doubled", "stepped")

# (servers, scope, measured) -> further measurements in which a difference counts
Attack = Callable[[Any, Any, Any], "Extra"]


class Level(msgspec.Struct, frozen=True):
    """draws: of each probe of the broken component that a break stands on; 1: one of each regime.

    others: the components beside the broken one that are measured: those that use it themselves or whose
    code changed ("users"), or whatever may run changed code ("all"). call_variants: ways to call that must
    not matter. attacks: tried where everything else passes. exam: whether children get the code of
    `run/child/exam/`.
    """

    name: str
    draws: int
    others: Literal["users", "all"]
    call_variants: tuple[str, ...]
    attacks: tuple[Attack, ...] = ()
    exam: bool = False

    def variants(self, contract: Pack) -> tuple[str, ...]:
        """The call variants, with the modes of a pack in the place of MODES."""
        named = [(*contract.modes,) if one == MODES else (one,) for one in self.call_variants]
        return tuple(name for some in named for name in some)


PRACTICE = Level("practice", 1, "users", HONEST)
