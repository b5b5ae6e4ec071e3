"""Reports as text for a person: one function a report, in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from engine.commands.break_ import BreakReport, Opening
from engine.commands.demo import Asked, Step
from engine.commands.dev_check import CheckReport
from engine.commands.doctor import DoctorReport
from engine.commands.hint import HintReport
from engine.commands.init import InitReport
from engine.commands.listing import ListReport, NextReport, ShowReport, StatusReport
from engine.commands.notes_ import NotesReport
from engine.commands.observe_ import Observed, ObserveReport
from engine.commands.reset import ResetReport
from engine.commands.submit_build import BuildReport
from engine.commands.submit_fix import FixReport
from engine.judge.verdict import Result, Verdict
from engine.observe.diagnostics import Observation, Row
from engine.run.types import Sandbox
from engine.view.out import safe
from engine.view.plot import braille

CURVE_WIDTH, CURVE_HEIGHT = 48, 6
STATES = {"passed": "green", "closed": "green", "open": "yellow", "failed": "red"}


def console() -> Console:
    """Standard output, as wide and as colourful as it is."""
    return Console(highlight=False, soft_wrap=False, emoji=False)


def show(report: Any) -> None:
    """Print a report."""
    SHOW[type(report)](console(), report)


def say(out: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Paragraphs, escaped and wrapped to the terminal."""
    shown = Text(safe(reflowed(text)), style=style)
    out.print(Padding(shown, (0, 0, 0, indent), expand=False))


def reflowed(text: str) -> str:
    """Paragraphs as single lines, so that they can be wrapped anew; lists and code stay."""
    lines: list[str] = []
    for line in text.split("\n"):
        joins = lines and lines[-1].strip() and line.strip()
        if joins and not line.startswith((" ", "-")) and not line[0].isdigit():
            lines[-1] += " " + line
        else:
            lines.append(line)
    return "\n".join(lines)


def section(out: Console, title: str) -> None:
    """A heading with an empty line before it."""
    out.print()
    out.print(Text(safe(title), style="bold"))


def code(out: Console, text: str, indent: int = 2) -> None:
    """Lines that must not be wrapped at words."""
    for line in safe(text).splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        out.print(Text(" " * indent + line, style=style, no_wrap=False, overflow="fold"))


