"""Asks a person at the terminal; what does not fit is asked again. Options are typed by the numbers that
stand before them, and what was chosen is said once more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import Message, NotApplicable, UsageError
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
    from engine.flows.diagnosis import Hypotheses
    from engine.flows.predictions import Opening

T = TypeVar("T")


class Later(Exception):
    """An empty line, where nothing was said before that it could keep."""


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
    """Show the exercise and ask every prediction, one after another, until one is left for later."""
    from engine.report.text import show

    show(opening)
    known = {one.id: one for one in opening.known}
    _say("\n" + words("Before you look (Enter leaves it for later):"))
    if known:
        _say(words("What you typed before is in brackets; Enter keeps it."))
    with suppress(Later):
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
        if options:
            return typed_choice(options, text, prediction.id)
        return checked_answer(prediction, text, lang)

    given: str | float
    given, typed = _or_later(_prompt(options, before), read, known.answer if known else None)
    _echo(shown(prediction, given, lang), typed)
    return Answer(prediction.id, given, _confidence(prediction.id, options, known))


def _confidence(id: str, options: Sequence[tuple[str, str]], known: Answer | None = None) -> int:
    low = lowest(options)
    prompt = words("How sure are you ({low} to 100%; {low} is a guess)", low=low)
    before, kept = (f" [{known.confidence}]:", known.confidence) if known else (":", None)
    return _or_later(prompt + before, lambda text: checked_confidence(text, id, low), kept)[0]


def _prompt(options: Sequence[tuple[str, str]], before: str = "", asked: str = "") -> str:
    """ "Your answer (1 to 4) [2]:", below the options. asked: other words for it."""
    for number, (_, text) in enumerate(options, 1):
        _say(f"  {number}. {text}")
    answer = words("Your answer")
    if options:
        answer = words("Your answer (1 to {count})", count=len(options))
    return f"{asked or answer}{before}:"


def diagnosis(asked: Hypotheses) -> Iterator[Answer]:
    """Asks where the bug of a blind break is, then what it is, until one is left for later."""
    known = {one.id: one for one in asked.known}
    place, mechanism = known.get("where"), known.get("what")
    if place is None or mechanism is None:
        _say("\n" + words("Enter leaves it for later: `engine diagnose` asks again."))
    if known:
        _say(words("What you said before is in brackets; Enter keeps it."))
    with suppress(Later):
        yield _place(asked, place)
        yield _mechanism(asked, mechanism)


def _place(asked: Hypotheses, known: Answer | None) -> Answer:
    from engine.flows.diagnosis import WHERE, checked_place

    _say(f"\n{worded(WHERE)}")
    before, kept = (f" [{known.answer}]", str(known.answer)) if known else ("", None)
    where, _ = _or_later(_prompt((), before), lambda text: checked_place(text, asked), kept)
    return Answer("where", where, _confidence("where", (), known))


def _mechanism(asked: Hypotheses, known: Answer | None) -> Answer:
    from engine.flows.diagnosis import checked_mechanism

    texts, kept = dict(asked.options), str(known.answer) if known else None
    _say("\n" + words("What is wrong? These things go wrong here ({area}):", area=asked.area))
    before = f" [{texts.get(kept, kept)}]" if kept else ""
    prompt = _prompt(asked.options, before, words("A number, or your own words"))
    what, typed = _or_later(prompt, lambda text: checked_mechanism(text, asked), kept)
    _echo(texts.get(what, what), typed)
    return Answer("what", what, _confidence("what", asked.options, known))


def cause(question: str, options: Sequence[tuple[str, str]]) -> Answer:
    """Asks for the cause of a bug that is mended, its options in the order that they were drawn in. Raises
    NotApplicable where it is left for later.
    """
    head = words("Your fix is right. One question before you read why (Enter leaves it for later):")
    _say(f"\n{head}")
    _say(f"\n{question}")
    try:
        chosen, _ = _or_later(_prompt(options), lambda text: typed_choice(options, text, "cause"))
        _echo(dict(options)[chosen])
        return Answer("cause", chosen, _confidence("cause", options))
    except Later:
        raise NotApplicable(
            Message("Your fix is right; the break stays open until the question is answered."),
            next="engine submit-fix",
        ) from None


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


def _or_later(prompt: str, read: Callable[[str], T], kept: T | None = None) -> tuple[T, str]:
    """The same as `_until`, but that an empty line is `kept`. Raises Later where there is nothing to keep."""

    def either(text: str) -> T:
        if text.strip():
            return read(text)
        if kept is None:
            raise Later
        return kept

    return _until(prompt, either)


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
