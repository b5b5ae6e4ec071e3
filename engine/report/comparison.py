"""Two versions of one model: their numbers, their curves, and what held in every run."""

from __future__ import annotations

from rich.console import Console

from engine.flows.comparison import ComparisonReport
from engine.report.curves import Axes, curves
from engine.report.paper import say, section, table
from engine.report.words import words


def comparison(out: Console, report: ComparisonReport) -> None:
    say(out, report.title, "bold")
    say(out, words("Your model is: {version}", version=report.own), indent=2)
    for text in (report.text, report.drawn):
        if text:
            say(out, text.strip(), indent=2)
    section(out, words("Numbers: the mean, and the range over the runs"))
    rows = [(row.title, _number(row.first), _number(row.second)) for row in report.rows]
    table(out, ("", *report.versions), rows)
    section(out, words("The first run, step by step"))
    for name, values, unit in (
        (words("loss"), report.losses, words("nats")),
        (words("gradient norm"), report.norms, ""),
    ):
        pairs = list(zip(report.versions, values, strict=True))
        curves(out, Axes(name, unit, words("step")), pairs)
    section(out, words("What was found on your model"))
    for row in report.rows:
        say(out, f"- {row.says.strip()}", indent=2)
    say(out, report.note.strip(), "dim", indent=2)


def _number(found: tuple[float, float, float]) -> str:
    mean, low, high = found
    return words("{mean:.3g} ({low:.3g} to {high:.3g})", mean=mean, low=low, high=high)
