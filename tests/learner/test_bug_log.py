"""The log of a bug of the engine's own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from engine.cli.log import write_log


def failure() -> BaseException:
    """An exception with a traceback."""
    try:
        {}["the missing key"]
    except KeyError as error:
        return error
    raise AssertionError


def test_a_log_holds_the_traceback_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is, is returned; what is in it is enough to report."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["engine", "status"])
    text = Path(write_log(failure())).read_text()
    assert "the missing key" in text and "in failure" in text and "'status'" in text


def test_a_log_that_cannot_be_written_is_no_second_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the reason comes in its place."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert "could not be written" in write_log(failure())
