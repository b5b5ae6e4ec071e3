"""`engine submit-build`: a component of the learner's own tree against the reference."""

from __future__ import annotations

from engine.commands import building
from engine.commands.questions import ask_all, still_open
from engine.commands.session import Session
from engine.commands.submission import check_builds, check_level
from engine.errors import Message, UsageError
from engine.flows import measuring
from engine.flows.build_report import BuildReport
from engine.flows.questions import Ask, nobody
from engine.judge.level import PRACTICE, Level
from engine.learner.store import alone
from engine.spec.entry import Entry


def run(
    session: Session,
    id: str | None = None,
    ask: Ask = nobody,
    *,
    level: Level = PRACTICE,
    progress: measuring.Progress = measuring.quiet,
) -> BuildReport:
    """Judge one component, then ask what was understood. Without an id, the first of the course that
    has not passed. level: how strictly.
    """
    learner, catalogue = session.learner, session.catalogue
    entry = chosen(session, id)
    check_level(session, level)
    spec = catalogue.assignment(entry.id)
    first = _to_build_first(session, entry)
    found = building.graded(session, entry, level, progress)
    from engine.judge.findings import unwritten  # brings numpy

    verdict, graded = found.verdict, found.hashes(spec.edit)
    with alone(learner.private):
        data = {
            "passed": verdict.passed,
            "seed": verdict.seed,
            "graded": graded,
            "failing": found.failing,
            "unwritten": unwritten(verdict.required),
            "code": found.code,
        }
        session.store.append(entry.id, 1, "built", data)
    answered = ask_all(session, entry.id, 1, ask) if verdict.passed else ()
    return BuildReport(
        entry.id,
        session.text(spec.title),
        verdict.passed,
        verdict,
        graded,
        found.sandbox,
        first,
        answered,
        len(still_open(spec.questions, session.latest(entry.id))),
        "engine next" if verdict.passed else f"engine hint {entry.id}",
        learner.lang,
        learner.typed(learner.model),
        spec.constraints,
    )


def chosen(session: Session, id: str | None) -> Entry:
    """The build of this name, else the first of the course that has not passed. Raises UsageError."""
    entry = session.catalogue.entry(id or _first_open(session))
    if entry.kind != "build":
        raise UsageError(
            Message("{exercise} is a break, not a build exercise.", exercise=entry.id),
            next=Message("`engine submit-fix` judges the fix of the break that is open."),
        )
    return entry


def _first_open(session: Session) -> str:
    check_builds(session)
    done = {a.exercise for a in session.attempts() if a.state == "passed"}
    for entry in session.catalogue.entries.values():
        if entry.kind == "build" and entry.id not in done:
            return entry.id
    raise UsageError(
        Message("Every build exercise has passed."),
        next=Message("`engine submit-build ID` checks one again."),
    )


def _to_build_first(session: Session, entry: Entry) -> tuple[str, ...]:
    """What this component's code uses and has not passed: no hindrance, but the place to look first. What a
    course merely has one read before is none of its faults.
    """
    catalogue = session.catalogue
    done = {a.exercise for a in session.attempts() if a.state == "passed"}
    return tuple(
        id for id in catalogue.uses(entry.id) if id in catalogue.entries and id not in done
    )
