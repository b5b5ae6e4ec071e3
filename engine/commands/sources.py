"""A learner's code as it lies on disk: which files it is, and which of them a command needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import Message, StorageError, UsageError
from engine.learner.learner import Learner
from engine.spec.catalogue import Catalogue

if TYPE_CHECKING:
    from engine.commands.session import Session


def read(learner: Learner, catalogue: Catalogue) -> dict[str, bytes]:
    """The learner's model code, whether it can be parsed or not. Raises LearnerCodeError, UsageError."""
    from engine.learner import model

    roles = learner.roles(catalogue)
    modules = {where.partition(":")[0] for where in roles.values()}
    root = learner.model
    if not root.is_dir():
        raise UsageError(
            Message("The folder of the model code is gone."),
            where=str(root),
            next=Message("Set `model:` in learner.yaml to where your code is."),
        )
    return model.read(root, catalogue.contract.roots, modules)


def needed(
    learner: Learner, catalogue: Catalogue, files: Mapping[str, bytes], component: str | None
) -> Mapping[str, bytes]:
    """Of the model's files those that a component may run; all of them where it is None, or where that
    cannot be told.
    """
    if component is None:
        return files
    from engine.code.imports import closure

    roles = learner.roles(catalogue)
    modules = {roles[role].partition(":")[0] for role in catalogue.roles_of(component)}
    try:
        found = closure(files, catalogue.contract.roots, modules, trusting=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # one of those
        return files
    return files if found is None else {path: files[path] for path in sorted(found)}


def practice_of(session: Session) -> Path:
    """The practice copy of the break that is open. Raises NotApplicable, StorageError."""
    folder = session.learner.practice(session.open_break().name)
    if not folder.is_dir():
        raise StorageError(
            Message("The practice copy is gone."),
            where=str(folder),
            next=Message(
                "`engine reset` closes this attempt; then `engine break` starts it again."
            ),
        )
    return folder
