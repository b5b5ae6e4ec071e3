"""`engine submit-build --all`: a line for each part."""

from __future__ import annotations

from engine.flows.build_report import AllReport
from engine.report.plain import say, table
from engine.report.verdicts import View
from engine.report.words import words


def all_parts(report: AllReport) -> None:
    """A row for each component; the first cause where it does not pass."""
    view = View(report.lang, report.root, "")
    rows = [(words("part"), words("checks"), words("first"))]
    for part in report.parts:
        told = view.brief(part.finding) if part.finding else ""
        what = words("pass; {advice}", advice=told) if part.passed and told else told
        what = what or words("pass")
        rows.append((part.exercise, f"{part.right}/{part.checks}", what))
    table(rows)
    print()
    right = sum(part.passed for part in report.parts)
    say(words("{passed} of {count} pass", passed=right, count=len(report.parts)), "bold")
