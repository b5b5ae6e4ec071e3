"""`engine list` and `engine status`, without rich: they are typed all the time."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from engine.errors import Message
from engine.report.layout import aligned, cells, columns
from engine.report.out import safe
from engine.report.plain import painted, say, table
from engine.report.words import said, words

if TYPE_CHECKING:
    from engine.flows.listing import Listed, ListReport, StatusReport

STATES = {
    "passed": "green", "closed": "green", "open": "yellow", "changed": "yellow", "failed": "red",
}  # fmt: skip
DONE = ("passed", "closed")
TITLE = 24  # columns that a title needs beside the rest
PHASES = {  # of the packs that come with the engine
    "Autograd": Message("Autograd"),
    "Embeddings": Message("Embeddings"),
    "Recurrent": Message("Recurrent"),
    "Attention": Message("Attention"),
    "Normalisation": Message("Normalisation"),
    "Blocks": Message("Blocks"),
    "Training": Message("Training"),
    "Generation": Message("Generation"),
}


class Shown(Protocol):
    """What lists show of an exercise."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def phase_name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def minutes(self) -> int: ...


def _by_phase(exercises: Sequence[Shown]) -> dict[tuple[str, str], list[Shown]]:
    """Phases by their numbers; within each the exercises as they come, on a pack's path."""
    found: dict[tuple[str, str], list[Shown]] = {}
    for one in exercises:
        found.setdefault((one.phase, one.phase_name), []).append(one)
    return dict(sorted(found.items(), key=lambda group: group[0]))


def _time(minutes: int) -> str:
    """Minutes as people say them."""
    if minutes < 90:
        return words("{minutes} min", minutes=minutes)
    return words("{hours} h", hours=round(minutes / 60))


def _progress(exercises: Sequence[Shown]) -> str:
    """ "6 of 54, 21 h left"."""
    fitting = [one for one in exercises if one.state != "unfit"]
    done = sum(one.state in DONE for one in fitting)
    left = sum(one.minutes for one in fitting if one.state not in DONE)
    told = words("{done} of {of}", done=done, of=len(fitting))
    return f"{told}, " + words("{time} left", time=_time(left)) if left else told


def _state(one: Shown) -> str:
    names = {
        "new": words("new"),
        "predicted": words("predicted"),
        "open": words("open"),
        "failed": words("failed"),
        "passed": words("passed"),
        "changed": words("changed since"),
        "closed": words("closed"),
        "reset": words("put aside"),
        "unfit": words("does not apply"),
    }
    return names.get(one.state, one.state)


def _kind(one: Shown) -> str:
    return words("build") if one.kind == "build" else words("break")


def _taken(one: Listed) -> str:
    """The kind of an exercise; of a break that is done how: "break (told, blind)"."""
    if not one.taken:
        return _kind(one)
    ways = {"told": words("told"), "blind": words("blind")}
    return f"{_kind(one)} ({', '.join(ways[way] for way in one.taken)})"


def _heads(
    exercises: Sequence[Shown],
    rows: Mapping[str, tuple[str, ...]],
    titles: Mapping[str, str] = {},
) -> None:
    """A head for each phase, and below it the rows of its exercises, their columns in line. titles: the last
    column, or lines of their own where a terminal leaves them too little room.
    """
    width = columns(sys.stdout)
    room = None if width is None else width - 2
    below = titles if room is not None and room - _wide(rows) < TITLE else {}
    if titles and not below:
        rows = {id: (*row, titles[id]) for id, row in rows.items()}
    shown = [[safe(cell) for cell in row] for row in rows.values()]
    found = aligned(shown, room) if shown else None
    lines: dict[str, list[list[str]]] = {id: [] for id in rows}
    for number, parts in found or ():
        lines[list(rows)[number]].append(parts)
    for (phase, name), group in _by_phase(exercises).items():
        print()
        say(f"{phase} {said(PHASES.get(name, name))}: {_progress(group)}", "bold")
        for one in group:
            for parts in lines.get(one.id, ()):
                coloured = [
                    painted(p, STATES.get(one.state, "") if i == 1 else "")
                    for i, p in enumerate(parts)
                ]
                print("  " + "".join(coloured))
            if found is None and one.id in rows:
                say(", ".join(cell for cell in rows[one.id] if cell), indent=2)
            if one.id in below:
                say(below[one.id], "dim", indent=4)


def _wide(rows: Mapping[str, Sequence[str]]) -> int:
    """The columns that rows take, with what stands between them and a next one."""
    return sum(2 + max(map(cells, column)) for column in zip(*rows.values(), strict=True))


def list_(report: ListReport) -> None:
    say(_progress(report.exercises), "bold")
    rows = {
        one.id: (one.id, _state(one), _taken(one), _time(one.minutes)) for one in report.exercises
    }
    titles = {one.id: one.why if one.state == "unfit" else one.title for one in report.exercises}
    _heads(report.exercises, rows, titles)


def status(report: StatusReport) -> None:
    say(words("{learner}, model in {model}", learner=report.learner, model=report.model), "bold")
    say(_progress(report.exercises))
    rows = {
        one.id: (one.id, _state(one), _kind(one))
        for one in report.exercises
        if one.state not in ("new", "unfit")
    }
    _heads(report.exercises, rows)
    print()
    say(words("`engine list` shows every exercise, `engine next` what to do now."), "dim")
    if report.open:
        print()
        say(
            words(
                "Open: {open}, {hints_taken} hints taken",
                open=report.open,
                hints_taken=report.hints_taken,
            ),
            "bold",
        )
        say(report.practice, indent=2)
    for id, count in report.open_questions:
        print()
        say(
            words(
                "Questions about {exercise} that are open: {count} (engine "
                "submit-build {exercise})",
                exercise=id,
                count=count,
            )
        )
    if report.brier is not None:
        print()
        say(words("How sure you were, and how often you were right"), "bold")
        bins = [
            (
                words("{low} to {high}%", low=one.low, high=one.high),
                str(one.count),
                f"{100 * one.right / one.count:.0f}%",
            )
            for one in report.calibration
        ]
        table([(words("confidence"), words("predictions"), words("right")), *bins])
        say(
            words(
                "Brier score {brier:.3f} over {predictions} predictions (0 is perfect, 0.25 "
                "a coin toss)",
                brier=report.brier,
                predictions=report.predictions,
            )
        )
