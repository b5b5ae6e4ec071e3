"""What a break writes: snapshots and the practice copy, then the event that opens it, in this order, so that
a cut leaves nothing half open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.commands.session import Session
from engine.errors import Message, NotApplicable

if TYPE_CHECKING:
    from engine.flows.observe import Observed


def check_same_code(session: Session, files: Mapping[str, bytes]) -> None:
    """The learner is not held up while they are asked, so their code may have changed since."""
    if session.model_files() != files:
        raise NotApplicable(
            Message("Your code was changed meanwhile, so nothing was broken."),
            where=str(session.learner.model),
            next=Message("Run the same command again; what you have answered is kept."),
        )


def lay(
    session: Session, name: str, files: Mapping[str, bytes], broken: Mapping[str, bytes]
) -> dict[str, Any]:
    """Snapshots and the practice copy; returns their names. broken: the files that the bug is in. Nothing is
    open yet.
    """
    from engine.learner.history import lay_out

    learner = session.learner
    return lay_out(learner.private, learner.practice(name), files, broken, learner.model)


def opened(
    session: Session,
    name: str,
    attempt: int,
    laid: Mapping[str, Any],
    bug: Mapping[str, Any],
    observed: Observed,
) -> str:
    """The event that opens a break, with all that hints will need; returns its time. bug: what is known of
    it, sealed where the learner must not know.
    """
    from engine.flows.observe import values_of

    data = {**laid, "model": str(session.learner.model), **bug, "values": values_of(observed)}
    return session.store.append(name, attempt, "injected", data).at
