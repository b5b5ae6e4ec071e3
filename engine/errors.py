"""Everything that can go wrong on purpose: what, where, what to type next, and an exit code.

0 pass, 1 the check ran and the answer is no, 2 usage, 3 a spec or pack is at fault, 4 not applicable
to this code (nothing changed), 5 the learner's code failed where it should run, 70 a bug in the
engine, 130 interrupted.
"""

from __future__ import annotations

PASS, NO, USAGE, SPEC, NOT_APPLICABLE, LEARNER_CODE, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 5, 70, 130


class Message:
    """A sentence and what is filled into it: `Message("{exercise} is still open.", exercise=id)`.

    `id` is the English text, by which a gettext catalogue finds it in another language; `report/words.py`
    alone puts it into one. A message without parameters is taken as it is, braces and all.
    """

    __slots__ = ("id", "params")

    def __init__(self, id: str, /, **params: object) -> None:
        self.id = id
        self.params = params

    def __str__(self) -> str:
        """In English, as programs get it."""
        return self.filled(self.id)

    def __eq__(self, other: object) -> bool:
        """The same sentence, with the same in it."""
        return isinstance(other, Message) and (self.id, self.params) == (other.id, other.params)

    def __hash__(self) -> int:
        return hash(self.id)

    def filled(self, text: str) -> str:
        """`text`, which is this message's in some language, with its parameters."""
        return text.format(**self.params) if self.params else text


Said = str | Message  # a plain text is the same in every language, as a path is


class EngineError(Exception):
    """An expected failure. `what` happened, `where`, and what to type `next`: in English, and as they were
    given in `messages`.
    """

    exit_code = NO

    def __init__(self, what: Said, *, where: Said = "", next: Said = "") -> None:
        super().__init__(str(what))
        self.messages = (what, where, next)
        self.what = str(what)
        self.where = str(where)
        self.next = str(next)

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
        self, what: Said, *, where: Said = "", next: Said = "", frames: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, where=where, next=next)
        self.frames = frames


class StorageError(EngineError):
    """The disk would not take or give what was asked (full, read-only, gone)."""

    exit_code = NOT_APPLICABLE
