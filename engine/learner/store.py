"""What happened, in order: an append-only event store in SQLite, and the lock that guards a learner.

    drafted, predicted, injected, observed, diagnosed, hinted, submitted, caused, closed, reset, resumed,
    built

A blind break is recorded under a handle, "blind-3"; which exercise it is stands sealed in `injected`.
Progress is a query over the events; nothing is ever changed or removed.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import Busy, Message, StorageError
from engine.learner.files import storage
from engine.learner.sealed import unseal

SCHEMA = """
create table if not exists events (
  id integer primary key autoincrement,
  at text not null,
  exercise text not null,
  attempt integer not null,
  kind text not null,
  data text not null
)
"""
Clock = Callable[[], datetime]
PATIENCE = 10.0  # seconds for another process to let go of the file


def now() -> datetime:
    """The local time, with its offset."""
    return datetime.now().astimezone()


class Event(msgspec.Struct, frozen=True):
    """One thing that happened to one attempt at one exercise."""

    at: str
    exercise: str
    attempt: int
    kind: str
    data: dict[str, Any]


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have SQLite log ahead. For this step alone it does not wait for another process by itself."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > until:
                raise
            time.sleep(0.01)


class Store:
    """The events of one learner."""

    def __init__(self, private: Path, clock: Clock = now) -> None:
        self._file = private / "events.sqlite"
        self._clock = clock

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with storage(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection = sqlite3.connect(self._file, timeout=PATIENCE, isolation_level=None)
            try:
                _write_ahead(connection)
                connection.execute("pragma synchronous = full")
                connection.execute(SCHEMA)
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise StorageError(
                Message("The event store cannot be used: {error}.", error=error),
                where=str(self._file),
                next=Message(
                    "Make room or make the file writable, then run the same command again."
                ),
            ) from error

    def append(self, exercise: str, attempt: int, kind: str, data: dict[str, Any]) -> Event:
        """Add one event, durably."""
        at = self._clock().isoformat(timespec="seconds")
        text = json.dumps(data)  # ASCII: a lone surrogate is kept as an escape
        with self._open() as connection:
            connection.execute(
                "insert into events (at, exercise, attempt, kind, data) values (?, ?, ?, ?, ?)",
                (at, exercise, attempt, kind, text),
            )
        return Event(at, exercise, attempt, kind, data)

    def events(self) -> list[Event]:
        """All events, oldest first. Reads only: no store is made where there is none."""
        if not self._file.exists():
            return []
        # without a write-ahead log nobody is writing: then not even SQLite's own files are made
        quiet = not self._file.with_name(self._file.name + "-wal").exists()
        mode = "immutable=1" if quiet else "mode=ro"
        try:
            connection = sqlite3.connect(f"{self._file.as_uri()}?{mode}", uri=True, timeout=10)
            try:
                rows = connection.execute(
                    "select at, exercise, attempt, kind, data from events order by id"
                ).fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            if "no such table" in str(error):  # cut off while it was made
                return []
            raise StorageError(
                Message("The event store cannot be read: {error}.", error=error),
                where=str(self._file),
            ) from error
        return [Event(at, id, n, kind, json.loads(data)) for at, id, n, kind, data in rows]


class Attempt(msgspec.Struct, frozen=True):
    """One go at one exercise, as the events tell it. `name`: what it is recorded, laid out and called by: the
    exercise, or the handle of a blind break.
    """

    name: str
    number: int
    events: tuple[Event, ...]

    @property
    def blind(self) -> bool:
        """Whether the learner is not told what it is, until it is closed."""
        return "sealed" in (self.last("injected") or {})

    @property
    def injected(self) -> dict[str, Any]:
        """What is known of the bug in the practice copy; nothing before it is there."""
        data = self.last("injected") or {}
        return {**data, **unseal(data["sealed"])} if "sealed" in data else data

    @property
    def exercise(self) -> str:
        """The exercise that it is a go at."""
        return str(self.injected["exercise"]) if self.blind else self.name

    @property
    def revealed(self) -> str:
        """The exercise, where it may be said."""
        return "" if self.secret else self.exercise

    @property
    def secret(self) -> bool:
        """Whether which exercise it is must not be said."""
        return self.blind and self.state != "closed"

    def last(self, kind: str) -> dict[str, Any] | None:
        """The data of the latest event of a kind."""
        return next((e.data for e in reversed(self.events) if e.kind == kind), None)

    def all(self, kind: str) -> list[dict[str, Any]]:
        """The data of every event of a kind, oldest first."""
        return [e.data for e in self.events if e.kind == kind]

    @property
    def answered(self) -> set[str]:
        """The questions after a build that were answered right."""
        return {data["question"] for data in self.all("answered") if data["right"]}

    @property
    def state(self) -> str:
        """new, predicted, open, closed or reset; for a build passed or failed, as it was last."""
        kinds = {event.kind for event in self.events}
        built = self.last("built")
        if built is not None:
            return "passed" if built["passed"] else "failed"
        aside = [event.kind for event in self.events if event.kind in ("reset", "resumed")]
        if aside and aside[-1] == "reset":
            return "reset"
        for kind, state in (("closed", "closed"), ("injected", "open")):
            if kind in kinds:
                return state
        return "predicted" if "predicted" in kinds else "new"


def attempts(events: list[Event]) -> list[Attempt]:
    """Events -> attempts, in the order in which they began."""
    grouped: dict[tuple[str, int], list[Event]] = {}
    for event in events:
        grouped.setdefault((event.exercise, event.attempt), []).append(event)
    return [Attempt(id, number, tuple(group)) for (id, number), group in grouped.items()]


def states(found: list[Attempt]) -> dict[str, str]:
    """The state of each exercise; what was once closed stays so while nothing is open. A blind break counts
    once it is closed.
    """
    states: dict[str, str] = {}
    for attempt in found:
        if attempt.secret:
            continue
        if states.get(attempt.exercise) == "closed" and attempt.state != "open":
            continue
        states[attempt.exercise] = attempt.state
    return states


def latest(found: list[Attempt], name: str) -> Attempt | None:
    """The newest attempt that is recorded by this name."""
    return next((a for a in reversed(found) if a.name == name), None)


def taken(found: list[Attempt]) -> dict[str, tuple[str, ...]]:
    """How each break that was closed was taken: told, blind, or both."""
    ways: dict[str, dict[str, None]] = {}
    for attempt in found:
        if attempt.state == "closed":
            ways.setdefault(attempt.exercise, {})["blind" if attempt.blind else "told"] = None
    return {exercise: tuple(found) for exercise, found in ways.items()}


def next_handle(found: list[Attempt]) -> str:
    """What the next blind break is called."""
    return f"blind-{1 + sum(attempt.blind for attempt in found)}"


def coming(last: Attempt | None) -> int:
    """The number of the attempt that begins now; one that was given up while typing goes on."""
    if last is None:
        return 1
    return last.number + (last.state != "new")


def opened(found: list[Attempt]) -> Attempt | None:
    """The break that is open, if one is."""
    return next((a for a in reversed(found) if a.state == "open"), None)


def last_failed(found: list[Attempt]) -> Attempt | None:
    """The build that was refused last and has not passed since, if there is one."""
    failed = [a for a in found if a.state == "failed"]
    return max(failed, key=lambda attempt: attempt.events[-1].at, default=None)


@contextmanager
def alone(private: Path, *, patience: float = 1.0) -> Iterator[None]:
    """Hold the learner's lock: one engine changes things at a time. Raises Busy.

    The lock belongs to the open file, so a killed engine leaves none behind.
    """
    with storage(private):
        private.mkdir(parents=True, exist_ok=True)
        fd = os.open(private / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
                    raise Busy(
                        Message(
                            "Another engine is at work on this learner (process {holder}).",
                            holder=holder,
                        ),
                        where=str(private.parent),
                        next=Message("Finish there first; nothing was changed here."),
                    ) from None
                time.sleep(0.05)
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(fd)
