"""`engine show` and `engine doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from engine.errors import Message
from engine.report.paper import code, marked, say, section
from engine.report.words import said, words

if TYPE_CHECKING:
    from engine.flows.questions import Answered
    from engine.flows.reports import DoctorReport
    from engine.flows.show import ShowReport

PARTS = {  # of an exercise
    "objective": Message("Objective"),
    "background": Message("Background"),
    "edit": Message("File to edit"),
    "signature": Message("Signature"),
    "constraints": Message("What the contract says"),
    "pitfalls": Message("Pitfalls"),
    "checks": Message("Checks"),
    "insight": Message("What it shows"),
    "integration": Message("Where it is used"),
    "use": Message("What it is for"),
    "prerequisites": Message("Needed first"),
    "difficulty": Message("Difficulty"),
    "time": Message("Time"),
    "references": Message("Reading"),
    "submit": Message("To submit it"),
    "anchors": Message("References"),
    "the_break": Message("The break"),
    "pipeline": Message("The code that will be run"),
    "predictions": Message("Predictions"),
    "observe": Message("What to look at"),
    "symptom": Message("What happened"),
    "hidden_cause": Message("The hidden cause"),
    "fix": Message("How to fix it"),
    "why": Message("Why this teaches something"),
    "next": Message("What is next"),
    "sources": Message("Sources"),
    "start": Message("To start it"),
}


def exercise(out: Console, report: ShowReport) -> None:
    say(out, report.title, "bold")
    for name, text in report.parts:
        section(out, said(PARTS.get(name, name)))
        if name in ("signature", "pipeline"):
            code(out, text)
        else:
            say(out, said(text).strip(), indent=2)


def doctor(out: Console, report: DoctorReport) -> None:
    for finding in report.findings:
        ok, fail = (words("ok") + "   ", "green"), (words("FAIL") + " ", "red")
        mark = ok if finding.good else fail
        marked(out, mark, f"{said(finding.what)}: {said(finding.found)}")


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
