"""What is told after a right fix, without rich, as the verdict before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.report.plain import code, say, table
from engine.report.words import words

if TYPE_CHECKING:
    from engine.flows.fix_report import Reveal


def reveal(report: Reveal) -> None:
    """The cause, and why it teaches something; of a blind break first what it was."""
    if report.was:
        say(words("This was {exercise}.", exercise=report.was), "bold")
    if report.scored:
        names = {True: words("right"), False: words("wrong"), None: words("judge yourself")}
        rows = [(one.predicted, one.measured, names[one.right]) for one in report.scored]
        table([(words("your diagnosis"), words("the bug"), ""), *rows])
    if report.cause:
        wrong = words("That was not the cause.")
        right = words("That was the cause.") if report.cause.right else wrong
        say(f"{right} {report.cause.because}")
    for name, text in (
        (words("The hidden cause"), report.hidden_cause),
        (words("How to fix it"), report.fix),
        (words("Why this teaches something"), report.why),
    ):
        _section(name)
        say(text.strip(), indent=2)
    _section(words("From broken to what you had"))
    code(report.reference_diff)
    if report.sources:
        _section(words("Sources"))
        say(report.sources, indent=2)
    _section(words("What is next"))
    say(report.next, indent=2)


def _section(name: str) -> None:
    print()
    say(name, "bold")
