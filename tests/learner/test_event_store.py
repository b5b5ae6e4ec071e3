"""The event store is append-only, in WAL mode, and shared by processes; the lock guards a learner."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workbench import environment, listing, read_only_view

from engine.errors import Busy, StorageError
from engine.learner.store import Store, alone, attempts, opened

WRITER = """
import sys
from pathlib import Path
from engine.learner.store import Store
store = Store(Path(sys.argv[1]))
for i in range(int(sys.argv[3])):
    store.append("x", 1, sys.argv[2], {"i": i})
    print(i, flush=True)
"""
HOLDER = """
import sys, time
from pathlib import Path
from engine.learner.store import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def python(code: str, *words: object) -> subprocess.Popen[str]:
    """Another process that runs `code`."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip


def test_events_come_back_in_the_order_they_were_added(tmp_path: Path) -> None:
    """What was appended is read back as it was, oldest first, with the clock's time."""
    store = Store(tmp_path, clock=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    given = [("a", 1, "predicted", {"answers": ["é", 1.5, None]}), ("b", 2, "hinted", {"hint": 1})]
    for event in given:
        store.append(*event)
    found = store.events()
    assert [(e.exercise, e.attempt, e.kind, e.data) for e in found] == given
    assert {e.at for e in found} == {"2026-01-02T03:04:05+00:00"}


def test_the_store_is_in_wal_mode(tmp_path: Path) -> None:
    """SQLite itself says so."""
    Store(tmp_path).append("x", 1, "built", {})
    with sqlite3.connect(tmp_path / "events.sqlite") as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)


def test_appending_changes_no_earlier_row(tmp_path: Path) -> None:
    """Ids only grow, and every row that was there stays as it was."""
    store, query = Store(tmp_path), "select * from events order by id"
    seen: list[tuple[object, ...]] = []
    for i in range(5):
        store.append("x", 1, "hinted", {"hint": i})
        with sqlite3.connect(tmp_path / "events.sqlite") as connection:
            rows = connection.execute(query).fetchall()
        assert rows[: len(seen)] == seen and len(rows) == len(seen) + 1
        seen = rows


def test_appends_of_two_processes_all_arrive(tmp_path: Path) -> None:
    """Eighty events of two writers are all there, each writer's in its own order."""
    writers = [python(WRITER, tmp_path, name, 40) for name in ("left", "right")]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    found = Store(tmp_path).events()
    for name in ("left", "right"):
        assert [e.data["i"] for e in found if e.kind == name] == list(range(40))


def test_an_event_that_was_confirmed_survives_kill_9(tmp_path: Path) -> None:
    """A writer that is killed leaves every event that it had finished."""
    writer = python(WRITER, tmp_path, "w", 100000)
    assert writer.stdout is not None
    done = [int(writer.stdout.readline()) for _ in range(7)]
    writer.kill()
    done += [int(line) for line in writer.communicate()[0].splitlines()]
    found = [e.data["i"] for e in Store(tmp_path).events()]
    assert found[: len(done)] == done
    Store(tmp_path).append("x", 1, "after", {})
    assert Store(tmp_path).events()[-1].kind == "after"


def test_reading_makes_no_store(tmp_path: Path) -> None:
    """Where there are no events, none is made up and no file appears."""
    assert Store(tmp_path / "none").events() == []
    assert list(tmp_path.iterdir()) == []


def test_reading_writes_nothing(tmp_path: Path) -> None:
    """Reading leaves no file behind, not even one of SQLite's own."""
    store = Store(tmp_path)
    store.append("x", 1, "built", {"passed": True})
    before = listing(tmp_path)
    assert len(store.events()) == 1
    assert listing(tmp_path) == before


def test_a_store_on_a_read_only_disk_can_be_read(tmp_path: Path) -> None:
    """What was recorded can be looked at where nothing can be written."""
    Store(tmp_path / "real").append("x", 1, "built", {"passed": True})
    with read_only_view(tmp_path / "real", tmp_path / "view") as view:
        assert [e.kind for e in Store(view).events()] == ["built"]
        with pytest.raises(StorageError):
            Store(view).append("x", 1, "hinted", {})


