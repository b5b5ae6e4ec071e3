"""What `submit-fix` tells: the verdict, and, when the fix is right, the cause and why it teaches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from engine.flows.answers import Answer
from engine.flows.chance import chance
from engine.flows.diffs import graded_files, unified
from engine.observe.score import Scored
from engine.run.types import Sandbox
from engine.spec.texts import said
from engine.spec.types import Cause

if TYPE_CHECKING:
    from engine.judge.result import Verdict


class CauseResult(msgspec.Struct, frozen=True):
    """The cause question, answered."""

    chosen: str
    confidence: int
    right: bool
    because: str


class Reveal(msgspec.Struct, frozen=True):
    """What is told after a right fix. was: the exercise, of a blind break; scored: its last diagnosis."""

    hidden_cause: str
    reference_diff: str
    fix: str
    why: str
    next: str
    cause: CauseResult | None
    was: str = ""
    scored: tuple[Scored, ...] = ()
    sources: str = ""


class FixReport(msgspec.Struct, frozen=True):
    """`engine submit-fix`."""

    exercise: str
    title: str
    passed: bool
    diff: str
    verdict: Verdict
    graded: tuple[tuple[str, str], ...]  # file, sha256
    sandbox: Sandbox
    restored: bool
    suspicious: tuple[str, ...]
    reveal: Reveal | None
    notes: str
    lang: str
    root: str  # the practice copy, as one types it
    component: str


AskCause = Callable[[str, Sequence[tuple[str, str]]], Answer | None]


def ask_cause(cause: Cause, ask: AskCause, lang: str) -> CauseResult | None:
    """The question about the cause, its options in an order by lot; None when nobody answers."""
    options = list(cause.options)
    chance().shuffle(options)
    answer = ask(said(cause.ask, lang), [(o.id, said(o.text, lang)) for o in options])
    if answer is None:
        return None
    chosen = next(option for option in options if option.id == answer.answer)
    because = said(chosen.because, lang)
    return CauseResult(chosen.id, answer.confidence, chosen.id == cause.right, because)


class Submission:
    """The files of a fix: before the break, with the bug, and as they were judged."""

    def __init__(
        self, before: Mapping[str, bytes], broken: Mapping[str, bytes], now: Mapping[str, bytes]
    ) -> None:
        self.before, self.broken, self.now = before, broken, now

    @cached_property
    def diff(self) -> str:
        """What the learner changed, as a unified diff."""
        return unified(self.broken, self.now)

    @property
    def reference_diff(self) -> str:
        """From the bug to what was there before."""
        return unified(self.broken, self.before)

    @property
    def graded(self) -> tuple[tuple[str, str], ...]:
        """The files that differ from the broken ones, each with its sha256."""
        return graded_files(self.broken, self.now)

    @property
    def restored(self) -> bool:
        """Whether every file is what it was before the break."""
        return all(self.now.get(path) == data for path, data in self.before.items())
