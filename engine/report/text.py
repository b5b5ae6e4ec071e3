"""Which function shows which report to a person."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from engine.report.formats import Line

PLAIN = "engine.report.plain"
# written without rich, which takes as long as half of a verdict
BARE = (PLAIN, "engine.report.lists", "engine.report.verdicts", "engine.report.parts")
SHOW = {
    "HintReport": (PLAIN, "hint"),
    "InitReport": (PLAIN, "init"),
    "ListReport": ("engine.report.lists", "list_"),
    "NextReport": (PLAIN, "next_"),
    "ReproReport": (PLAIN, "repro"),
    "NotesReport": (PLAIN, "notes"),
    "ResetReport": (PLAIN, "reset"),
    "StatusReport": ("engine.report.lists", "status"),
    "WatchReport": (PLAIN, "watch"),
    "Opening": ("engine.report.breaks", "opening"),
    "BreakReport": ("engine.report.breaks", "break_"),
    "BlindReport": ("engine.report.breaks", "blind"),
    "DiagnosisReport": (PLAIN, "diagnosis"),
    "ObserveReport": ("engine.report.breaks", "observe"),
    "BuildReport": ("engine.report.verdicts", "build"),
    "AllReport": ("engine.report.parts", "all_parts"),
    "FixReport": ("engine.report.verdicts", "fix"),
    "WalkReport": ("engine.report.walk", "walk"),
    "ComparisonReport": ("engine.report.comparison", "comparison"),
    "ShowReport": ("engine.report.pages", "exercise"),
    "DoctorReport": ("engine.report.pages", "doctor"),
    "Asked": ("engine.report.author", "asked"),
    "CheckReport": ("engine.report.author", "check"),
    "Step": ("engine.report.author", "step"),
    "Checked": ("engine.report.author", "checked"),
    "Bug": ("engine.report.author", "bug"),
}


def judged(lines: Iterable[Line], about: str) -> None:
    """The verdicts of `engine dev judge`, a line each, as they come."""
    from engine.report.author import judged as line_of

    for line in lines:
        line_of(line)


def show(report: Any) -> None:
    """Print a report. Only the module that can is loaded."""
    module, name = SHOW[type(report).__name__]
    if module in BARE:
        import_module(module).__dict__[name](report)
        return
    from engine.report.paper import console

    import_module(module).__dict__[name](console(), report)
