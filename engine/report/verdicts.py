"""Builds and fixes: verdicts, and the reveal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from engine.judge.verdict import Result
from engine.report.out import safe
from engine.report.paper import code, say, section
from engine.spec.texts import said

if TYPE_CHECKING:
    from engine.flows.build_report import BuildReport, Ended
    from engine.flows.fix_report import FixReport
    from engine.judge.verdict import Verdict


def build(out: Console, report: BuildReport) -> None:
    verdict, sandbox = report.verdict, report.sandbox
    out.print()
    say(out, report.title, "bold")
    for path, digest in report.graded:
        say(out, f"graded {path} sha256 {digest[:16]}")
    say(
        out,
        f"{len(verdict.results)} checks, {verdict.measurements} measurements, seed {verdict.seed}",
    )
    _unmeasured(out, verdict)
    if not sandbox.complete:
        say(out, "This kernel lacks Landlock or seccomp: the code was not walled off.", "yellow")
    if report.first and not report.passed:
        builds = ", ".join(report.first)
        say(out, f"It stands on {builds}: not passed yet, and the place to look first.", "yellow")
    for one in report.questions:
        out.print()
        say(out, f"{'Right' if one.right else 'Not so'}: {one.ask}", "bold")
        say(out, one.because.strip(), indent=2)
    out.print()
    if report.passed:
        say(out, "Passed. Next: `engine next`", "bold green")
        if report.open_questions:
            say(
                out,
                f"Questions about it that are open: {report.open_questions}."
                f" `engine submit-build {report.exercise}` asks them.",
            )
    else:
        say(out, f"Not yet. Next: `{report.next}` gives a hint.", "bold red")


def fix(out: Console, report: FixReport) -> None:
    section(out, "Your diff")
    code(out, report.diff or "(nothing has changed yet)")
    out.print()
    failing = [result for result in report.verdict.results if not result.passed]
    agree = len(report.verdict.results) - len(failing)
    say(
        out,
        f"{agree} of {len(report.verdict.results)} checks agree, over"
        f" {report.verdict.measurements} measurements on inputs nobody has seen.",
    )
    _unmeasured(out, report.verdict)
    for result in failing[:3]:
        shows = _shows(result, report.lang)
        say(out, f"differs: {result.component}: {shows}", "red")
        _difference(out, result)
    if len(failing) > 3:
        say(out, f"and {len(failing) - 3} more checks differ")
    for path, digest in report.graded:
        say(out, f"graded {path} sha256 {digest[:16]}", "dim")
    out.print()
    if not report.passed:
        say(out, "Not mended yet.", "bold red")
        for why in report.suspicious:
            say(out, f"Worth a thought: {why}.", indent=2)
        say(out, "`engine observe` measures again, `engine hint` helps.")
        return
    say(
        out,
        "Mended." + (" (The old text, restored exactly.)" if report.restored else ""),
        "bold green",
    )
    reveal = report.reveal
    if reveal is None:
        return
    if reveal.cause:
        right = "That was the cause." if reveal.cause.right else "That was not the cause."
        say(out, f"{right} {reveal.cause.because}")
    for name, text in (
        ("The hidden cause", reveal.hidden_cause),
        ("How to mend it", reveal.fix),
        ("Why this teaches something", reveal.why),
    ):
        section(out, name)
        say(out, text.strip(), indent=2)
    section(out, "From broken to what you had")
    code(out, reveal.reference_diff)
    section(out, "What is next")
    say(out, reveal.next, indent=2)
    say(out, f"\nYour entry is complete: {report.notes}")


def _unmeasured(out: Console, verdict: Verdict) -> None:
    if verdict.unmeasured:
        say(
            out,
            f"{verdict.unmeasured} more inputs were too large for some code (time, memory or stack)"
            " and decided nothing.",
            "dim",
        )


def _shows(result: Result, lang: str) -> str:
    return said(result.shows, lang) or result.id


def ended(out: Console, report: Ended) -> None:
    """One check of a build; where it failed, what was expected and what came."""
    result = report.result
    mark = Text("ok  ", style="green") if result.passed else Text("FAIL", style="red")
    shows = _shows(result, report.lang)
    text = safe(f" {report.number}/{report.of} {result.component}: {shows} ({result.measurements})")
    out.print(Text.assemble(mark, text))
    if not result.passed:
        _difference(out, result)


def _difference(out: Console, result: Result) -> None:
    found = result.difference
    if found is None or found.got == "not run":  # what stopped the run was told before
        return
    at = str(list(found.index)) if found.index else ""
    name = f"{found.value}{at}: " if found.value else ""
    say(out, f"regime {result.regime}: {result.inputs}", indent=9)
    say(out, f"{name}expected {found.expected}", indent=9)
    say(out, f"{' ' * len(name)}got      {found.got}", indent=9)
    if found.total > 1:
        say(out, f"{found.differing} of {found.total} values differ", indent=9)
    if result.pattern:
        say(out, result.pattern, indent=9)
    for line in result.traceback[-4:]:
        say(out, line, "dim", indent=9)
