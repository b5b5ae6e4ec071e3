"""Exercises in the order of the course, and how far a learner is with each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from engine.spec.catalogue import Catalogue
from engine.spec.texts import said

if TYPE_CHECKING:
    from engine.observe.score import Bin

States = Mapping[
    str, str
]  # exercise -> new, predicted, open, failed, passed, changed, closed, reset or unfit

DONE = ("passed", "closed")


class Listed(msgspec.Struct, frozen=True):
    """One exercise in a list. `state`: new, predicted, open, failed, passed, changed, closed or reset."""

    id: str
    kind: str
    pack: str
    phase: str
    component: str
    title: str
    state: str
    phase_name: str = ""
    minutes: int = 0
    taken: tuple[str, ...] = ()  # told, blind: how a break was done
    why: str = ""  # it does not apply to this code


class ListReport(msgspec.Struct, frozen=True):
    """`engine list`."""

    exercises: tuple[Listed, ...]


class Stated(msgspec.Struct, frozen=True):
    """One exercise and how far the learner is with it."""

    id: str
    kind: str
    phase: str
    state: str
    phase_name: str = ""
    minutes: int = 0


class StatusReport(msgspec.Struct, frozen=True):
    """`engine status`."""

    learner: str
    home: str
    model: str
    exercises: tuple[Stated, ...]
    open_questions: tuple[tuple[str, int], ...]  # builds that passed, questions not answered yet
    open: str
    practice: str
    hints_taken: int
    calibration: tuple[Bin, ...]
    predictions: int
    brier: float | None


class NextReport(msgspec.Struct, frozen=True):
    """`engine next`: what to do now, and the command for it."""

    exercise: str
    kind: str
    title: str
    why: str
    command: str


def listed(
    catalogue: Catalogue,
    lang: str,
    states: States,
    taken: Mapping[str, tuple[str, ...]] = {},
    unfit: Mapping[str, str] = {},
) -> tuple[Listed, ...]:
    """All exercises of a pack. taken: how each break was done that is. unfit: why a break does not apply."""
    return tuple(
        Listed(
            entry.id,
            entry.kind,
            entry.pack,
            entry.phase_number,
            entry.component,
            said(catalogue.summaries[entry.id].title, lang),
            states.get(entry.id, "new"),
            entry.phase_name,
            catalogue.summaries[entry.id].minutes,
            taken.get(entry.id, ()),
            unfit.get(entry.id, ""),
        )
        for entry in catalogue.entries.values()
    )


def stated(catalogue: Catalogue, states: States) -> tuple[Stated, ...]:
    """All exercises of a pack, without their titles."""
    return tuple(
        Stated(
            entry.id,
            entry.kind,
            entry.phase_number,
            states.get(entry.id, "new"),
            entry.phase_name,
            catalogue.summaries[entry.id].minutes,
        )
        for entry in catalogue.entries.values()
    )


def next_step(
    catalogue: Catalogue, lang: str, states: States, complete: bool = False
) -> NextReport:
    """The first exercise of the course that is not done and not blocked. complete: nothing has to be built,
    so builds come last.
    """

    def report(id: str, why: str, command: str) -> NextReport:
        title = said(catalogue.summaries[id].title, lang)
        return NextReport(id, catalogue.entry(id).kind, title, why, command)

    course = catalogue.entries.values()
    for entry in sorted(course, key=lambda one: complete and one.kind == "build"):
        if states.get(entry.id) in (*DONE, "unfit"):
            continue
        verb = "engine submit-build" if entry.kind == "build" else "engine break"
        why = (
            "changed"
            if states.get(entry.id) == "changed"
            else "tried"
            if entry.id in states
            else "new"
        )
        return report(entry.id, why, f"{verb} {entry.id}")
    return NextReport("", "", "", "done", "engine list")
