"""Builds and fixes: verdicts, and the reveal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from engine.judge.verdict import Result
from engine.report.out import safe
from engine.report.paper import code, say, section
from engine.report.words import words
from engine.spec.texts import said

if TYPE_CHECKING:
    from engine.flows.build_report import BuildReport, Ended
    from engine.flows.fix_report import FixReport, Reveal
    from engine.judge.verdict import Verdict


def build(out: Console, report: BuildReport) -> None:
    verdict, sandbox = report.verdict, report.sandbox
    out.print()
    say(out, report.title, "bold")
    for path, digest in report.graded:
        say(out, words("graded {path} sha256 {digest}", path=path, digest=digest[:16]))
    say(
        out,
        words(
            "{count} checks, {measurements} measurements, seed {seed}",
            count=len(verdict.results),
            measurements=verdict.measurements,
            seed=verdict.seed,
        ),
    )
    _unmeasured(out, verdict)
    if not sandbox.complete:
        say(
            out,
            words("This kernel lacks Landlock or seccomp: the code was not walled off."),
            "yellow",
        )
    if report.first and not report.passed:
        builds = ", ".join(report.first)
        say(
            out,
            words(
                "It stands on {builds}: not passed yet, and the place to look first.", builds=builds
            ),
            "yellow",
        )
    for one in report.questions:
        out.print()
        say(out, f"{words('Right') if one.right else words('Not so')}: {one.ask}", "bold")
        say(out, one.because.strip(), indent=2)
    out.print()
    if report.passed:
        say(out, words("Passed. Next: `engine next`"), "bold green")
        if report.open_questions:
            say(
                out,
                words(
                    "Questions about it that are open: {open_questions}. `engine submit-build "
                    "{exercise}` asks them.",
                    open_questions=report.open_questions,
                    exercise=report.exercise,
                ),
            )
    else:
        say(out, words("Not yet. Next: `{next}` gives a hint.", next=report.next), "bold red")


def fix(out: Console, report: FixReport) -> None:
    section(out, words("Your diff"))
    code(out, report.diff or words("(nothing has changed yet)"))
    out.print()
    failing = [result for result in report.verdict.results if not result.passed]
    agree = len(report.verdict.results) - len(failing)
    say(
        out,
        words(
            "{agree} of {count} checks agree, over {measurements} measurements on inputs "
            "nobody has seen.",
            agree=agree,
            count=len(report.verdict.results),
            measurements=report.verdict.measurements,
        ),
    )
    _unmeasured(out, report.verdict)
    for result in failing[:3]:
        shows = _shows(result, report.lang)
        say(
            out,
            words("differs: {component}: {shows}", component=result.component, shows=shows),
            "red",
        )
        _difference(out, result)
    if len(failing) > 3:
        say(out, words("and {count} more checks differ", count=len(failing) - 3))
    for path, digest in report.graded:
        say(out, words("graded {path} sha256 {digest}", path=path, digest=digest[:16]), "dim")
    out.print()
    if not report.passed:
        say(out, words("Not mended yet."), "bold red")
        for why in report.suspicious:
            say(out, words("Worth a thought: {why}.", why=why), indent=2)
        say(out, words("`engine observe` measures again, `engine hint` helps."))
        return
    say(
        out,
        words("Mended. (The old text, restored exactly.)") if report.restored else words("Mended."),
        "bold green",
    )
    if report.reveal is not None:
        _reveal(out, report.reveal)
        say(out, "\n" + words("Your entry is complete: {notes}", notes=report.notes))


def _reveal(out: Console, reveal: Reveal) -> None:
    """The cause, and why it teaches something."""
    if reveal.cause:
        right = (
            words("That was the cause.") if reveal.cause.right else words("That was not the cause.")
        )
        say(out, f"{right} {reveal.cause.because}")
    for name, text in (
        (words("The hidden cause"), reveal.hidden_cause),
        (words("How to mend it"), reveal.fix),
        (words("Why this teaches something"), reveal.why),
    ):
        section(out, name)
        say(out, text.strip(), indent=2)
    section(out, words("From broken to what you had"))
    code(out, reveal.reference_diff)
    section(out, words("What is next"))
    say(out, reveal.next, indent=2)


def _unmeasured(out: Console, verdict: Verdict) -> None:
    if verdict.unmeasured:
        say(
            out,
            words(
                "{unmeasured} more inputs were too large for some code (time, memory or "
                "stack) and decided nothing.",
                unmeasured=verdict.unmeasured,
            ),
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
    say(
        out,
        words("regime {regime}: {inputs}", regime=result.regime, inputs=result.inputs),
        indent=9,
    )
    say(out, name + words("expected {expected}", expected=found.expected), indent=9)
    say(out, " " * len(name) + words("got      {got}", got=found.got), indent=9)
    if found.total > 1:
        say(
            out,
            words(
                "{differing} of {total} values differ", differing=found.differing, total=found.total
            ),
            indent=9,
        )
    if result.pattern:
        say(out, result.pattern, indent=9)
    for line in result.traceback[-4:]:
        say(out, line, "dim", indent=9)
