"""What a judgement comes to: checks that held or failed, and a verdict of all of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.errors import Said
from engine.judge.compare import Difference
from engine.judge.targets import REFERENCE
from engine.run.types import Draw, Frame
from engine.spec.types import Text

FACT = "fact "  # what the id of a check begins with that is a fact of anybody's code


class Result(msgspec.Struct, frozen=True):
    """One check: did it hold, over how many measurements, and the first that differs.

    frames: of the error, or of the code that ran when the time was over. output: what the code printed.
    draw: what repeats that measurement. unwritten: it agrees only as the code was not written before either.
    advice: it is told, and decides nothing.
    """

    id: str
    component: str
    shows: Text
    passed: bool
    measurements: int
    regime: str = ""
    inputs: Said = ""
    difference: Difference | None = None
    pattern: Said = ""
    traceback: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    output: str = ""
    draw: Draw | None = None
    unwritten: bool = False
    advice: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """What was judged. `measurements` is never 0. `seed` repeats it, for authors. `unmeasured`: further
    inputs that decided nothing, as some code ran out of time, memory or stack.
    """

    passed: bool
    results: tuple[Result, ...]
    measurements: int
    seed: str
    target: str = REFERENCE
    unmeasured: int = 0

    @property
    def failures(self) -> int:
        """How many checks failed that decide."""
        return failures(self.required)

    @property
    def required(self) -> tuple[Result, ...]:
        """The checks that decide."""
        return tuple(result for result in self.results if not result.advice)

    @property
    def advice(self) -> tuple[Result, ...]:
        """What is told beside them: checks that failed and decide nothing."""
        return tuple(result for result in self.results if result.advice and not result.passed)

    @property
    def failing(self) -> Result | None:
        """The first check that failed, in the order that teaches."""
        return next((result for result in self.required if not result.passed), None)


def failures(results: Sequence[Result]) -> int:
    """How many of these checks failed."""
    return sum(not result.passed for result in results)
