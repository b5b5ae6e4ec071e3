"""What all comparisons share: servers that hold a pack, and the dtype of the learner's arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from engine.errors import SpecError
from engine.run.concurrent import run_both
from engine.run.jobs import Job
from engine.run.servers import Servers
from engine.run.types import Outcome, Tree
from engine.spec.catalogue import Catalogue

T = TypeVar("T")
USUAL = "float64"  # what most learners compute in
Progress = Callable[[str], None]


def quiet(_: str) -> None:
    """Progress for nobody."""


def servers_for(catalogue: Catalogue, python: str | None, hidden: Sequence[Path] = ()) -> Servers:
    """Servers that hold this pack; the pack's own folder is closed to learner code."""
    contract = catalogue.contract
    return Servers(
        catalogue.code(), python=python, hidden=[*hidden, catalogue.folder],
        modes=contract.modes, updates=contract.updates, torch=contract.framework == "torch",
    )  # fmt: skip


def component_probe(name: str, where: str) -> tuple[str, str]:
    """ "lm_head.forward" -> ("lm_head", "forward"). Raises SpecError."""
    component, dot, probe = name.partition(".")
    if not dot:
        raise SpecError(f"{name!r} is not of the form component.probe.", where=where)
    return component, probe


class Halted(Exception):
    """The code ran out of time, or printed without end, before anything could be measured."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.stopped)
        self.outcome = outcome


def dtype_of(servers: Servers, catalogue: Catalogue, tree: Tree, *, server: str = "learner") -> str:
    """The dtype of the learner's arrays, read once; float64 while it cannot be read."""
    probe = catalogue.contract.dtype
    if probe is None or isinstance(probe, str):
        return probe or USUAL
    outcome = servers.outcomes(tree, [Job(probe.component, probe.probe, {})], server=server)[0]
    if outcome.stopped in ("timeout", "output"):
        raise Halted(outcome)  # it would only halt again
    found = outcome.values.get("dtype")
    return found if found in ("float32", "float64") else "float64"


def guess_of(catalogue: Catalogue) -> str:
    """The dtype that learners' arrays most likely have: the pack's, where it says one."""
    said = catalogue.contract.dtype
    return said if isinstance(said, str) else USUAL


def guessed(read: Callable[[], str], make: Callable[[str], T], guess: str = USUAL) -> tuple[str, T]:
    """The dtype that `read` finds, and what `make` makes for it; that begins with a guess meanwhile."""
    dtype, made = run_both(read, lambda: make(guess))
    return dtype, made if dtype == guess else make(dtype)
