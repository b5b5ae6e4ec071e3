"""A walkthrough: steps with their numbers, and words in the plane."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from engine.errors import Message
from engine.flows.walkthrough import Point, Shown, WalkReport
from engine.report.curves import Axes, curves
from engine.report.out import safe
from engine.report.paper import put, say, section
from engine.report.words import said, words

WIDEST, HEIGHT = 76, 20
COLUMNS = 8  # numbers of a row that are shown
LABELS = {  # of the values that walkthroughs of the engine's packs show
    "ids": Message("ids"),
    "table_shape": Message("shape of the table"),
    "rows": Message("rows"),
    "shape": Message("shape"),
    "batch_shape": Message("shape of the batch"),
    "positions": Message("rows with their positions"),
    "position_rows": Message("rows of the positions"),
    "turned_query": Message("turned query"),
    "logits_shape": Message("shape of the logits"),
    "next_before": Message("next word, before"),
    "next_after": Message("next word, after"),
    "neighbours_before": Message("neighbours before"),
    "neighbours_after": Message("neighbours after"),
    "losses": Message("losses"),
    "first_loss": Message("first loss"),
    "last_loss": Message("mean of the last {count} losses", count=10),
    "same_word": Message("the same word"),
    "rows_apart": Message("largest difference of its rows"),
    "hidden_apart": Message("largest difference of its hidden states"),
    "hidden_cosine": Message("cosine of its hidden states"),
    "memory": Message("memory"),
    "lookup": Message("lookup"),
    "beyond": Message("beyond the longest sequence"),
}


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
    name = said(LABELS.get(shown.name, shown.name.replace("_", " ")))
    if shown.curve:
        curves(out, Axes(name), ((name, shown.curve),))
    elif shown.rows:
        say(out, name, "dim", indent=2)
        most = min(COLUMNS, (out.width - 17) // 7)  # numbers that fit beside a word
        for word, row in shown.rows:
            numbers = " ".join(f"{number:6.3f}" for number in row[:most])
            more = " ..." if len(row) > most else ""
            put(out, safe(f"    {word:8} {numbers}{more}"))
    elif len(shown.lines) == 1:
        say(out, f"{name}: {said(shown.lines[0])}", indent=2)
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
