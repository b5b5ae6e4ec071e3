"""What `submit-build` tells: the verdict, and what was asked after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.flows.questions import Answered
from engine.run.types import Sandbox
from engine.spec.types import Text

if TYPE_CHECKING:
    from engine.judge.findings import Finding
    from engine.judge.result import Verdict


class BuildReport(msgspec.Struct, frozen=True):
    """`engine submit-build`."""

    exercise: str
    title: str
    passed: bool
    verdict: Verdict
    graded: tuple[tuple[str, str], ...]  # file, sha256
    sandbox: Sandbox
    first: tuple[str, ...]  # builds that this one stands on, and that have not passed
    questions: tuple[Answered, ...]  # what was asked after it passed
    open_questions: int
    next: str
    lang: str
    root: str  # the folder of the code, as one types it
    promises: tuple[Text, ...] = ()  # sentences of the contract


class Part(msgspec.Struct, frozen=True):
    """One component: how many of its checks pass, and the first cause of those that do not."""

    exercise: str
    passed: bool
    right: int
    checks: int
    finding: Finding | None


class AllReport(msgspec.Struct, frozen=True):
    """`engine submit-build --all`."""

    parts: tuple[Part, ...]
    lang: str
    root: str

    @property
    def passed(self) -> bool:
        """Whether all of them pass."""
        return all(part.passed for part in self.parts)
