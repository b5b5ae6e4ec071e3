"""Everything that can go wrong on purpose: what, where, what to type next, and an exit code.

0 pass, 1 the check ran and the answer is no, 2 usage, 3 a spec or pack is at fault, 4 not applicable
to this code (nothing changed), 5 the learner's code failed where it should run, 70 a bug in the
engine, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PASS, NO, USAGE, SPEC, NOT_APPLICABLE, LEARNER_CODE, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 5, 70, 130


class Message(str):
    """A sentence and what is filled into it: `Message("{exercise} is still open.", exercise=id)`.

    It is its English text, as programs get it, and knows its `id`, by which a gettext catalogue finds it in
    another language; `engine/words.py` alone puts it into one. A message without parameters is taken as it
    is, braces and all.
    """

    id: str
    params: Mapping[str, object]

    def __new__(cls, id: str, /, **params: object) -> Message:
        made = super().__new__(cls, cls.fill(id, params))
        made.id, made.params = id, params
        return made

    @classmethod
    def joined(cls, between: str, parts: Iterable[Said]) -> Message:
        """Several, with the same between each two, which no catalogue has."""
        given: dict[str, object] = {f"part{i}": part for i, part in enumerate(parts)}
        return cls(between.join(f"{{{name}}}" for name in given), **given)

    @staticmethod
    def fill(text: str, params: Mapping[str, object]) -> str:
        """A text with parameters in the place of their names."""
        return text.format(**params) if params else text


Said = str  # a Message, or a plain text, which is the same in every language, as a path is


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
