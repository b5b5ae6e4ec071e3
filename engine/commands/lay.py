"""What a break writes before it is open: snapshots, the practice copy, the event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.learner.sealed import seal

if TYPE_CHECKING:
    from engine.flows.break_ import Planned


def check_same_code(session: Session, files: Mapping[str, bytes]) -> None:
    """The learner is not held up while they are asked, so their code may have changed since."""
    if session.model_files() != files:
        raise NotApplicable(
            Message("Your code was changed while you were asked, so nothing was broken."),
            where=str(session.learner.model),
            next=Message("Your predictions are kept: the same command goes on with them."),
        )


def write(
    session: Session,
    name: str,
    attempt: int,
    files: Mapping[str, bytes],
    planned: Planned,
    *,
    sealed: str = "",
) -> None:
    """Snapshot, practice copy, event: in this order, so that a cut leaves nothing half open. sealed: the
    exercise, where `name` is the handle of a blind break.
    """
    from engine.learner.history import lay_out

    learner = session.learner
    broken = planned.injection.files
    kept = lay_out(learner.private, learner.practice(name), files, broken, learner.model)
    bug = {"file": planned.file, "symbol": planned.symbol, "how": planned.injection.how}
    if sealed:
        bug = {"sealed": seal({**bug, "exercise": sealed, "places": planned.places})}
    session.store.append(name, attempt, "injected", {**kept, "model": str(learner.model), **bug})
