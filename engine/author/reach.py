"""`engine dev reach`: into how much of other people's code do the breaks go, and how."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.code.signatures import placed
from engine.errors import EngineError, NotApplicable, UsageError
from engine.flows import break_ as planning
from engine.flows.chance import fresh_seed
from engine.flows.measuring import servers_for
from engine.flows.needs import Unhealthy
from engine.flows.siblings import Siblings
from engine.inject.proposers import PROPOSERS
from engine.learner import model as models
from engine.learner.files import inside, storage
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.entry import Entry

Line = dict[str, Any]


def tree_at(catalogue: Catalogue, path: Path) -> Tree:
    """The code in a folder that holds the package, or a src/ with it. Raises LearnerCodeError."""
    contract = catalogue.contract
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    files = models.read(path, contract.roots, modules)
    models.check_syntax(files)
    roles = placed(contract.roles, contract.moved, contract.roots, files)
    return Tree(str(path), tuple(contract.roots), files, roles)


def reach(
    paths: Sequence[Path],
    *,
    pack: str = "minimodel",
    exercises: Sequence[str] = (),
    write: Path | None = None,
    only: Sequence[str] = (),
) -> tuple[int, Iterator[Line]]:
    """How many pairs of model and exercise there are, and a line for each as it is finished.

    only: proposers to use, for measuring what each adds. Raises UsageError for paths or names that
    do not fit.
    """
    catalogue = Catalogue.find(pack)
    folders = [path.expanduser().resolve() for path in paths]
    for folder in folders:
        if not folder.is_dir():
            raise UsageError("There is no such folder.", where=str(folder))
    names = [folder.name for folder in folders]
    if len(set(names)) < len(names):
        raise UsageError(f"Two models have the same name: {sorted(names)}.", next="Rename one.")
    for name in sorted({*only} - {*PROPOSERS}):
        raise UsageError(
            f"There is no proposer {name!r}.", next=f"There are {', '.join(PROPOSERS)}."
        )
    for folder in folders:
        if write is None:
            break
        stored = (write / folder.name).resolve()
        if stored.is_relative_to(folder) or folder.is_relative_to(stored):
            raise UsageError(
                "The broken trees would lie in a model's own folder.",
                where=str(stored),
                next="Give --write another folder.",
            )
    chosen = [catalogue.entry(id) for id in exercises] or [
        entry for entry in catalogue.entries.values() if entry.kind == "break"
    ]
    for entry in chosen:
        if entry.kind != "break":
            raise UsageError(f"{entry.id} is not a break.", next="`engine list` shows the kinds.")
    return len(folders) * len(chosen), _lines(catalogue, folders, chosen, write, only)


def _lines(
    catalogue: Catalogue,
    folders: Sequence[Path],
    chosen: Sequence[Entry],
    write: Path | None,
    only: Sequence[str],
) -> Iterator[Line]:
    with servers_for(catalogue, None) as servers:
        for folder in folders:
            known: Siblings | None = None  # measured once for all breaks of a model
            for entry in chosen:
                line: Line = {
                    "exercise": entry.id, "model": folder.name, "outcome": "error", "how": None,
                    "files": [], "changed_lines": 0, "ms": 0.0, "reason": None,
                }  # fmt: skip
                started = time.perf_counter()
                try:
                    if known is None:
                        tree = tree_at(catalogue, folder)
                        known = Siblings(servers, catalogue, tree, fresh_seed())
                    planned = planning.plan_break(
                        servers, catalogue, entry.id, tree, fresh_seed(), only=only, siblings=known
                    )
                except Unhealthy as error:
                    line |= {"outcome": "unhealthy", "reason": one_line(error)}
                except NotApplicable as error:
                    line |= {"outcome": "refused", "reason": one_line(error)}
                except EngineError as error:
                    line |= {"outcome": "error", "reason": one_line(error)}
                else:
                    injection = planned.injection
                    line |= {
                        "outcome": "injected", "how": injection.how,
                        "files": sorted(injection.files), "changed_lines": injection.changed_lines,
                        "ms": _milliseconds(started),
                    }  # fmt: skip
                    if write is not None:
                        _write(write / folder.name / entry.id, tree.replaced(injection.files))
                if not line["ms"]:
                    line["ms"] = _milliseconds(started)
                yield line


def _milliseconds(since: float) -> float:
    return round(1000 * (time.perf_counter() - since), 1)


def one_line(error: EngineError) -> str:
    """Its parts behind one another."""
    return "; ".join(part.strip() for part in str(error).splitlines() if part.strip())


def _write(folder: Path, tree: Tree) -> None:
    """Store a broken tree, same relative paths; what stood there before goes."""
    with storage(folder):
        if folder.exists():
            shutil.rmtree(folder)
        for relative, data in tree.files.items():
            path = inside(folder, relative)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
