"""The code of an open break: before it, with the bug as it was laid, and the practice copy as it is now."""

from __future__ import annotations

from engine.commands.session import Session
from engine.learner.history import read_practice
from engine.learner.model import check_syntax, python_files
from engine.learner.snapshots import History
from engine.learner.store import Attempt
from engine.run.types import Tree


def before_and_now(session: Session, attempt: Attempt) -> tuple[Tree, Tree]:
    """The learner's code before an open break, and the practice copy as it is now. Raises StorageError,
    LearnerCodeError.
    """
    learner = session.learner
    before = _kept(session, attempt, "before")
    folder = learner.practice(attempt.name)
    now = read_practice(folder, before)
    changed = {path: data for path, data in now.items() if before.get(path) != data}
    check_syntax(python_files(changed), f"practice/{attempt.name}")
    return (
        learner.tree(session.catalogue, before, learner.model),
        learner.tree(session.catalogue, now, folder),
    )


def broken(session: Session, attempt: Attempt) -> Tree:
    """The practice copy of an open break as it was laid. Raises StorageError."""
    learner = session.learner
    files = _kept(session, attempt, "broken")
    return learner.tree(session.catalogue, files, learner.practice(attempt.name))


def _kept(session: Session, attempt: Attempt, name: str) -> dict[str, bytes]:
    data = attempt.last("injected")
    assert data is not None  # an open break was injected
    return History(session.learner.private).load(data[name])
