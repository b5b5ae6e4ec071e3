"""Facts of a mended GPT, each as a check."""

from __future__ import annotations

from engine.errors import Message
from engine.judge.compare import Difference
from engine.judge.result import FACT, Result
from engine.spec.types import Text


def fact_result(id: str, title: Text, wanted: str, got: str | None, right: bool) -> Result:
    """Whether a fact is what it was. title: what it is about, by language."""
    seen = Message("not to be seen") if got is None else got
    difference = None if right else Difference("value", "", wanted, seen)
    return Result(FACT + id, "", title, right, 1, difference=difference)
