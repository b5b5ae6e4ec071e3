"""Breaks: the exercise before the predictions, and what was measured after."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from engine.flows.blind import BlindReport
from engine.flows.observe import Observed, ObserveReport
from engine.flows.predictions import BreakReport, Opening
from engine.observe.diagnostics import Observation, Row
from engine.report.curves import Axes, curves
from engine.report.paper import code, say, section, table
from engine.report.words import said, words


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
    section(out, words("What happened"))
    say(out, report.symptom.strip(), indent=2)
    out.print()
    say(
        out,
        words(
            "Fix the practice copy, then `engine submit-fix`. `engine observe` measures "
            "again, `engine hint` helps."
        ),
    )


def blind(out: Console, report: BlindReport) -> None:
    """A situation and the evidence; not a word about where or what."""
    say(out, f"{report.title} ({report.exercise})", "bold")
    out.print()
    say(out, report.story.strip())
    _observed(out, report.observed)
    out.print()
    told = words("The code that does this is in {practice}", practice=report.practice)
    say(out, told, "bold")
    say(
        out,
        words(
            "`engine diagnose` records where you think the bug is, and what it is. Fix it there, then "
            "`engine submit-fix`. `engine hint` helps."
        ),
    )


def observe(out: Console, report: ObserveReport) -> None:
    say(out, f"{report.title} ({report.exercise})", "bold")
    _observed(out, report.observed)
    if report.diagnostics:
        section(out, words("What to look at"))
    for text in report.diagnostics:
        say(out, f"- {text}", indent=2)
    if report.saved:
        say(out, "\n" + words("Saved: {saved}", saved=report.saved))


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
            code(out, said(line), indent=4)
    if one.error:
        say(out, said(one.error), "red", indent=2)
    elif one.broken_error:
        say(out, words("It ended in an error before, and does so no more."), "green", indent=2)
    for name, rows in (
        (words("shapes"), one.shapes),
        (words("numbers"), one.numbers),
        (words("gradient norms"), one.norms),
    ):
        if rows:
            _rows(out, name, rows, one.edited)
    for label, value in one.orientation:
        say(out, words("{label} = {value:.3f}", label=label, value=value), "dim", indent=2)
    found = [
        (label, curve)
        for label, curve in (
            (words("healthy"), one.healthy_curve),
            (words("broken"), one.broken_curve),
            (words("now"), one.now_curve),
        )
        if curve
    ]
    if found:
        curves(out, Axes(one.curve, one.unit, one.along), found)


def _rows(out: Console, name: str, rows: tuple[Row, ...], edited: bool) -> None:
    head = (name, words("healthy"), words("broken"), *((words("now"),) if edited else ()))
    shown: list[tuple[str | Text, ...]] = []
    for row in rows:
        label = said(row.label) or row.name
        both, red = (said(row.healthy), said(row.broken)), "red" if row.differs else ""
        if edited:
            shown.append((label, *both, Text(said(row.now or "-"), red)))
        else:
            shown.append((label, both[0], Text(both[1], red)))
    table(out, head, shown)
