"""Reports of the commands that are typed all the time, without rich: they start in an instant."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from engine.report.layout import CODE, aligned, columns, wrapped
from engine.report.out import reflowed, safe
from engine.report.words import words

if TYPE_CHECKING:
    from engine.flows.listing import ListReport, NextReport, StatusReport
    from engine.flows.reports import (
        HintReport,
        InitReport,
        NotesReport,
        ReproReport,
        ResetReport,
        WatchReport,
    )

COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
COLOURS |= {"bold red": "1;31", "bold green": "1;32"}
STATES = {
    "passed": "green", "closed": "green", "open": "yellow", "changed": "yellow", "failed": "red",
}  # fmt: skip
DONE = ("passed", "closed")


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


def painted(text: str, colour: str = "") -> str:
    """Text in a colour, where somebody can see it and wants to."""
    plain = (
        not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    )
    return text if plain or not colour else f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


def say(text: str, colour: str = "", indent: int = 0) -> None:
    """Paragraphs, escaped and wrapped at words to the terminal."""
    width = columns(sys.stdout)
    for line in reflowed(safe(text)).split("\n"):
        for part in wrapped(line, None if width is None else width - indent):
            print(" " * indent + painted(part, colour) if part else "")


def code(text: str, indent: int = 2) -> None:
    """Lines of code or of a diff: wrapped only where a terminal is too narrow for them."""
    width = columns(sys.stdout)
    for line in safe(text).splitlines():
        colour = {"+": "green", "-": "red"}.get(line[:1], "")
        for part in wrapped(line, None if width is None else width - indent, CODE):
            print(" " * indent + painted(part, colour) if part else "")


def place(root: str, path: str, line: int) -> str:
    """A line of a file as one types it from here."""
    return f"{root}/{path}:{line}" if root else f"{path}:{line}"


def table(rows: Sequence[Sequence[str]]) -> None:
    """Rows in columns; one below the other where a terminal is too narrow for that."""
    rows = [[safe(cell) for cell in row] for row in rows]
    found = aligned(rows, columns(sys.stdout))
    if found is None:
        for row in rows:
            say(row[0])
            say(", ".join(cell for cell in row[1:] if cell), indent=2)
        return
    for _, parts in found:
        print("".join(parts))


def hint(report: HintReport) -> None:
    first = report.number - len(report.hints) + 1
    if report.again and report.number == report.of:
        say(words("You have seen all {count} hints; here they are again:", count=report.of))
    for number, text in enumerate(report.hints, first):
        say(
            words(
                "Hint {number} of {of} ({exercise})",
                number=number,
                of=report.of,
                exercise=report.exercise,
            ),
            "bold",
        )
        say(text, indent=2)


def init(report: InitReport) -> None:
    say(words("{name} is ready: {home}", name=report.name, home=report.home), "bold")
    if report.from_template:
        say(words("Your model starts from the template in src/; the stubs say what to build."))
    else:
        say(
            words(
                "Your code stays where it is and is never written to: {model}", model=report.model
            )
        )
    if report.warning:
        say(report.warning, "yellow")
    say("\n" + words("Next: cd {home} and type engine next", home=report.home))


def _by_phase(exercises: Sequence[Shown]) -> dict[tuple[str, str], list[Shown]]:
    found: dict[tuple[str, str], list[Shown]] = {}
    for one in exercises:
        found.setdefault((one.phase, one.phase_name), []).append(one)
    return found


def _time(minutes: int) -> str:
    """Minutes as people say them."""
    if minutes < 90:
        return words("{minutes} min", minutes=minutes)
    return words("{hours} h", hours=round(minutes / 60))


def _progress(exercises: Sequence[Shown]) -> str:
    """ "6 of 54, 21 h left"."""
    done = sum(one.state in DONE for one in exercises)
    left = sum(one.minutes for one in exercises if one.state not in DONE)
    told = words("{done} of {of}", done=done, of=len(exercises))
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
    }
    return names.get(one.state, one.state)


def _kind(one: Shown) -> str:
    return words("build") if one.kind == "build" else words("break")


def _heads(exercises: Sequence[Shown], rows: Mapping[str, Sequence[str]]) -> None:
    """A head for each phase, and below it the rows of its exercises, their columns in line."""
    shown = [[safe(cell) for cell in row] for row in rows.values()]
    width = columns(sys.stdout)
    found = aligned(shown, None if width is None else width - 2) if shown else None
    lines: dict[str, list[list[str]]] = {id: [] for id in rows}
    for number, parts in found or ():
        lines[list(rows)[number]].append(parts)
    for (phase, name), group in _by_phase(exercises).items():
        print()
        say(f"{phase} {name}: {_progress(group)}", "bold")
        for one in group:
            for parts in lines.get(one.id, ()):
                cells = [
                    painted(p, STATES.get(one.state, "") if i == 1 else "")
                    for i, p in enumerate(parts)
                ]
                print("  " + "".join(cells))
            if found is None and one.id in rows:
                say(", ".join(cell for cell in rows[one.id] if cell), indent=2)


def list_(report: ListReport) -> None:
    say(_progress(report.exercises), "bold")
    rows = {
        one.id: (one.id, _state(one), _kind(one), _time(one.minutes), one.title)
        for one in report.exercises
    }
    _heads(report.exercises, rows)


def status(report: StatusReport) -> None:
    say(words("{learner}, model in {model}", learner=report.learner, model=report.model), "bold")
    say(_progress(report.exercises))
    rows = {
        one.id: (one.id, _state(one), _kind(one)) for one in report.exercises if one.state != "new"
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
                "{exercise} has passed. Questions about it that are open: {count} (engine "
                "submit-build {exercise})",
                exercise=id,
                count=count,
            )
        )
    if report.brier is not None:
        print()
        say(words("How sure you were, and how often you were right"), "bold")
        bins = [
            (f"{one.low} to {one.high}%", str(one.count), f"{100 * one.right / one.count:.0f}%")
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


def next_(report: NextReport) -> None:
    if not report.exercise:
        say(words("Everything here is done."))
        return
    say(f"{report.title} ({report.exercise}, {report.kind})", "bold")
    say(words("engine show {exercise}", exercise=report.exercise), indent=2)
    say(report.command, indent=2)


def reset(report: ResetReport) -> None:
    if report.back:
        say(
            words(
                "{exercise} is open again, as it was put aside: {practice}",
                exercise=report.exercise,
                practice=report.back,
            ),
            "bold",
        )
        return
    say(
        words(
            "{exercise} is put aside. `engine reset --undo {exercise}` opens it again as it was. "
            "The files alone:",
            exercise=report.exercise,
        ),
        "bold",
    )
    print("  " + safe(report.restore))


def repro(report: ReproReport) -> None:
    say(
        words(
            "The check {check} of {exercise} is in {folder}:",
            check=report.check,
            exercise=report.exercise,
            folder=report.folder,
        ),
        "bold",
    )
    code(f"{report.python} {report.folder}/repro.py")
    code(f"{report.python} -m pdb {report.folder}/repro.py")


def watch(report: WatchReport) -> None:
    if report.right:
        told = words(
            "{exercise} is mended. `engine submit-fix` records it and tells the cause.",
            exercise=report.exercise,
        )
        say(told, "green")
        return
    say(
        words(
            "{exercise}: judged again whenever a file in {folder} is saved; Ctrl-C ends it. Nothing is "
            "recorded.",
            exercise=report.exercise,
            folder=report.folder,
        ),
        "dim",
    )


def notes(report: NotesReport) -> None:
    say(report.file, "bold")
    print(safe(report.text.replace("\r\n", "\n")))
