"""Asks a person at the terminal; what does not fit is asked again. Options are typed by the numbers that
stand before them, and what was chosen is said once more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import UsageError
from engine.flows.answers import (
    Answer,
    checked_answer,
    checked_confidence,
    lowest,
    question_of,
    shown,
    typed_choice,
)
from engine.flows.questions import Asked, Reply, acceptable, checked_grade
from engine.report.layout import columns, wrapped
from engine.report.out import reflowed, safe, tell
from engine.report.words import said as worded
from engine.report.words import words
from engine.spec.texts import said
from engine.spec.types import Prediction

if TYPE_CHECKING:
    from engine.flows.diagnosis import Diagnosis, Hypotheses
    from engine.flows.predictions import Opening

T = TypeVar("T")


def interactive() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def pausing(tell: Callable[[Any], None], wanted: bool) -> Callable[[Any], None]:
    """Tells the steps of a demo; on a terminal each waits for Enter, where that is wanted."""
    from engine.flows.demo import Step

    def told(report: Any) -> None:
        if wanted and isinstance(report, Step) and report.command and interactive():
            try:
                input("\n" + words("[Enter goes on]") + " ")
            except EOFError:
                raise KeyboardInterrupt from None
        tell(report)

    return told


def predictions(opening: Opening) -> Iterator[Answer]:
    """Show the exercise and ask every prediction, one after another."""
    from engine.report.text import show

    show(opening)
    known = {one.id: one for one in opening.known}
    _say("\n" + words("Before you look:"))
    if known:
        _say(words("What you typed before is in brackets; Enter keeps it."))
    for prediction in opening.predictions:
        yield _ask(prediction, opening.lang, known.get(prediction.id))


def _ask(prediction: Prediction, lang: str, known: Answer | None) -> Answer:
    _say(f"\n{question_of(prediction, lang)}")
    options = [(option.id, said(option.text, lang)) for option in prediction.options]
    before = ""
    if known is not None:
        ids = [id for id, _ in options]
        number = ids.index(str(known.answer)) + 1 if known.answer in ids else None
        before = f" [{number or shown(prediction, known.answer, lang)}]"

    def read(text: str) -> str | float:
        if known is not None and not text:
            return known.answer
        if options:
            return typed_choice(options, text, prediction.id)
        return checked_answer(prediction, text, lang)

    given, typed = _until(_prompt(options, before), read)
    _echo(shown(prediction, given, lang), typed)
    sure = _confidence(prediction.id, options, lang, known.confidence if known else None)
    return Answer(prediction.id, given, sure)


def _confidence(
    id: str, options: Sequence[tuple[str, str]], lang: str, known: int | None = None
) -> int:
    low = lowest(options)
    prompt = words("How sure are you ({low} to 100%; {low} is a guess)", low=low)

    def read(text: str) -> int:
        return known if known is not None and not text else checked_confidence(text, id, low)

    return _until(prompt + (f" [{known}]:" if known is not None else ":"), read)[0]


def _prompt(options: Sequence[tuple[str, str]], before: str = "", asked: str = "") -> str:
    """ "Your answer (1 to 4) [2]:", below the options. asked: other words for it."""
    for number, (_, text) in enumerate(options, 1):
        _say(f"  {number}. {text}")
    answer = words("Your answer")
    if options:
        answer = words("Your answer (1 to {count})", count=len(options))
    return f"{asked or answer}{before}:"


def diagnosis(asked: Hypotheses) -> Diagnosis:
    """Asks where the bug of a blind break is and what it is; Enter keeps what was said before."""
    from engine.flows.diagnosis import WHERE, Diagnosis, checked_mechanism, checked_place

    known, texts = asked.known, dict(asked.options)
    if known:
        _say(words("What you said before is in brackets; Enter keeps it."))

    def place(text: str) -> str:
        return known.where if known and not text else checked_place(text, asked)

    def mechanism(text: str) -> str:
        return known.what if known and not text else checked_mechanism(text, asked)

    _say(f"\n{worded(WHERE)}")
    where, _ = _until(_prompt((), f" [{known.where}]" if known else ""), place)
    sure_where = _confidence("where", (), asked.lang, known.sure_where if known else None)
    _say("\n" + words("What is wrong? These things go wrong here ({area}):", area=asked.area))
    before = f" [{texts.get(known.what, known.what)}]" if known else ""
    prompt = _prompt(asked.options, before, words("A number, or your own words"))
    what, typed = _until(prompt, mechanism)
    _echo(texts.get(what, what), typed)
    sure_what = _confidence("what", asked.options, asked.lang, known.sure_what if known else None)
    return Diagnosis(where, sure_where, what, sure_what)


def cause(lang: str) -> Callable[[str, Sequence[tuple[str, str]]], Answer]:
    """Asks for the cause of a bug that is mended, its options in the order that they were drawn in."""

    def ask(question: str, options: Sequence[tuple[str, str]]) -> Answer:
        _say("\n" + words("Your fix is right. One question before you read why:"))
        _say(f"\n{question}")
        chosen, _ = _until(_prompt(options), lambda text: typed_choice(options, text, "cause"))
        _echo(dict(options)[chosen])
        return Answer("cause", chosen, _confidence("cause", options, lang))

    return ask


def question(lang: str) -> Callable[[Asked], Reply | None]:
    """Asks the questions after a build that passed; an empty line leaves one open."""
    begun = False

    def ask(asked: Asked) -> Reply | None:
        nonlocal begun
        if not begun:
            _say("\n" + words("It passes. What did you understand? Enter leaves a question open."))
            begun = True
        unit = f" [{asked.unit}]" if asked.unit else ""
        _say(f"\n{asked.ask}{unit}")
        prompt = _prompt(asked.options)
        answer, _ = _until(prompt, lambda text: acceptable(asked, text, lang))
        if not answer:
            return None
        if asked.kind == "choice":
            _echo(dict(asked.options)[answer])
        if asked.kind != "words":
            return Reply(answer)
        model = words("A model answer: {answer}", answer=asked.model_answer.strip())
        _say("\n" + model)
        grade, _ = _until(
            words("Did you have it? (yes, partly, no)") + ":",
            lambda text: checked_grade(text, asked.id),
        )
        return Reply(answer, grade)

    return ask


def _say(text: str) -> None:
    """Paragraphs of a question, wrapped at words to the terminal."""
    tell(reflowed(text), sys.stdout)


def _echo(chosen: str, typed: str = "") -> None:
    """What was understood, where it is not what was typed."""
    if chosen != typed:
        _say(f"  = {chosen}")


def _until(prompt: str, read: Callable[[str], T]) -> tuple[T, str]:
    """What `read` makes of a line that is typed, and the line; asked again while `read` raises
    UsageError.
    """
    *before, last = wrapped(safe(prompt), columns(sys.stdout))
    while True:
        for line in before:
            print(line)
        try:
            text = input(f"{last} ")
        except EOFError:
            raise KeyboardInterrupt from None
        try:
            return read(text), text.strip()
        except UsageError as error:
            _say(f"  {worded(error.messages[0])}")
