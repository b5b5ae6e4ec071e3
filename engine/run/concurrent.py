"""Two things at the same time: each waits for a child of its own, so that two processors have work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Future(Generic[A]):
    """Work that a thread has begun; calling it waits for the end and gives what was made.

    What the work raises is raised by each call, and nowhere when nobody calls.
    """

    def __init__(self, work: Callable[[], A]) -> None:
        self._made: list[A] = []
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], A]) -> None:
        try:
            self._made.append(work())
        except BaseException as error:
            self._failed = error

    def wait(self) -> None:
        """Until it has ended, however it has."""
        self._thread.join()

    def __call__(self) -> A:
        self.wait()
        if self._failed is not None:
            raise self._failed
        return self._made[0]


def run_both(first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """What both give, made at the same time.

    What either raises is raised when both have ended, so that no server is left in the middle of an
    answer; an interruption does not wait, as the servers then close and the other ends by itself.
    """
    beside = Future(second)
    try:
        one = first()
    except Exception:
        beside.wait()
        raise
    return one, beside()


def partition(costs: Sequence[int]) -> tuple[list[int], list[int]]:
    """The places of all these in two parts that take about as long, by what each is worth: every other one,
    where all are worth the same.
    """
    parts: tuple[list[int], list[int]] = ([], [])
    taken = [0, 0]
    for i, one in enumerate(costs):
        which = int(taken[0] > taken[1])
        parts[which].append(i)
        taken[which] += one
    return parts


def run_partitioned(
    costs: Sequence[int],
    first: Callable[[list[int]], list[A]],
    second: Callable[[list[int]], list[A]],
) -> list[A]:
    """What two make of the places that each is given, at the same time, in the order of the places."""
    ours, theirs = partition(costs)
    one, other = run_both(lambda: first(ours), lambda: second(theirs))
    made = dict(zip([*ours, *theirs], [*one, *other], strict=True))
    return [made[i] for i in range(len(costs))]
