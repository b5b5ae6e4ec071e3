"""What `submit-build` tells: each check as it ends, then the verdict and what was asked after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.flows.questions import Answered
from engine.run.types import Sandbox

if TYPE_CHECKING:
    from engine.judge.verdict import Result, Verdict


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


class Ended(msgspec.Struct, frozen=True):
    """One check of a build, told as it ends."""

    number: int
    of: int
    result: Result
    lang: str