@pytest.mark.parametrize(
    "content", [b"this is no database, whatever its name", b"SQLite format 3\0x"]
)
def test_a_damaged_store_is_named(tmp_path: Path, content: bytes) -> None:
    """A file that SQLite cannot read is an error with its path, for readers and writers."""
    (tmp_path / "events.sqlite").write_bytes(content * 40)
    for use in (Store(tmp_path).events, lambda: Store(tmp_path).append("x", 1, "built", {})):
        with pytest.raises(StorageError) as caught:
            use()
        assert caught.value.where.endswith("events.sqlite")


@pytest.mark.parametrize("began", [[], ["pragma journal_mode = wal"]], ids=["connect", "wal"])
def test_a_store_that_was_cut_off_while_it_was_made_is_empty(
    tmp_path: Path, began: list[str]
) -> None:
    """Killed, or out of disk, before the table was made: nothing happened yet, and it goes on."""
    (tmp_path / "events.sqlite").touch()
    connection = sqlite3.connect(tmp_path / "events.sqlite")
    for statement in began:
        connection.execute(statement)
    connection.close()
    store = Store(tmp_path)
    assert store.events() == []
    store.append("x", 1, "built", {})
    assert len(store.events()) == 1


@settings(database=None, deadline=None, max_examples=15)
@given(
    data=st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=5),
        st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
        max_size=4,
    )
)
def test_any_data_comes_back(tmp_path_factory: pytest.TempPathFactory, data: dict) -> None:
    """Whatever text and numbers an event holds, it comes back equal."""
    store = Store(tmp_path_factory.mktemp("store"))
    store.append("x", 1, "predicted", data)
    assert store.events()[0].data == data


def test_text_that_is_no_unicode_is_kept_or_refused_clearly(tmp_path: Path) -> None:
    """A lone surrogate, as a Latin-1 terminal types it, is no bug of the engine."""
    store = Store(tmp_path)
    try:
        store.append("x", 1, "predicted", {"answer": "ma\udcf1ana"})
    except StorageError:
        return
    assert len(store.events()) == 1


def test_states_follow_the_events(tmp_path: Path) -> None:
    """predicted, open, closed; a new attempt is open again; a reset one is not."""
    store = Store(tmp_path)

    def states() -> list[str]:
        return [a.state for a in attempts(store.events())]

    store.append("x", 1, "predicted", {})
    assert states() == ["predicted"] and opened(attempts(store.events())) is None
    store.append("x", 1, "injected", {})
    store.append("x", 1, "submitted", {})
    assert states() == ["open"]
    store.append("x", 1, "closed", {})
    store.append("x", 2, "predicted", {})
    store.append("x", 2, "injected", {})
    assert states() == ["closed", "open"]
    assert opened(attempts(store.events())).number == 2
    store.append("x", 2, "reset", {})
    assert states() == ["closed", "reset"] and opened(attempts(store.events())) is None


def test_the_lock_names_its_holder_and_is_free_after_kill_9(tmp_path: Path) -> None:
    """The second engine is told who works; a killed engine holds nothing."""
    holder = python(HOLDER, tmp_path)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    with pytest.raises(Busy, match=str(holder.pid)) as caught, alone(tmp_path, patience=0):
        pass
    assert "nothing was changed" in caught.value.next
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with alone(tmp_path, patience=0):
        assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_the_lock_is_free_after_an_error(tmp_path: Path) -> None:
    """An exception inside gives the lock back."""
    with pytest.raises(ZeroDivisionError), alone(tmp_path):
        1 / 0
    with alone(tmp_path, patience=0):
        pass


def test_the_lock_waits_for_a_moment(tmp_path: Path) -> None:
    """An engine that is about to finish is waited for."""
    holder = python(HOLDER.replace("600", "0.3"), tmp_path)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    with alone(tmp_path, patience=30):
        pass
    assert holder.wait() == 0


def test_reading_while_another_engine_writes_never_fails(tmp_path: Path) -> None:
    """A reader sees what was there at some moment, and never less than the time before."""
    Store(tmp_path).append("x", 1, "w", {"i": -1})
    writer = python(WRITER, tmp_path, "w", 150)
    seen = 0
    while writer.poll() is None:
        found = [e.data["i"] for e in Store(tmp_path).events()]
        assert found == list(range(-1, len(found) - 1))
        assert len(found) >= seen
        seen = len(found)
    assert len(Store(tmp_path).events()) == 151
