"""`engine check` as text: one screen, then what each WRONG means, then what was made up."""

from __future__ import annotations

import sys

from engine.facts.report import Fact, HealthReport
from engine.report.out import safe

CANNOT = (
    "What this cannot tell: whether the sizes suit your data, whether the data are good, and anything"
    " that only shows at full size. It measured a small copy of your model."
)
WIDTH = 44


def show(report: HealthReport) -> None:
    """Print the report as it is: its rows are for a terminal, a pager and a file alike."""
    sys.stdout.write(safe(text(report)) + "\n")


def text(report: HealthReport) -> str:
    """The report for a person."""
    model = report.model
    lines = [
        f"{model.file}:{model.cls}: {model.layers} layers, d {model.width}, {model.heads} heads"
        f" ({model.parameters:,} parameters in the small copy)",
        f"training: {model.training or 'not looked at'}; generation: {model.generation or 'not looked at'}",
        "",
    ]
    lines += [row(fact) for fact in report.facts if fact.verdict != "SKIP"]
    for fact in report.facts:
        if fact.verdict in ("WRONG", "WARN"):
            lines += ["", *explained(fact)]
    skipped = [fact for fact in report.facts if fact.verdict == "SKIP"]
    if skipped:
        lines += ["", "Not measured:"]
        whys = dict.fromkeys(fact.why for fact in skipped)
        for why in whys:
            titles = ", ".join(fact.title for fact in skipped if fact.why == why)
            lines.append(f"  {titles}: {why}")
    if report.made_up:
        lines += ["", "Made up: " + "; ".join(report.made_up) + "."]
    count = {
        v: sum(f.verdict == v for f in report.facts) for v in ("PASS", "WRONG", "WARN", "SKIP")
    }
    told = ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number)
    lines += ["", CANNOT, f"{told}. {report.took_s:.1f} s."]
    return "\n".join(lines)


def row(fact: Fact) -> str:
    """verdict, fact, measured, expected, file:line."""
    place = f"  {fact.where.file}:{fact.where.line}" if fact.where else ""
    wanted = f" (expected: {fact.expected})" if fact.verdict != "PASS" else ""
    return f"{fact.verdict:5}  {fact.title[:WIDTH]:{WIDTH}} {fact.value}{wanted}{place}"


def explained(fact: Fact) -> list[str]:
    """What a WRONG or WARN means, and how to see it."""
    head = f"{fact.verdict} {fact.id}: {fact.names or fact.value}"
    place = [f"  {fact.where.file}:{fact.where.line}: {fact.where.text}"] if fact.where else []
    return [head, *place, f"  {fact.means}", f"  See it yourself: {fact.see}"]
