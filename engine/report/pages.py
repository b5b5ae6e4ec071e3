"""`engine show` and `engine doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from engine.report.paper import code, marked, say, section
from engine.report.words import words

if TYPE_CHECKING:
    from engine.flows.questions import Answered
    from engine.flows.reports import DoctorReport
    from engine.flows.show import ShowReport


def exercise(out: Console, report: ShowReport) -> None:
    say(out, report.title, "bold")
    for name, text in report.parts:
        section(out, name.replace("_", " "))
        if name in ("signature", "pipeline"):
            code(out, text)
        else:
            say(out, text.strip(), indent=2)


def doctor(out: Console, report: DoctorReport) -> None:
    for finding in report.findings:
        mark = ("ok   ", "green") if finding.good else ("FAIL ", "red")
        marked(out, mark, f"{finding.what}: {finding.found}")


def answered(out: Console, one: Answered) -> None:
    """A question after a build: what was asked, what was answered, whether it was right, and why."""
    out.print()
    say(out, one.ask, "bold")
    verdict, style = (words("Right"), "green") if one.right else (words("Wrong"), "red")
    if one.grade:
        graded = {
            "yes": (words("Yes"), "green"),
            "partly": (words("Partly"), "yellow"),
            "no": (words("Not yet"), "red"),
        }
        verdict, style = graded.get(one.grade, (verdict, style))
    marked(out, (f"  {verdict}: ", style), one.shown or one.answer)
    say(out, one.because.strip(), indent=2)
