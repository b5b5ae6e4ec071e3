"""`engine hint`: the next hint, never two."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.flows.reports import HintReport
from engine.learner.store import Attempt, alone, opened


def run(
    session: Session, id: str | None = None, *, everything: bool = False, again: bool = False
) -> HintReport:
    """The next hint of the open break, else of the build `id` or the one last tried; after the last one
    all of them. everything: of an exercise that is over. again: those that were seen, and no new one.
    """
    if everything:
        return _all(session, id)
    if again:
        return _seen(*_current(session, id))
    current = _current(session, id)
    if _taken(current[1]) >= len(current[2]):  # which writes nothing
        return _seen(*current)
    with alone(session.learner.private):
        return _next(session, *_current(session, id))


def _current(session: Session, id: str | None) -> tuple[str, Attempt | None, tuple[str, ...]]:
    """The exercise that hints are for, what was tried of it, and its hints. Raises NotApplicable."""
    id = session.catalogue.entry(id).id if id else None
    current = opened(session.attempts())
    if current is not None and id in (None, current.exercise):
        hints = _texts(session, current.exercise, current.last("injected") or {})
        return current.exercise, current, hints
    entry = session.catalogue.entry(id or _last_failed(session))
    if entry.kind != "build":
        raise NotApplicable(
            Message("{exercise} is not open.", exercise=entry.id),
            next=Message("`engine break {exercise}` starts it.", exercise=entry.id),
        )
    return entry.id, session.latest(entry.id), _texts(session, entry.id, {})


def _taken(attempt: Attempt | None) -> int:
    return len(attempt.all("hinted")) if attempt else 0


def _seen(id: str, attempt: Attempt | None, hints: tuple[str, ...]) -> HintReport:
    taken = min(_taken(attempt), len(hints))
    if not taken:
        raise NotApplicable(
            Message("You have seen no hint of {exercise} yet.", exercise=id),
            next=Message("`engine hint` gives the first one."),
        )
    return HintReport(id, taken, len(hints), hints[:taken], again=True)


def _next(session: Session, id: str, attempt: Attempt | None, hints: tuple[str, ...]) -> HintReport:
    taken = _taken(attempt)
    if taken >= len(hints):
        return _seen(id, attempt, hints)
    number = attempt.number if attempt else 1
    session.store.append(id, number, "hinted", {"hint": taken + 1})
    return HintReport(id, taken + 1, len(hints), (hints[taken],))


def _all(session: Session, id: str | None) -> HintReport:
    id = session.catalogue.entry(id).id if id else None
    attempts = session.attempts()
    current = opened(attempts)
    over = [a for a in attempts if a.state in ("closed", "reset", "passed")]
    found = next((a for a in reversed(over) if id in (None, a.exercise)), None)
    if found is None or (current is not None and id in (None, current.exercise)):
        raise NotApplicable(
            Message("All hints are shown only after an exercise is over."),
            next=Message("`engine hint` gives the next one."),
        )
    hints = _texts(session, found.exercise, found.last("injected") or {})
    return HintReport(found.exercise, len(hints), len(hints), hints)


def _texts(session: Session, id: str, known: Mapping[str, object]) -> tuple[str, ...]:
    hints = session.catalogue.summaries[id].hints
    return tuple(filled(session.text(text), known) for text in hints)


def filled(text: str, known: Mapping[str, object]) -> str:
    """`{file}` and `{symbol}` in a hint, from what the engine knows of this learner's code.

    What stands in no class and no function is in the module.
    """
    known = {**known, "symbol": known.get("symbol") or Path(str(known.get("file") or "")).stem}
    return re.sub(r"\{(file|symbol)\}", lambda m: str(known.get(m[1]) or m[1]), text)


def _last_failed(session: Session) -> str:
    tried = [a for a in session.attempts() if a.state == "failed"]
    if not tried:
        raise NotApplicable(
            Message("Nothing is open that has hints."),
            next=Message(
                "`engine break ID` opens a break; `engine hint COMPONENT` helps with a build."
            ),
        )
    last = max(tried, key=lambda attempt: attempt.events[-1].at)
    return last.exercise
