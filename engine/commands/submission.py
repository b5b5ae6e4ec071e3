"""Whether there is anything to judge, and whether what was judged is still what is open."""

from __future__ import annotations

from engine.commands.session import Session
from engine.commands.versions import before_and_now
from engine.errors import EngineError, Message, NotApplicable, UsageError
from engine.judge.level import Level
from engine.learner.store import Attempt, opened
from engine.run.types import Tree


def check_builds(session: Session) -> None:
    """There is something to build. Raises NotApplicable."""
    if not any(entry.kind == "build" for entry in session.catalogue.entries.values()):
        raise NotApplicable(
            Message("The pack {pack} has nothing to build.", pack=session.catalogue.pack),
            next=Message("`engine break` puts a bug in; `engine next` says what is ready for you."),
        )


def check_level(session: Session, level: Level) -> None:
    """Level exam is for code in NumPy. Raises UsageError."""
    catalogue = session.catalogue
    if level.exam and not catalogue.by_facts and catalogue.contract.framework == "torch":
        raise UsageError(
            Message("The pack {pack} is judged at level practice alone.", pack=catalogue.pack),
            next=Message("Leave --level away."),
        )


def unchanged(session: Session, attempt: Attempt, before: Tree) -> EngineError:
    """There is nothing to judge; and where a learner may have changed the wrong copy, say so."""
    practice = session.learner.typed(session.learner.practice(attempt.name)) + "/"
    own = session.model_files()
    elsewhere = [path for path, data in sorted(own.items()) if before.files.get(path) != data]
    if elsewhere:
        return EngineError(
            Message("Nothing has changed in {practice} yet.", practice=practice),
            where=Message(
                "Your own code did: {files}. The bug is in the practice copy alone.",
                files=", ".join(elsewhere),
            ),
        )
    return EngineError(
        Message("Nothing has changed in {practice} yet.", practice=practice),
        next=Message("Fix the bug there; `engine hint` helps."),
    )


def check_same(session: Session, attempt: Attempt, judged: Tree | None = None) -> None:
    """What was judged is still what is open. Raises NotApplicable."""
    now = opened(session.attempts())
    if now is None or (now.name, now.number) != (attempt.name, attempt.number):
        raise NotApplicable(
            Message(
                "{exercise} was closed or put aside meanwhile, so nothing was recorded.",
                exercise=attempt.name,
            ),
            next=Message("`engine status` shows what is open."),
        )
    if judged is not None and before_and_now(session, attempt)[1].files != judged.files:
        raise NotApplicable(
            Message("The practice copy was changed while it was judged, so nothing was recorded."),
            where=str(session.learner.practice(attempt.name)),
            next=Message("Save your files, then `engine submit-fix` once more."),
        )
