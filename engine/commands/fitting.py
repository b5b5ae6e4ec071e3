"""Which pack somebody's code is for, and what of a pack of facts applies to it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from engine.code.signatures import module_of
from engine.commands import found
from engine.commands.session import Session
from engine.errors import EngineError, LearnerCodeError, Message, Said
from engine.facts import files
from engine.flows.measuring import Progress
from engine.learner import learner as learners
from engine.spec.catalogue import Catalogue
from engine.spec.packs import DEFAULT, packs

TORCH = re.compile(rb"^\s*(import|from)\s+torch\b", re.M)
MOST = 400  # files that are looked into


def fitting_pack(model: Path | None) -> str:
    """The pack whose contract's functions are there, or a package that it names; else the first pack of
    facts for code that imports torch; else the one of who names none.
    """
    if model is None:
        return DEFAULT
    catalogues = [Catalogue(name, folder) for name, folder in sorted(packs().items())]
    contracts = [catalogue for catalogue in catalogues if not catalogue.by_facts]
    for catalogue in sorted(contracts, key=lambda one: bool(one.contract.signatures)):
        if _fits(catalogue, model):  # a package is sooner looked up than functions in every file
            return catalogue.pack
    return _by_facts()[0] if _imports_torch(model) else DEFAULT


def _by_facts() -> list[str]:
    """The packs for PyTorch models that nobody described; the engine has one."""
    catalogues = [Catalogue(name, folder) for name, folder in sorted(packs().items())]
    return [catalogue.pack for catalogue in catalogues if catalogue.by_facts]


def _fits(catalogue: Catalogue, model: Path) -> bool:
    signatures = catalogue.contract.signatures
    if signatures:
        return module_of(files.read(model), signatures) is not None
    return any(place.exists() for place in _places(catalogue, model))


def _places(catalogue: Catalogue, model: Path) -> list[Path]:
    """Where a contract's packages would lie."""
    names = {re.split(r"[.:]", where)[0] for where in catalogue.contract.roles.values()}
    roots = [model / root for root in catalogue.contract.roots]
    return [root / name for root in roots for name in names]


def odd(catalogue: Catalogue, model: Path, lang: str) -> Said:
    """What does not look like this pack's model; init goes on all the same."""
    contract = catalogue.contract
    if contract.signatures:
        return ""
    for package in {re.split(r"[.:]", where)[0] for where in contract.roles.values()}:
        places = [model / root / package for root in contract.roots]
        if not any(place.is_dir() or place.with_suffix(".py").is_file() for place in places):
            return Message(
                "No package {package!r} was found (looked for {places}). If your code names things"
                " otherwise, map them under `roles:` in learner.yaml. A PyTorch model is taken with `--pack"
                " {torch}`.",
                package=package,
                places=", ".join(str(place) for place in places),
                torch=_by_facts()[0],
            )
    return _unmade(catalogue, model, lang) if contract.export else ""


def _unmade(catalogue: Catalogue, model: Path, lang: str) -> Said:
    """What the package imports of its own and has not got, and how it is made."""
    from engine.commands.sources import check_made
    from engine.learner.model import read

    contract = catalogue.contract
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    try:
        check_made(catalogue, read(model, contract.roots, modules), lang)
    except LearnerCodeError as error:
        return Message.joined("\n", [error.messages[0], error.messages[2]])
    return ""


def _imports_torch(model: Path) -> bool:
    looked = 0
    for base, folders, names in os.walk(model):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith((".py", ".ipynb")) and looked < MOST:
                looked += 1
                try:
                    if TORCH.search(Path(base, name).read_bytes()):
                        return True
                except OSError:
                    continue
    return False


def found_in(home: Path, progress: Progress) -> tuple[str, Said, tuple[int, int] | None]:
    """(what was taken for the model, a warning, breaks that apply of how many) of a new learner; without the
    last where nothing could be found, as the warning says: what is broken first will look for it again.
    """
    session = Session(learners.load(home))
    try:
        from engine.commands import by_facts

        with by_facts.means(session) as means:
            kept = found.look(session, means.bench(), progress)
    except EngineError as error:
        return "", Message.joined("\n", filter(None, error.messages)), None
    every = sum(entry.kind == "break" for entry in session.catalogue.entries.values())
    return kept.told, _wrong(kept.wrong), (every - len(kept.refused), every)


def _wrong(titles: Sequence[str]) -> Said:
    """That a model is not healthy before anything is broken."""
    if not titles:
        return ""
    return Message(
        "`engine check` finds this wrong in it already: {titles}. Mend that first: what breaks are compared"
        " with is your code as it stands.",
        titles=", ".join(titles),
    )
