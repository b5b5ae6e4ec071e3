"""The demo's steps, the author's check, the doctor, and the texts of exercises."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from engine.author.prove import CheckReport
from engine.flows.demo import Asked, Bug, Checked, Step
from engine.report.out import safe
from engine.report.paper import code, marked, say
from engine.report.words import said, words


def step(out: Console, step: Step) -> None:
    if step.command:
        out.print()
        say(out, f"$ {step.command}", "bold cyan")
    say(out, said(step.what), "dim" if step.command else "")


def checked(out: Console, report: Checked) -> None:
    """The builds of the demo, in a line."""
    parts = ", ".join(
        words("{component} ({count} checks)", component=component, count=count)
        for component, count in report.builds
    )
    say(out, words("Right: {parts}.", parts=parts), "green")


def bug(out: Console, report: Bug) -> None:
    out.print()
    code(out, report.diff)


def asked(out: Console, asked: Asked) -> None:
    out.print()
    say(out, asked.question)
    say(out, f"> {asked.answer} ({asked.confidence}%)", "cyan", indent=2)


def check(out: Console, report: CheckReport) -> None:
    for problem in report.problems:
        say(out, f"{problem.where}: {problem.what}", "red")
    for proof in report.proofs:
        mark = ("ok   ", "green") if proof.held else ("FAIL ", "red")
        marked(out, mark, f"{proof.exercise} on {proof.model}: {proof.claim} ({proof.detail})")
    bad = len(report.problems) + sum(not proof.held for proof in report.proofs)
    say(
        out,
        words("{count} claims tried, {bad} problems", count=len(report.proofs), bad=bad),
        "bold red" if bad else "bold green",
    )


def reached(line: dict[str, Any]) -> None:
    """One line of `engine dev reach`."""
    how = f"{line['how']}, {line['changed_lines']} lines" if line["how"] else line["reason"]
    print(
        safe(f"{line['outcome']:9} {line['exercise']} in {line['model']}: {how} ({line['ms']} ms)")
    )


def judged(line: dict[str, Any]) -> None:
    """One line of `engine dev judge`."""
    told = line["failing"]["explanation"] if line["failing"] else f"{line['checks']} checks"
    print(safe(f"{line['verdict']:5} {line['candidate']}: {told} ({line['ms']} ms)"))