def table(*columns: str) -> Table:
    """A table without lines."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(Text(column, style="dim"), overflow="fold")
    return made


def opening(out: Console, report: Opening) -> None:
    """The exercise before the predictions."""
    say(out, report.title, "bold")
    out.print()
    say(out, report.text.strip())
    if report.pipeline:
        section(out, "The code that will be run")
        code(out, report.pipeline)
    for check in report.ailing:
        say(out, f"(A build check of yours fails, which is no hindrance here: {check})", "dim")


def _list(out: Console, report: ListReport) -> None:
    shown = table("id", "kind", "phase", "state", "title")
    for one in report.exercises:
        state = Text(one.state, style=STATES.get(one.state, ""))
        shown.add_row(one.id, one.kind, one.phase, state, safe(one.title))
    out.print(shown)


def _show(out: Console, report: ShowReport) -> None:
    say(out, report.title, "bold")
    for name, text in report.parts:
        section(out, name.replace("_", " "))
        if name in ("signature", "pipeline"):
            code(out, text)
        else:
            say(out, text.strip(), indent=2)


def _status(out: Console, report: StatusReport) -> None:
    say(out, f"{report.learner}, model in {report.model}")
    out.print()
    _list(out, ListReport(report.exercises))
    if report.open:
        section(out, f"Open: {report.open}")
        say(
            out,
            f"{report.hints_taken} hints taken. Practice copy: {report.home}/practice/{report.open}",
            indent=2,
        )
    if report.predictions:
        section(out, "Confidence and how often you were right")
        shown = table("confidence", "predictions", "right")
        for one in report.calibration:
            shown.add_row(
                f"{one.low} to {one.high}%", str(one.count), f"{100 * one.right / one.count:.0f}%"
            )
        out.print(Padding(shown, (0, 0, 0, 2)))
        say(
            out,
            f"Brier score {report.brier:.3f} over {report.predictions} (0 perfect, 0.25 a coin toss)",
            indent=2,
        )


def _next(out: Console, report: NextReport) -> None:
    if not report.exercise:
        say(out, "Everything here is done.")
        return
    say(out, f"{report.title} ({report.exercise}, {report.kind})", "bold")
    say(out, f"  engine show {report.exercise}")
    say(out, f"  {report.command}")


def _init(out: Console, report: InitReport) -> None:
    say(out, f"{report.name} is ready: {report.home}", "bold")
    if report.from_template:
        say(out, "Your model starts from the template in src/; the stubs say what to build.")
    else:
        say(out, f"Your code stays where it is and is never written to: {report.model}")
    if report.warning:
        say(out, report.warning, "yellow")
    say(out, f"\nNext: cd {report.home}, then `engine next`.")


def _build(out: Console, report: BuildReport) -> None:
    say(out, report.title, "bold")
    _verdict(out, report.verdict, report.graded, report.sandbox)
    out.print()
    if report.passed:
        say(out, "Passed. Next: `engine next`", "bold green")
    else:
        say(out, f"Not yet. Next: `{report.next}` gives a hint.", "bold red")


def _verdict(
    out: Console, verdict: Verdict, graded: tuple[tuple[str, str], ...], sandbox: Sandbox
) -> None:
    of = len(verdict.results)
    for number, result in enumerate(verdict.results, 1):
        mark = Text("ok  ", style="green") if result.passed else Text("FAIL", style="red")
        shows = next(iter(result.shows.values()), result.id) if result.shows else result.id
        text = safe(f" {number}/{of} {result.component}: {shows} ({result.measurements})")
        out.print(Text.assemble(mark, text))
        if not result.passed:
            _difference(out, result)
    out.print()
    for path, digest in graded:
        say(out, f"graded {path} sha256 {digest[:16]}")
    say(out, f"{of} checks, {verdict.measurements} measurements, seed {verdict.seed}")
    if not sandbox.landlock or not sandbox.seccomp:
        say(out, "This kernel lacks Landlock or seccomp: the code was not walled off.", "yellow")


def _difference(out: Console, result: Result) -> None:
    found = result.difference
    if found is None:
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


def _break(out: Console, report: BreakReport) -> None:
    say(out, f"{report.exercise} is in your practice copy: {report.practice}", "bold")
    say(out, f"Your predictions are in {report.notes}")
    _observed(out, report.observed)
    section(out, "What is seen")
    say(out, report.symptom.strip(), indent=2)
    out.print()
    say(
        out,
        "Mend the practice copy, then `engine submit-fix`."
        " `engine observe` measures again, `engine hint` helps.",
    )


def _observe(out: Console, report: ObserveReport) -> None:
    say(out, f"{report.title} ({report.exercise})", "bold")
    _observed(out, report.observed)
    section(out, "What to look at")
    for text in report.diagnostics:
        say(out, f"- {text}", indent=2)


def _observed(out: Console, observed: Observed) -> None:
    for one in observed.observations:
        _observation(out, one)
    if observed.scored:
        section(out, "Your predictions")
        shown = table("", "predicted", "measured", "")
        for number, scored in enumerate(observed.scored, 1):
            right = {
                True: Text("right", "green"),
                False: Text("not so", "red"),
                None: Text("judge yourself"),
            }
            shown.add_row(
                str(number), safe(scored.predicted), safe(scored.measured), right[scored.right]
            )
        out.print(Padding(shown, (0, 0, 0, 2)))
        if observed.brier is not None:
            say(out, f"Brier score {observed.brier:.3f} (0 perfect, 0.25 a coin toss)", indent=2)


def _observation(out: Console, one: Observation) -> None:
    section(out, one.title)
    if one.traceback:
        say(out, "Traceback, your own frames:", indent=2)
        for line in one.traceback:
            code(out, line, indent=4)
    if one.error:
        say(out, one.error, "red", indent=2)
    for name, rows in (
        ("shapes", one.shapes),
        ("numbers", one.numbers),
        ("gradient norms", one.norms),
    ):
        if rows:
            _rows(out, name, rows)
    for label, value in one.orientation:
        say(out, f"{label} = {value:.3f}", "dim", indent=2)
    curves = [("healthy", one.healthy_curve), ("broken", one.broken_curve)]
    values = [y for _, curve in curves for y in curve if y == y and abs(y) != float("inf")]
    if values:
        low, high = min(values), max(values)
        width = max(10, min(CURVE_WIDTH, out.width - 14))
        for label, curve in curves:
            if curve:
                say(out, f"{label}: {one.curve} from {curve[0]:.3f} to {curve[-1]:.3f}", indent=2)
                lines = braille(curve, width=width, height=CURVE_HEIGHT, low=low, high=high)
                for i, line in enumerate(lines):
                    edge = f"{high:.2f}" if i == 0 else f"{low:.2f}" if i == len(lines) - 1 else ""
                    out.print(Text(f"  {edge:>7} {line}"))


def _rows(out: Console, name: str, rows: tuple[Row, ...]) -> None:
    shown = table(name, "healthy", "broken")
    for row in rows:
        shown.add_row(
            row.name, safe(row.healthy), Text(safe(row.broken), "red" if row.differs else "")
        )
    out.print(Padding(shown, (0, 0, 0, 2)))


def _hint(out: Console, report: HintReport) -> None:
    first = report.number - len(report.hints) + 1
    for number, text in enumerate(report.hints, first):
        say(out, f"Hint {number} of {report.of} ({report.exercise})", "bold")
        say(out, text, indent=2)


def _fix(out: Console, report: FixReport) -> None:
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
    for result in failing[:3]:
        shows = next(iter(result.shows.values()), result.id)
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


def _reset(out: Console, report: ResetReport) -> None:
    say(out, f"{report.exercise} is put aside. The practice copy is kept; to get it back:", "bold")
    code(out, report.restore)


def _notes(out: Console, report: NotesReport) -> None:
    say(out, report.file, "bold")
    out.print(Text(safe(report.text)))


def _doctor(out: Console, report: DoctorReport) -> None:
    for finding in report.findings:
        mark = Text("ok  ", "green") if finding.good else Text("FAIL", "red")
        out.print(Text.assemble(mark, safe(f" {finding.what}: {finding.found}")))


def _step(out: Console, step: Step) -> None:
    out.print()
    if step.command:
        out.print(Text(f"$ {step.command}", "bold cyan"))
    say(out, step.what, "dim")
    out.print()


def _asked(out: Console, asked: Asked) -> None:
    out.print()
    say(out, asked.question)
    say(out, f"> {asked.answer} ({asked.confidence}%)", "cyan", indent=2)


def _check(out: Console, report: CheckReport) -> None:
    for problem in report.problems:
        say(out, f"{problem.where}: {problem.what}", "red")
    for proof in report.proofs:
        mark = Text("ok  ", "green") if proof.held else Text("FAIL", "red")
        text = f" {proof.exercise} on {proof.model}: {proof.claim}"
        out.print(Text.assemble(mark, safe(text), (safe(f" ({proof.detail})"), "dim")))
    bad = len(report.problems) + sum(not proof.held for proof in report.proofs)
    say(
        out,
        f"{len(report.proofs)} claims tried, {bad} problems",
        "bold red" if bad else "bold green",
    )


SHOW: dict[type, Callable[[Console, Any], None]] = {
    Opening: opening,
    ListReport: _list,
    ShowReport: _show,
    StatusReport: _status,
    NextReport: _next,
    InitReport: _init,
    BuildReport: _build,
    BreakReport: _break,
    ObserveReport: _observe,
    HintReport: _hint,
    FixReport: _fix,
    ResetReport: _reset,
    NotesReport: _notes,
    DoctorReport: _doctor,
    Step: _step,
    Asked: _asked,
    CheckReport: _check,
}
