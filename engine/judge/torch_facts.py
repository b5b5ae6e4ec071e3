"""Facts of a mended GPT, each as a check."""

from __future__ import annotations

from engine.errors import Message
from engine.judge.compare import Difference
from engine.judge.result import Result


def fact_result(id: str, title: str, wanted: str, got: str | None, right: bool) -> Result:
    """Whether a fact is what it was."""
    seen = Message("not to be seen") if got is None else got
    difference = None if right else Difference("value", title, wanted, seen)
    return Result(f"fact {id}", "", {"en": title}, right, 1, difference=difference)
