"""A long list of jobs is shared by two children, and nobody can tell from the answers."""

from __future__ import annotations

import time

import pytest

from engine.run.abreast import Later, alternating, halves


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8])
def test_the_order_is_that_of_the_jobs(count: int) -> None:
    """Every other one each, and back in order."""
    jobs = list(range(count))
    assert alternating(lambda: jobs[::2], lambda: jobs[1::2]) == jobs


@pytest.mark.parametrize(
    ("worth", "parts"),
    [
        ([], ([], [])),
        ([1] * 5, ([0, 2, 4], [1, 3])),
        ([1, 4, 1, 1, 1, 1], ([0, 2, 3, 4, 5], [1])),
        ([4, 1, 1, 1, 1, 1], ([0, 5], [1, 2, 3, 4])),
    ],
)
def test_two_parts_take_about_as_long(worth, parts):
    """Whoever has what takes long gets less of the rest."""
    assert halves(worth) == parts


def test_what_one_raises_waits_for_the_other() -> None:
    """Else a server would still be answering when the next list is sent to it."""
    ended = []

    def slow() -> list[int]:
        time.sleep(0.2)
        ended.append(True)
        return []

    def failing() -> list[int]:
        raise ValueError("this one")

    with pytest.raises(ValueError, match="this one"):
        alternating(failing, slow)
    assert ended == [True]
    with pytest.raises(ValueError, match="this one"):
        alternating(slow, failing)
    assert ended == [True, True]


def test_an_interruption_does_not_wait() -> None:
    """Ctrl-C ends the command now."""

    def interrupted() -> list[int]:
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        alternating(interrupted, lambda: time.sleep(5) or [])
    assert time.monotonic() - started < 4


def test_later_gives_what_was_made_as_often_as_it_is_asked() -> None:
    """It runs beside, once; what it raises is raised by whoever wants the result."""
    runs = []
    begun = Later(lambda: runs.append(1) or len(runs))
    assert (begun(), begun(), runs) == (1, 1, [1])
    failed = Later(lambda: {}["no such key"])
    failed.wait()
    for _ in range(2):
        with pytest.raises(KeyError, match="no such key"):
            failed()
