"""`engine watch`: the verdict of `submit-fix` or `submit-build` whenever a file is saved. Nothing is
recorded: the verdicts are made by the same commands on a store that keeps nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.commands import submit_build, submit_fix
from engine.commands.naming import called
from engine.commands.serving import Kept
from engine.commands.session import Session
from engine.commands.sources import practice_of
from engine.errors import EngineError, Message, UsageError
from engine.flows.build_report import BuildReport
from engine.flows.fix_report import FixReport
from engine.flows.reports import WatchReport
from engine.learner.store import Event, Store, opened

PASSED_OVER = ("__pycache__", "practice")  # folders of a learner's tree
Tell = Callable[[Any], None]


class _Forgetful(Store):
    """A store that can be read, and keeps nothing."""

    def append(self, exercise: str, attempt: int, kind: str, data: dict[str, Any]) -> Event:
        """The event that would have been added."""
        return Event(self._clock().isoformat(timespec="seconds"), exercise, attempt, kind, data)


def watched(session: Session, id: str | None) -> str:
    """The exercise that is judged: the break that is open, or the build of this name. Raises UsageError."""
    current = opened(session.attempts())
    wanted = called(session, id) if id else None
    if current is not None and wanted in (None, current.name):
        return current.name
    if wanted is None or _is_break(session, wanted):
        raise UsageError(
            Message("No break is open that could be watched."),
            next=Message("`engine watch COMPONENT` watches a build, for example embedding."),
        )
    return wanted


def _is_break(session: Session, name: str) -> bool:
    entry = session.catalogue.entries.get(name)  # a blind break is none of them
    return entry is None or entry.kind == "break"


def folders(session: Session, exercise: str) -> tuple[Path, ...]:
    """Where files are saved that change the verdict. Raises StorageError where they are gone."""
    if _is_break(session, exercise):
        return (practice_of(session),)
    return (session.learner.model,)


def run(begin: Callable[[], Session], exercise: str, changes: Iterable[object], tell: Tell) -> None:
    """Judge for each of `changes`. begin: a session that has read nothing yet. tell: gets what is watched,
    then the verdict, or the EngineError that there was none for.
    """
    with closing(Kept()) as kept:
        for _ in changes:
            session = begin()
            session.kept = kept
            _judge(session, exercise, tell)


def _judge(session: Session, exercise: str, tell: Tell) -> None:
    report: FixReport | BuildReport
    session.store = _Forgetful(session.learner.private)
    try:
        tell(WatchReport(exercise, str(folders(session, exercise)[0])))
        if _is_break(session, exercise):
            report, command = submit_fix.run(session, closing=False), "engine submit-fix"
        else:
            session.part = session.catalogue.entry(exercise).component
            report = submit_build.run(session, exercise)
            command = f"engine submit-build {exercise}"
        tell(WatchReport(exercise, "", command) if report.passed else report)
    except EngineError as error:
        tell(error)


def saved(places: Sequence[Path]) -> Iterator[object]:
    """Once when watching has begun, then whenever Python files below these folders are saved, a little
    after the last of them.
    """
    import watchfiles

    def counts(_: watchfiles.Change, path: str) -> bool:
        inside = [Path(path).relative_to(p) for p in places if Path(path).is_relative_to(p)]
        parts = inside[0].parts if inside else ()
        passed_over = any(part.startswith(".") or part in PASSED_OVER for part in parts)
        return path.endswith(".py") and not passed_over

    begun = False
    for found in watchfiles.watch(
        *places, watch_filter=counts, debounce=400, rust_timeout=200, yield_on_timeout=True
    ):
        if found or not begun:
            begun = True
            yield found
