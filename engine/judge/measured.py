"""What was measured for a judgement, as one value: draws, inputs, and what each party gave."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from engine.judge.sampling import Plan
from engine.run.types import Case, Draw, Outcome


class Measured(msgspec.Struct, frozen=True):
    """The draws of a judgement, with what was measured in each.

    cases: the inputs, and the reference's answers as far as it was asked. healthy: what the code before the
    break gave; empty for a build, which has the reference alone.
    """

    plan: Plan
    cases: Mapping[Draw, Case]
    candidate: Mapping[Draw, Outcome]
    healthy: Mapping[Draw, Outcome] = {}

    def only(self, kept: Collection[Draw]) -> Measured:
        """The same with these draws alone."""
        return msgspec.structs.replace(self, plan=self.plan.only(kept))

    def asked(self, cases: Sequence[Case]) -> Measured:
        """The same, with further answers of the reference."""
        more = {case.draw: case for case in cases}
        return msgspec.structs.replace(self, cases={**self.cases, **more})


class Extra(msgspec.Struct, frozen=True):
    """Further measurements: those draws in which the candidate differs and a difference counts.

    compared: how many draws were compared. unmeasured: how many were left, as some code ran out of time,
    memory or stack.
    """

    differing: Measured
    compared: int
    unmeasured: int = 0
