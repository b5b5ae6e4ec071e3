"""Builds and fixes: one shape for every verdict, and the reveal.

The first cause in full, each further one in a line, what passed in one line, the count last. Written without
rich, which would take as long as half of a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from engine.judge.findings import UNWRITTEN, Finding, findings, own_frames, unrun
from engine.judge.result import FACT, Result
from engine.report.detail import everything, verbose
from engine.report.plain import code, place, say
from engine.report.reveal import reveal
from engine.report.words import said, words
from engine.spec.texts import said as in_language

if TYPE_CHECKING:
    from engine.flows.build_report import BuildReport
    from engine.flows.fix_report import FixReport
    from engine.judge.result import Verdict
    from engine.run.types import Frame

FRAMES = 3  # of an error, the innermost
LINES = 8  # causes that are told, unless all are asked for
INPUTS = 120  # characters of what a check was given
UNCOMPARED = ("raised", "stopped", "again", "inputs")  # kinds of difference that the head tells
COUNTED = 4  # facts that passed, from which on they are counted
PRINTED = 10  # lines of what the code printed


def build(report: BuildReport) -> None:
    view = View(report.lang, report.root, report.exercise, report.promises)
    view.verdict(report.verdict)
    _graded(report.verdict, report.graded)
    if not report.sandbox.complete:
        say(words("This kernel lacks Landlock or seccomp: the code was not walled off."), "yellow")
    if report.first and not report.passed:
        say(
            words(
                "Your code uses {builds}: not passed yet, and the place to look first.",
                builds=", ".join(report.first),
            ),
            "yellow",
        )
    if report.questions:
        from engine.report.pages import answered
        from engine.report.paper import console

        for one in report.questions:
            answered(console(), one)
    if not report.passed:
        say(words("`{next}` gives a hint.", next=report.next))
        return
    if report.open_questions:
        say(
            words(
                "Questions about it that are open: {count}. `engine submit-build {exercise}` asks them.",
                count=report.open_questions,
                exercise=report.exercise,
            )
        )
    say(words("Progress: {title} ✓", title=report.title), "green")
    say(words("Passed. Next: `engine next`"), "bold green")


def fix(report: FixReport) -> None:
    if verbose() or report.passed:
        say(words("Your diff"), "bold")
        code(report.diff or words("(nothing has changed yet)"))
        print()
    view = View(report.lang, report.root, report.component)
    view.verdict(report.verdict)
    _graded(report.verdict, report.graded)
    if not report.passed:
        for why in report.suspicious:
            say(words("Worth a thought: {why}", why=said(why)))
        say(
            words("Not fixed yet. `engine observe` measures again, `engine hint` helps."),
            "bold red",
        )
        return
    say(
        words("Fixed. (The old text, restored exactly.)") if report.restored else words("Fixed."),
        "bold green",
    )
    if report.reveal is not None:
        reveal(report.reveal)
        print()
        say(
            words(
                "Your notes are in {notes}; what it taught you, in your own words, is still to write.",
                notes=report.notes,
            )
        )


def _graded(verdict: Verdict, graded: Iterable[tuple[str, str]]) -> None:
    """What helps to repeat a verdict, for those who ask."""
    if verdict.unmeasured:
        say(
            words(
                "{count} more inputs were too large for some code (time, memory or stack) and decided"
                " nothing.",
                count=verdict.unmeasured,
            ),
            "dim",
        )
    if not verbose():
        return
    for path, digest in graded:
        say(words("graded {path} sha256 {digest}", path=path, digest=digest[:16]), "dim")
    say(
        words("{count} measurements, seed {seed}", count=verdict.measurements, seed=verdict.seed),
        "dim",
    )


class View:
    """A verdict in one language. root: the folder of the code that was judged, as one types it; component:
    the one that all is about, which need not be said. promises: sentences of the contract.
    """

    def __init__(
        self,
        lang: str,
        root: str,
        component: str,
        promises: Sequence[Mapping[str, str]] = (),
    ) -> None:
        self._lang, self._root, self._component, self._promises = lang, root, component, promises
        self._told: set[str] = set()  # patterns

    def verdict(self, verdict: Verdict) -> None:
        """All of it: the causes, what never ran, what passed, and the count."""
        required = verdict.required
        found = findings(required)
        for number, one in enumerate(found):
            if number == 0 or everything():
                self._in_full(one)
            elif number < LINES:
                self._in_a_line(one)
        if len(found) > LINES and not everything():
            say(words("and {count} more (--all tells each)", count=len(found) - LINES), "red")
        stopped = {one.place for one in found if one.place}
        for one in findings(verdict.advice):
            if one.place in stopped:
                continue  # it stops where what is required stops
            self._in_a_line(one, words("advice"), "yellow")
        waiting = [one for one in required if unrun(one)]
        if waiting:
            say(words("not run (stopped before): {checks}", checks=self._names(waiting)), "dim")
        written = [one for one in required if not one.unwritten]
        lacking = dict.fromkeys(one.component for one in required if one.unwritten)
        if any(lacking):  # a blind break names no component
            say(words("not built yet: {components}", components=", ".join(lacking)), "dim")
        passed = [one for one in written if one.passed]
        fine = [one for one in verdict.results if one.passed and not one.unwritten]
        if fine:
            say(words("ok: {checks}", checks=self._passed(fine)), "green")
        say(
            words("{passed} of {count} pass", passed=len(passed), count=len(written)),
            "bold",
        )

    def _passed(self, results: Sequence[Result]) -> str:
        """What passed; facts of a report that one has read are counted, unless all are asked for."""
        facts = [one for one in results if one.id.startswith(FACT)]
        if len(facts) < COUNTED or everything():
            return self._names(results)
        others = [self._names([one]) for one in results if not one.id.startswith(FACT)]
        counted = words("{count} facts of `engine check` (--all names them)", count=len(facts))
        return "; ".join([*others, counted])

    def _names(self, results: Iterable[Result]) -> str:
        return "; ".join(self._shows(one) for one in results)

    def _shows(self, result: Result) -> str:
        shows = in_language(result.shows, self._lang) or words("check {id}", id=result.id)
        same = result.component in ("", self._component)
        return shows if same else f"{result.component}: {shows}"

    def _in_full(self, one: Finding) -> None:
        result = one.result
        fail, says = words("FAIL"), said(one.says)
        if one.place:
            say(f"{fail} {self._place(one.place)}: {says}", "red")
            say(words("in the check: {shows}", shows=self._shows(result)), indent=5)
        else:
            say(f"{fail} {self._shows(result)}: {says}".rstrip(), "red")
        others = dict.fromkeys(frame for frame in own_frames(result) if frame != one.place)
        for frame in [*others][-FRAMES:]:
            code(f"{self._place(frame)}: {frame.text}", indent=5)
        if one.place:
            code(one.place.text, indent=5)
        if one.ran:
            say(words("the check ran: {text}", text=one.ran), indent=5)
        self._promise(one.lacks)
        if result.inputs and one.says != UNWRITTEN:
            regime = f" ({result.regime})" if verbose() else ""
            inputs = said(result.inputs)
            if len(inputs) > INPUTS and not everything():
                inputs = inputs[: INPUTS - 4] + " ..."
            say(words("with {inputs}", inputs=inputs) + regime, indent=5)
        self._told.add(said(result.pattern))
        _difference(result)
        _printed(result.output)
        if one.more:
            say(self._more(one), indent=5)

    def brief(self, one: Finding) -> str:
        """A cause in one line."""
        at = f" {self._place(one.place)}" if one.place else ""
        return f"{said(one.says) or _compared(one.result)}{at}"

    def _in_a_line(self, one: Finding, head: str = "", colour: str = "red") -> None:
        at = f" {self._place(one.place)}" if one.place else ""
        pattern = said(one.result.pattern)
        pattern = "" if pattern in self._told else pattern
        self._told.add(pattern)
        text = said(one.says) or f"{_compared(one.result)} {pattern}"
        more = f" {self._more(one)}" if one.more else ""
        shown = f"{self._shows(one.result)}: {text.strip()}{at}{more}"
        say(f"{head or words('FAIL')} {shown}", colour)

    def _more(self, one: Finding) -> str:
        count = len(one.more)
        if one.says == UNWRITTEN:
            return words("({count} more stop at what is not written yet)", count=count)
        if one.place is not None:
            return words("({count} more stop at the same line)", count=count)
        return words("({count} more for the same reason)", count=count)

    def _place(self, frame: Frame) -> str:
        at = place(self._root, frame.path, frame.line)
        inside = frame.function
        return words("{place} in {function}", place=at, function=inside) if inside else at

    def _promise(self, attribute: str) -> None:
        """What the contract says of an attribute that is missing."""
        for promise in self._promises:
            text = in_language(promise, self._lang)
            if attribute and f"`.{attribute}`" in text:
                say(words("The contract: {promise}", promise=text), indent=5)
                return


def _compared(result: Result) -> str:
    found = result.difference
    if found is None or found.aspect in UNCOMPARED:
        return ""
    if found.value and result.id.startswith(FACT):
        return words(
            "{name}: {got}; should be: {expected}.",
            name=said(found.value), got=said(found.got), expected=said(found.expected),
        )  # fmt: skip
    return words(
        "{name} is {got}, should be {expected}.",
        name=_named(result), got=said(found.got), expected=said(found.expected),
    )  # fmt: skip


def _named(result: Result) -> str:
    found = result.difference
    assert found is not None
    return said(found.value) + (str(list(found.index)) if found.index else "")


def _difference(result: Result) -> None:
    """What was expected, what came, and how often."""
    found = result.difference
    if found is None or found.aspect in UNCOMPARED:
        return  # the head says it
    say(_compared(result), indent=5)
    if found.total > 1:
        say(
            words(
                "{differing} of {total} values differ.",
                differing=found.differing,
                total=found.total,
            ),
            indent=5,
        )
    if result.pattern:
        say(said(result.pattern), indent=5)


def _printed(text: str) -> None:
    """What the code printed in that measurement: its end, as that is nearest to the error."""
    lines = text.splitlines()
    if not lines:
        return
    say(words("It printed:"), indent=5)
    if len(lines) > PRINTED:
        say(words("... ({count} lines before)", count=len(lines) - PRINTED), "dim", indent=7)
    code("\n".join(lines[-PRINTED:]), indent=7)
