"""`engine check` as text: a row for each fact, then what each WRONG means, then what was made up.

Without a terminal a fact is one line, however long. On a terminal its row is wrapped within columns.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from engine.errors import Message
from engine.facts.pack import Texts, told_why
from engine.facts.report import Fact, HealthReport, Taken
from engine.report.layout import aligned, columns
from engine.report.out import safe, tell
from engine.report.plain import painted
from engine.report.words import said, words

CANNOT = Message(
    "What this cannot tell: whether the sizes suit your data, whether the data are good, and anything"
    " that only shows at full size. It measured a small copy of your model."
)
WIDTH = 44
COLOURS = {"PASS": "green", "WRONG": "red", "WARN": "yellow"}


Known = Mapping[str, Texts]
Reasons = Mapping[str, str]


def show(report: HealthReport, known: Known, reasons: Reasons) -> None:
    """Print the report. known, reasons: the facts, and why they are not measured, in the language that is
    spoken, where that is not English.
    """
    width = columns(sys.stdout)
    if width is None:
        sys.stdout.write(safe(text(report, known, reasons)) + "\n")
        return
    tell("\n".join(taken(report.model)) + "\n\n", sys.stdout)
    rows = [cells(fact, known) for fact in measured(report)]
    found = aligned([[safe(cell) for cell in row] for row in rows], width) if rows else []
    for number, parts in found or ():
        print(painted(parts[0], COLOURS.get(rows[number][0], "")) + "".join(parts[1:]))
    if found is None:
        tell("\n".join(" ".join(row) for row in rows), sys.stdout)
    tell("\n".join(rest(report, known, reasons)), sys.stdout)


def text(report: HealthReport, known: Known, reasons: Reasons) -> str:
    """The report, a line for each fact."""
    lines = [*taken(report.model), ""]
    for fact in measured(report):
        verdict, title, measure = cells(fact, known)
        lines.append(f"{verdict:5}  {title[:WIDTH]:{WIDTH}} {measure}")
    return "\n".join([*lines, *rest(report, known, reasons)])


def measured(report: HealthReport) -> list[Fact]:
    return [fact for fact in report.facts if fact.verdict != "SKIP"]


def rest(report: HealthReport, known: Known, reasons: Reasons) -> list[str]:
    """What comes below the rows."""
    lines = []
    for fact in report.facts:
        if fact.verdict in ("WRONG", "WARN"):
            lines += ["", *explained(fact, known)]
    skipped = [fact for fact in report.facts if fact.verdict == "SKIP"]
    if skipped:
        lines += ["", words("Not measured:")]
        titles: dict[str, list[str]] = {}
        for fact in skipped:
            why = told_why(fact.why, fact.id, known, reasons)
            titles.setdefault(why, []).append(title(fact, known))
        lines += [f"  {', '.join(some)}: {reason}" for reason, some in titles.items()]
    if report.made_up:
        lines += ["", words("Made up: {what}.", what="; ".join(report.made_up))]
    count = {
        v: sum(f.verdict == v for f in report.facts) for v in ("PASS", "WRONG", "WARN", "SKIP")
    }
    told = ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number)
    return [*lines, "", said(CANNOT), f"{told}. {report.took_s:.1f} s."]


def taken(model: Taken) -> list[str]:
    """What was taken for the model, its training script and its sampler."""
    nothing = words("not looked at")
    return [
        words(
            "{file}:{cls}: {layers} layers, d {width}, {heads} heads ({count} parameters in the"
            " small copy)",
            file=model.file,
            cls=model.cls,
            layers=model.layers,
            width=model.width,
            heads=model.heads,
            count=f"{model.parameters:,}",
        ),
        words(
            "training: {training}; generation: {generation}",
            training=model.training or nothing,
            generation=model.generation or nothing,
        ),
    ]


def title(fact: Fact, known: Known) -> str:
    return known[fact.id].title if fact.id in known else fact.title


def value(fact: Fact, known: Known) -> str:
    return known[fact.id].value(str(fact.value)) if fact.id in known else str(fact.value)


def cells(fact: Fact, known: Known) -> tuple[str, str, str]:
    """verdict; fact; measured, expected, file:line."""
    place = f"  {fact.where.file}:{fact.where.line}" if fact.where else ""
    expected = known[fact.id].expected if fact.id in known else fact.expected
    wanted = words(" (expected: {expected})", expected=expected) if fact.verdict != "PASS" else ""
    return fact.verdict, title(fact, known), f"{value(fact, known)}{wanted}{place}"


def explained(fact: Fact, known: Known) -> list[str]:
    """What a WRONG or WARN means, and how to see it."""
    told = known.get(fact.id)
    names = told.wrong.get(fact.names, fact.names) if told else fact.names
    head = f"{fact.verdict} {fact.id}: {names or value(fact, known)}"
    place = [f"  {fact.where.file}:{fact.where.line}: {fact.where.text}"] if fact.where else []
    means, see = (told.means, told.see) if told else (fact.means, fact.see)
    return [head, *place, "  " + means, "  " + words("See it yourself: {how}", how=see)]
