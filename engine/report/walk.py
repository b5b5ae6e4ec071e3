"""A walkthrough: steps with their numbers, and words in the plane."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from engine.flows.walkthrough import Point, Shown, WalkReport
from engine.report.curves import Axes, curves
from engine.report.out import safe
from engine.report.paper import put, say, section
from engine.report.words import words

WIDEST, HEIGHT = 76, 20
COLUMNS = 8  # numbers of a row that are shown


def walk(out: Console, report: WalkReport) -> None:
    say(out, report.title, "bold")
    say(out, report.text, indent=2)
    for step in report.steps:
        section(out, step.title)
        say(out, step.say.strip(), indent=2)
        for shown in step.shown:
            _value(out, shown)
    for title, points in (
        (words("The table as a picture, before the training"), report.before),
        (words("The table as a picture, after the training"), report.after),
    ):
        section(out, title)
        for row in picture(points, min(WIDEST, out.width - 4), HEIGHT):
            put(out, ("  " + safe(row)).rstrip())
    if report.saved:
        say(out, "\n" + words("Saved: {saved}", saved=report.saved))


def _value(out: Console, shown: Shown) -> None:
    name = shown.name.replace("_", " ")
    if shown.curve:
        curves(out, Axes(shown.name), ((name, shown.curve),))
    elif shown.rows:
        say(out, name, "dim", indent=2)
        most = min(COLUMNS, (out.width - 17) // 7)  # numbers that fit beside a word
        for word, row in shown.rows:
            numbers = " ".join(f"{number:6.3f}" for number in row[:most])
            more = " ..." if len(row) > most else ""
            put(out, safe(f"    {word:8} {numbers}{more}"))
    elif len(shown.lines) == 1:
        say(out, f"{name}: {shown.lines[0]}", indent=2)
    else:
        say(out, name, "dim", indent=2)
        for one in shown.lines:
            say(out, one, indent=4)


def picture(points: Sequence[Point], width: int, height: int) -> list[str]:
    """Words at their places; one that would cover another moves to the nearest free line, or goes."""
    rows = [[" "] * width for _ in range(height)]
    xs, ys = [p.x for p in points], [p.y for p in points]
    wide, high = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    for point in points:
        word = point.word[:width]
        x = round((point.x - min(xs)) / wide * (width - 1))
        x = max(0, min(x, width - len(word)))
        y = round((max(ys) - point.y) / high * (height - 1))
        for line in sorted(range(height), key=lambda line, y=y: abs(line - y)):  # type: ignore[misc]
            around = rows[line][max(0, x - 1) : x + len(word) + 1]
            if abs(line - y) <= 2 and set(around) == {" "}:
                rows[line][x : x + len(word)] = word
                break
    return ["".join(row).rstrip() for row in rows]
