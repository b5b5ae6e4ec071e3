"""engine watch: a verdict for each time that a file is saved, and no trace of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workbench import HEAD, HEALTHY, LOSS, LOUD, Terminal, engine, listing, mend, session

from engine.commands import watch
from engine.errors import EngineError, StorageError, UsageError
from engine.flows.reports import WatchReport
from engine.run.servers import Servers


def kept(home: Path) -> dict[str, Any]:
    """All that is there, the lock and what was edited apart."""
    found = listing(home)
    return {
        k: v[3]
        for k, v in found.items()
        if k not in (".engine/lock", LOSS, f"practice/{LOUD}/{HEAD}")
    }


def told(home: Path, exercise: str, *edits: Any) -> list[Any]:
    """What is told at the beginning and after each of the edits."""
    found: list[Any] = []

    def changes() -> Iterator[None]:
        yield
        for edit in edits:
            edit()
            yield

    watch.run(lambda: session(home), exercise, changes(), found.append)
    return [one for one in found if not isinstance(one, WatchReport) or one.right]


def test_a_build_is_judged_again_and_nothing_is_recorded(home: Path) -> None:
    """Right, wrong, half written, right again."""
    before, file = kept(home), home / LOSS
    own = file.read_text()
    found = told(
        home, "cross_entropy",
        lambda: file.write_text(own.replace(".mean()", ".sum()")),
        lambda: file.write_text("def half(:\n"),
        lambda: file.write_text(own),
    )  # fmt: skip
    passes = WatchReport("cross_entropy", "", "engine submit-build cross_entropy")
    assert found[0] == found[3] == passes and found[1].passed is False
    assert isinstance(found[2], EngineError) and "loss.py:1" in found[2].where
    assert kept(home) == before


def test_interpreters_are_started_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second verdict waits for no import of numpy or torch; after a failure all begins anew."""
    started: list[Servers] = []
    start = Servers.start
    monkeypatch.setattr(Servers, "start", lambda self: (started.append(self), start(self))[1])
    file = home / LOSS
    own = file.read_text()
    found = told(
        home, "cross_entropy",
        lambda: file.write_text(own.replace(".mean()", ".sum()")),
        lambda: file.write_text(own),
    )  # fmt: skip
    assert [isinstance(one, WatchReport) for one in found] == [True, False, True]
    assert len(started) == 1 and not started[0]._zygotes


def test_a_right_fix_is_told_and_stays_open(opened: Path) -> None:
    """No cause is asked for, none is told; the notes stay as they are."""
    before = kept(opened)
    found = told(opened, LOUD, lambda: mend(opened, "self.vocab_size_out = 64"))
    assert all(isinstance(one, EngineError) or not one.passed for one in found)
    practice = opened / "practice" / LOUD / HEAD
    found = told(
        opened, LOUD, lambda: practice.write_text(practice.read_text().replace("self.vocab_size_out = 64", HEALTHY))
    )  # fmt: skip
    assert found[-1] == WatchReport(LOUD, "", "engine submit-fix")
    assert kept(opened) == before and session(opened).open_break().exercise == LOUD


def test_what_is_watched(opened: Path) -> None:
    assert watch.watched(session(opened), None) == LOUD
    assert watch.watched(session(opened), "embedding") == "embedding"
    assert watch.folders(session(opened), LOUD) == (opened / "practice" / LOUD,)
    assert watch.folders(session(opened), "embedding") == (opened,)


def test_a_practice_copy_that_is_gone_is_said(opened: Path) -> None:
    shutil.rmtree(opened / "practice" / LOUD)
    done = engine("watch", cwd=opened, code=StorageError.exit_code)
    assert "The practice copy is gone" in done.stderr and "engine reset" in done.stderr


def test_without_an_open_break_a_build_must_be_named(home: Path) -> None:
    for id in (None, LOUD):
        with pytest.raises(UsageError, match="No break is open"):
            watch.watched(session(home), id)
    engine("watch", cwd=home, code=2)


def test_saving_a_file_brings_a_new_verdict_and_ctrl_c_ends_it(home: Path) -> None:
    """On a terminal: from one verdict to the next, and out with exit code 0. Lines break where they must."""
    with Terminal("watch", "cross_entropy", cwd=home) as terminal:
        terminal.expect("Ctrl-C")
        terminal.expect("would pass")
        file = home / LOSS
        file.write_text(file.read_text().replace(".mean()", ".sum()"))
        terminal.expect("Ctrl-C")
        terminal.expect("engine hint cross_entropy")
        terminal.press(b"\x03")
        assert terminal.end() == 0
