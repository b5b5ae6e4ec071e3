"""Two things at the same time: each waits for a child of its own, so that two processors have work."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def at_once(first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """What both give, made at the same time.

    What either raises is raised when both have ended, so that no server is left in the middle of an
    answer; an interruption does not wait, as the servers then close and the other ends by itself.
    """
    made: list[B] = []
    failed: list[BaseException] = []

    def beside() -> None:
        try:
            made.append(second())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=beside, daemon=True)
    thread.start()
    try:
        one = first()
    except Exception:
        thread.join()
        raise
    thread.join()
    if failed:
        raise failed[0]
    return one, made[0]


def alternating(even: Callable[[], list[A]], odd: Callable[[], list[A]]) -> list[A]:
    """Two lists, made at the same time, as one: an item of the first, an item of the second, ..."""
    first, second = at_once(even, odd)
    both: list[A] = []
    for pair in itertools.zip_longest(first, second):
        both += pair
    return both[: len(first) + len(second)]
