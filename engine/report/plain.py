"""Reports of the commands that are typed all the time, without rich: they start in an instant."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.report.layout import CODE, aligned, columns, wrapped
from engine.report.out import reflowed, safe
from engine.report.words import said, words

if TYPE_CHECKING:
    from engine.flows.diagnosis import DiagnosisReport
    from engine.flows.listing import NextReport
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
    if report.unwritten:
        told = words(
            "It stops at what is not written yet; `engine show {exercise}` says what to build.",
            exercise=report.exercise,
        )
        say(told)
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


def diagnosis(report: DiagnosisReport) -> None:
    if not report.version:
        say(words("It is open: `engine diagnose` goes on where you stopped."))
        return
    head = words(
        "Diagnosis {version} of {exercise}", version=report.version, exercise=report.exercise
    )
    say(head, "bold")
    say(report.where, indent=2)
    say(report.what, indent=2)
    say(words("It is in {notes}", notes=report.notes))
    say(words("`engine diagnose` changes it at any time; the last one counts."))


def init(report: InitReport) -> None:
    say(words("{name} is ready: {home}", name=report.name, home=report.home), "bold")
    if report.complete:
        say(words("A finished model is in this folder: it is yours to change and to break."))
    elif report.from_template:
        say(words("Your model starts from the template; its stubs say what to build."))
    else:
        say(
            words(
                "Your code stays where it is and is never written to: {model}", model=report.model
            )
        )
    if report.found:
        say(words("Found: {found}", found=report.found))
    if report.applying is not None:
        some, every = report.applying
        say(
            words(
                "{count} of {all} breaks apply; `engine list` says why the others do not.",
                count=some,
                all=every,
            )
        )
    for line in said(report.warning).splitlines():
        say(line, "yellow")
    say("\n" + words("Next: cd {home} and type {command}", home=report.home, command=report.next))


def next_(report: NextReport) -> None:
    if not report.exercise:
        say(words("Everything here is done."))
        return
    kind = words("build") if report.kind == "build" else words("break")
    say(f"{report.title} ({report.exercise}, {kind})", "bold")
    say(f"engine show {report.exercise}", indent=2)
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
    for options in ("", "-m pdb "):  # unbroken, as they are copied
        print("  " + safe(f"{report.python} {options}{report.folder}/repro.py"))


def watch(report: WatchReport) -> None:
    if report.right:
        told = words(
            "{exercise} would pass. `{command}` records it.",
            exercise=report.exercise,
            command=report.right,
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
