"""`engine hint`: the next hint, never two."""

from __future__ import annotations

from engine.commands.naming import called
from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.flows.hints import filled, ladder, next_one
from engine.flows.reports import HintReport
from engine.learner.store import Attempt, alone, last_failed, opened


def run(
    session: Session, id: str | None = None, *, everything: bool = False, again: bool = False
) -> HintReport:
    """The next hint of the open break, else of the build `id` or the one last tried; after the last one
    all of them. everything: of an exercise that is over. again: those that were seen, and no new one.
    """
    if everything:
        return _all(session, id)
    current = _current(session, id)
    if again or _coming(session, *current) is None:  # which writes nothing
        return _seen(*current)
    with alone(session.learner.private):
        return _next(session, *_current(session, id))


def _current(session: Session, id: str | None) -> tuple[str, Attempt | None, tuple[str, ...]]:
    """What hints are for, what was tried of it, and its hints. Raises NotApplicable."""
    name = called(session, id) if id else None
    current = opened(session.attempts())
    if current is not None and name in (None, current.name):
        return current.name, current, _of_a_break(session, current)
    name = name or _last_failed(session)
    entry = session.catalogue.entries.get(name)
    if entry is None or entry.kind != "build":
        start = Message("`engine break {exercise}` starts it.", exercise=name)
        another = Message(
            "`engine hint --all {exercise}` shows its hints once it is over.", exercise=name
        )
        raise NotApplicable(
            Message("{exercise} is not open.", exercise=name), next=start if entry else another
        )
    lang = session.learner.lang
    hints = tuple(filled(text, {}, lang) for text in session.catalogue.summaries[name].hints)
    return name, session.latest(name), hints


def _taken(attempt: Attempt | None) -> list[int]:
    """The numbers of the hints that were given, in that order."""
    return [data["hint"] for data in attempt.all("hinted")] if attempt else []


def _coming(
    session: Session, name: str, attempt: Attempt | None, hints: tuple[str, ...]
) -> int | None:
    """The number of the next hint; of a build one about the check that failed first comes before others,
    unless that check only came to what is not written yet.
    """
    failing = (attempt.last("built") or {}).get("failing") if attempt else None
    fitting: tuple[int, ...] = ()
    if failing and not _unwritten(attempt):
        check = failing[0]["check"].split()[-1]  # of a fact, "fact ID"
        fitting = session.catalogue.summaries[name].hints_for.get(check, ())
    return next_one(len(hints), _taken(attempt), fitting)


def _unwritten(attempt: Attempt | None) -> bool:
    """Whether a build stopped last at what is not written yet."""
    return bool(((attempt and attempt.last("built")) or {}).get("unwritten"))


def _seen(name: str, attempt: Attempt | None, hints: tuple[str, ...]) -> HintReport:
    taken = [number for number in _taken(attempt) if number <= len(hints)]
    if not taken:
        raise NotApplicable(
            Message("You have seen no hint of {exercise} yet.", exercise=name),
            next=Message("`engine hint` gives the first one."),
        )
    given = tuple(hints[number - 1] for number in taken)
    return HintReport(name, len(taken), len(hints), given, again=True)


def _next(
    session: Session, name: str, attempt: Attempt | None, hints: tuple[str, ...]
) -> HintReport:
    coming = _coming(session, name, attempt, hints)
    if coming is None:
        return _seen(name, attempt, hints)
    number = attempt.number if attempt else 1
    session.store.append(name, number, "hinted", {"hint": coming})
    told = (hints[coming - 1],)
    return HintReport(
        name, len(_taken(attempt)) + 1, len(hints), told, unwritten=_unwritten(attempt)
    )


def _all(session: Session, id: str | None) -> HintReport:
    name = called(session, id) if id else None
    attempts = session.attempts()
    current = opened(attempts)
    over = [a for a in attempts if a.state in ("closed", "reset", "passed")]
    found = next((a for a in reversed(over) if name in (None, a.name, a.revealed)), None)
    if found is None or (current is not None and name in (None, current.name)):
        raise NotApplicable(
            Message("All hints are shown only after an exercise is over."),
            next=Message("`engine hint` gives the next one."),
        )
    hints = _of_a_break(session, found)
    return HintReport(found.name, len(hints), len(hints), hints)


def _of_a_break(session: Session, attempt: Attempt) -> tuple[str, ...]:
    """The hints of an attempt at a break, or of a build that was tried."""
    known = attempt.injected
    hints = ladder(session.catalogue.summaries[attempt.exercise], known, blind=attempt.blind)
    return tuple(filled(text, known, session.learner.lang) for text in hints)


def _last_failed(session: Session) -> str:
    last = last_failed(session.attempts())
    if last is None:
        raise NotApplicable(
            Message("Nothing is open that has hints."),
            next=Message(
                "`engine break ID` opens a break; `engine hint COMPONENT` helps with a build."
            ),
        )
    return last.name
