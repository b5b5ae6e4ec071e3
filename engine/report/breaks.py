"""Breaks: the exercise before the predictions, and what was measured after."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from engine.flows.observe import Observed, ObserveReport
from engine.flows.predictions import BreakReport, Opening
from engine.observe.diagnostics import Observation, Row
from engine.report.out import safe
from engine.report.paper import code, say, section, table
from engine.report.plot import braille

CURVE_WIDTH, CURVE_HEIGHT = 48, 6  # characters


def opening(out: Console, report: Opening) -> None:
    """The exercise before the predictions."""
    say(out, report.title, "bold")
    out.print()
    say(out, report.text.strip())
    if report.pipeline:
        section(out, "The code that will be run")
        code(out, report.pipeline)


def break_(out: Console, report: BreakReport) -> None:
    say(out, f"{report.exercise} is in your practice copy: {report.practice}", "bold")
    say(out, f"Your predictions are in {report.notes}")
    _observed(out, report.observed)
    section(out, "What is seen")
    say(out, report.symptom.strip(), indent=2)
    out.print()
    say(
        out,
        "Mend the practice copy, then `engine submit-fix`."
        " `engine observe` measures again, `engine hint` helps.",
    )


def observe(out: Console, report: ObserveReport) -> None:
    say(out, f"{report.title} ({report.exercise})", "bold")
    _observed(out, report.observed)
    section(out, "What to look at")
    for text in report.diagnostics:
        say(out, f"- {text}", indent=2)


def _observed(out: Console, observed: Observed) -> None:
    for one in observed.observations:
        _observation(out, one)
    if observed.scored:
        section(out, "Your predictions")
        shown = table("", "predicted", "measured", "")
        for number, scored in enumerate(observed.scored, 1):
            right = {
                True: Text("right", "green"),
                False: Text("not so", "red"),
                None: Text("judge yourself"),
            }
            shown.add_row(
                str(number), safe(scored.predicted), safe(scored.measured), right[scored.right]
            )
        out.print(Padding(shown, (0, 0, 0, 2)))
        if observed.brier is not None:
            say(out, f"Brier score {observed.brier:.3f} (0 perfect, 0.25 a coin toss)", indent=2)


def _observation(out: Console, one: Observation) -> None:
    section(out, one.title)
    if one.traceback:
        say(out, "Traceback, your own frames:", indent=2)
        for line in one.traceback:
            code(out, line, indent=4)
    if one.error:
        say(out, one.error, "red", indent=2)
    for name, rows in (
        ("shapes", one.shapes),
        ("numbers", one.numbers),
        ("gradient norms", one.norms),
    ):
        if rows:
            _rows(out, name, rows)
    for label, value in one.orientation:
        say(out, f"{label} = {value:.3f}", "dim", indent=2)
    curves = [("healthy", one.healthy_curve), ("broken", one.broken_curve)]
    values = [y for _, curve in curves for y in curve if y == y and abs(y) != float("inf")]
    if values:
        low, high = min(values), max(values)
        width = max(10, min(CURVE_WIDTH, out.width - 14))
        for label, curve in curves:
            if curve:
                say(out, f"{label}: {one.curve} from {curve[0]:.3f} to {curve[-1]:.3f}", indent=2)
                lines = braille(curve, width=width, height=CURVE_HEIGHT, low=low, high=high)
                for i, line in enumerate(lines):
                    edge = f"{high:.2f}" if i == 0 else f"{low:.2f}" if i == len(lines) - 1 else ""
                    out.print(Text(f"  {edge:>7} {line}"))


def _rows(out: Console, name: str, rows: tuple[Row, ...]) -> None:
    shown = table(name, "healthy", "broken")
    for row in rows:
        shown.add_row(
            safe(row.name), safe(row.healthy), Text(safe(row.broken), "red" if row.differs else "")
        )
    out.print(Padding(shown, (0, 0, 0, 2)))
