"""Which function shows which report to a person."""

from __future__ import annotations

from importlib import import_module
from typing import Any

PLAIN = "engine.view.plain"  # written without rich: these commands start fast
SHOW = {
    "HintReport": (PLAIN, "hint"),
    "InitReport": (PLAIN, "init"),
    "ListReport": (PLAIN, "list_"),
    "NextReport": (PLAIN, "next_"),
    "NotesReport": (PLAIN, "notes"),
    "ResetReport": (PLAIN, "reset"),
    "StatusReport": (PLAIN, "status"),
    "Opening": ("engine.view.breaks", "opening"),
    "BreakReport": ("engine.view.breaks", "break_"),
    "ObserveReport": ("engine.view.breaks", "observe"),
    "BuildReport": ("engine.view.verdicts", "build"),
    "Ended": ("engine.view.verdicts", "ended"),
    "FixReport": ("engine.view.verdicts", "fix"),
    "WalkReport": ("engine.view.walk", "walk"),
    "ShowReport": ("engine.view.pages", "exercise"),
    "DoctorReport": ("engine.view.pages", "doctor"),
    "Asked": ("engine.view.author", "asked"),
    "CheckReport": ("engine.view.author", "check"),
    "Step": ("engine.view.author", "step"),
}


def show(report: Any) -> None:
    """Print a report. Only the module that can is loaded."""
    module, name = SHOW[type(report).__name__]
    if module == PLAIN:
        import_module(module).__dict__[name](report)
        return
    from engine.view.paper import console

    import_module(module).__dict__[name](console(), report)
