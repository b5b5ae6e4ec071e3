"""Everything that can go wrong on purpose: what, where, what to type next, and an exit code.

0 pass, 1 the check ran and the answer is no, 2 usage, 3 a spec or pack is at fault, 4 not applicable
to this code (nothing changed), 5 the learner's code failed where it should run, 70 a bug in the
engine, 130 interrupted.
"""

from __future__ import annotations

PASS, NO, USAGE, SPEC, NOT_APPLICABLE, LEARNER_CODE, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 5, 70, 130


class EngineError(Exception):
    """An expected failure. `what` happened, `where`, and what to type `next`."""

    exit_code = NO

    def __init__(self, what: str, *, where: str = "", next: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next = next

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.where, self.next) if part)


class UsageError(EngineError):
    """The command line, or the place it was typed in, does not fit."""

    exit_code = USAGE


class SpecError(EngineError):
    """An exercise or pack is at fault; `where` is file:line:column."""

    exit_code = SPEC


class NotApplicable(EngineError):
    """This exercise cannot be done on this code, or not now. Nothing was changed."""

    exit_code = NOT_APPLICABLE


class Busy(NotApplicable):
    """Another engine is at work on the same learner."""


class LearnerCodeError(EngineError):
    """The learner's code failed where it should run; `frames` are theirs, outermost first."""

    exit_code = LEARNER_CODE

    def __init__(
        self, what: str, *, where: str = "", next: str = "", frames: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, where=where, next=next)
        self.frames = frames


class StorageError(EngineError):
    """The disk would not take or give what was asked (full, read-only, gone)."""

    exit_code = NOT_APPLICABLE
