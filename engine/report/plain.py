"""Reports of the commands that are typed all the time, without rich: they start in an instant."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.report.layout import aligned, columns, wrapped
from engine.report.out import reflowed, safe
from engine.report.words import words

if TYPE_CHECKING:
    from engine.flows.listing import ListReport, NextReport, StatusReport
    from engine.flows.reports import HintReport, InitReport, NotesReport, ResetReport

COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
STATES = {"passed": "green", "closed": "green", "open": "yellow", "failed": "red"}


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


def table(rows: Sequence[Sequence[str]], colour_of: int = -1) -> None:
    """Rows in columns; one below the other where a terminal is too narrow for that."""
    rows = [[safe(cell) for cell in row] for row in rows]
    found = aligned(rows, columns(sys.stdout))
    if found is None:
        for row in rows:
            say(row[0])
            say(", ".join(cell for cell in row[1:] if cell), indent=2)
        return
    for number, parts in found:
        colour = STATES.get(rows[number][colour_of], "")
        print("".join(painted(p, colour if i == colour_of else "") for i, p in enumerate(parts)))


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


def _head() -> tuple[str, ...]:
    return words("id"), words("kind"), words("phase"), words("state")


def list_(report: ListReport) -> None:
    rows = [(one.id, one.kind, one.phase, one.state, one.title) for one in report.exercises]
    table([(*_head(), words("title")), *rows], colour_of=3)


def status(report: StatusReport) -> None:
    say(words("{learner}, model in {model}", learner=report.learner, model=report.model), "bold")
    print()
    table([_head()] + [(one.id, one.kind, one.phase, one.state) for one in report.exercises])
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
        rows = [
            (f"{one.low} to {one.high}%", str(one.count), f"{100 * one.right / one.count:.0f}%")
            for one in report.calibration
        ]
        table([(words("confidence"), words("predictions"), words("right")), *rows])
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
    say(
        words(
            "{exercise} is put aside. The practice copy is kept; to get it back:",
            exercise=report.exercise,
        ),
        "bold",
    )
    print("  " + safe(report.restore))


def notes(report: NotesReport) -> None:
    say(report.file, "bold")
    print(safe(report.text))
