"""`engine show` and `engine doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from engine.report.paper import code, marked, say, section

if TYPE_CHECKING:
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
