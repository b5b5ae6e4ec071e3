"""Breaks: the exercise before the predictions, and what was measured after."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from engine.flows.observe import Observed, ObserveReport
from engine.flows.predictions import BreakReport, Opening
from engine.observe.diagnostics import Observation, Row
from engine.report.paper import code, put, say, section, table
from engine.report.plot import braille
from engine.report.words import words

CURVE_WIDTH, CURVE_HEIGHT = 48, 6  # characters


def opening(out: Console, report: Opening) -> None:
    """The exercise before the predictions."""
    say(out, report.title, "bold")
    out.print()
    say(out, report.text.strip())
    if report.pipeline:
        section(out, words("The code that will be run"))
        code(out, report.pipeline)


def break_(out: Console, report: BreakReport) -> None:
    say(
        out,
        words(
            "{exercise} is in your practice copy: {practice}",
            exercise=report.exercise,
            practice=report.practice,
        ),
        "bold",
    )
    say(out, words("Your predictions are in {notes}", notes=report.notes))
    _observed(out, report.observed)
    section(out, words("What is seen"))
    say(out, report.symptom.strip(), indent=2)
    out.print()
    say(
        out,
        words(
            "Mend the practice copy, then `engine submit-fix`. `engine observe` measures "
            "again, `engine hint` helps."
        ),
    )


def observe(out: Console, report: ObserveReport) -> None:
    say(out, f"{report.title} ({report.exercise})", "bold")
    _observed(out, report.observed)
    section(out, words("What to look at"))
    for text in report.diagnostics:
        say(out, f"- {text}", indent=2)


def _observed(out: Console, observed: Observed) -> None:
    for one in observed.observations:
        _observation(out, one)
    if observed.scored:
        section(out, words("Your predictions"))
        right = {
            True: Text(words("right"), "green"),
            False: Text(words("wrong"), "red"),
            None: Text(words("judge yourself")),
        }
        rows = [
            (str(number), scored.predicted, scored.measured, right[scored.right])
            for number, scored in enumerate(observed.scored, 1)
        ]
        table(out, ("", words("predicted"), words("measured"), ""), rows)
        if observed.brier is not None:
            say(
                out,
                words(
                    "Brier score {brier:.3f} (0 perfect, 0.25 a coin toss)", brier=observed.brier
                ),
                indent=2,
            )


def _observation(out: Console, one: Observation) -> None:
    section(out, one.title)
    if one.traceback:
        say(out, words("Traceback, your own frames:"), indent=2)
        for line in one.traceback:
            code(out, line, indent=4)
    if one.error:
        say(out, one.error, "red", indent=2)
    for name, rows in (
        (words("shapes"), one.shapes),
        (words("numbers"), one.numbers),
        (words("gradient norms"), one.norms),
    ):
        if rows:
            _rows(out, name, rows)
    for label, value in one.orientation:
        say(out, f"{label} = {value:.3f}", "dim", indent=2)
    curves = [
        (words("healthy"), one.healthy_curve),
        (words("broken"), one.broken_curve),
    ]
    values = [y for _, curve in curves for y in curve if y == y and abs(y) != float("inf")]
    if values:
        low, high = min(values), max(values)
        width = max(10, min(CURVE_WIDTH, out.width - 14))
        for label, curve in curves:
            if curve:
                say(
                    out,
                    words(
                        "{label}: {curve} from {first:.3f} to {last:.3f}",
                        label=label,
                        curve=one.curve,
                        first=curve[0],
                        last=curve[-1],
                    ),
                    indent=2,
                )
                lines = braille(curve, width=width, height=CURVE_HEIGHT, low=low, high=high)
                for i, dots in enumerate(lines):
                    edge = f"{high:.2f}" if i == 0 else f"{low:.2f}" if i == len(lines) - 1 else ""
                    put(out, f"  {edge:>7} {dots}")


def _rows(out: Console, name: str, rows: tuple[Row, ...]) -> None:
    shown = [
        (row.name, row.healthy, Text(row.broken, "red" if row.differs else "")) for row in rows
    ]
    table(out, (name, words("healthy"), words("broken")), shown)
