"""A learner's code as it lies on disk: which files it is, and which of them a command needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import LearnerCodeError, Message, StorageError, UsageError
from engine.learner.learner import Learner
from engine.spec.catalogue import Catalogue

if TYPE_CHECKING:
    from engine.commands.session import Session


def read(learner: Learner, catalogue: Catalogue) -> dict[str, bytes]:
    """The learner's model code, whether it can be parsed or not. Raises LearnerCodeError, UsageError."""
    from engine.learner import model

    root = learner.model
    if not root.is_dir():
        raise UsageError(
            Message("The folder of the model code is gone."),
            where=str(root),
            next=Message("Set `model:` in learner.yaml to where your code is."),
        )
    if catalogue.by_facts or catalogue.contract.signatures:
        return _anybodys(learner, root)
    modules = {where.partition(":")[0] for where in learner.roles(catalogue).values()}
    return model.read(root, catalogue.contract.roots, modules)


def check_made(catalogue: Catalogue, files: Mapping[str, bytes], lang: str) -> None:
    """A package that is made of something else is whole. Raises LearnerCodeError, which says how."""
    if catalogue.by_facts or not catalogue.contract.export:
        return
    from engine.code.imports import absent
    from engine.code.signatures import placed

    contract = catalogue.contract
    roles = placed(contract.roles, contract.moved, contract.roots, files)
    modules = {where.partition(":")[0] for where in roles.values()}
    found = absent(files, contract.roots, modules)
    if found:
        told = Message(
            "{file} imports {module}, which is not there.", module=found[0], file=found[1]
        )
        raise LearnerCodeError(told, next=contract.export[lang])


def _anybodys(learner: Learner, root: Path) -> dict[str, bytes]:
    """Code of any layout, with its configurations; without what is ours where it lies in the learner's own
    folder. Raises LearnerCodeError. Notebooks are left out: a practice copy is made of files.
    """
    from engine.facts import files
    from engine.learner.data import OURS

    own = root == learner.home
    found = {
        path: data
        for path, data in files.read(root).items()
        if not path.endswith(".ipynb") and not (own and OURS.fullmatch(path.split("/")[0]))
    }
    if not any(path.endswith(".py") for path in found):
        raise LearnerCodeError(Message("There is no Python file here."), where=str(root))
    return found


def data_files(session: Session) -> list[Path]:
    """The data beside the learner's code, and beside the practice copy that is open."""
    from engine.learner.data import data_files as beside
    from engine.learner.store import opened

    current = opened(session.attempts())
    practice = [session.learner.practice(current.name)] if current else []
    return [path for root in (session.learner.model, *practice) for path in beside(root)]


def needed(
    learner: Learner, catalogue: Catalogue, files: Mapping[str, bytes], component: str | None
) -> Mapping[str, bytes]:
    """Of the model's files those that a component may run; all of them where it is None, or where that
    cannot be told. Of anybody's layout none, where no component of the contract is named.
    """
    contract = catalogue.contract
    if contract.signatures and component not in contract.components:
        return {}
    if component is None:
        return files
    from engine.code.imports import closure

    roots, roles = learner.contract(catalogue, files)
    modules = {roles[role].partition(":")[0] for role in catalogue.roles_of(component)}
    try:
        found = closure(files, roots, modules, trusting=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # one of those
        found = None
    known = [path for path in files if path.endswith(".py")] if found is None else sorted(found)
    return {path: files[path] for path in known}


def roots_of(session: Session) -> Sequence[str]:
    """The folders below a copy of the learner's code that it is imported from; they are told without parsing
    it, but for the file that has a contract's functions.
    """
    catalogue = session.catalogue
    if catalogue.by_facts:
        return [""]
    files = session.read_model() if catalogue.contract.signatures else {}
    return session.learner.contract(catalogue, files)[0]


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
