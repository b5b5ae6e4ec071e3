"""Asks a person at the terminal; what does not fit is asked again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from engine.errors import UsageError
from engine.flows.answers import Answer, checked, checked_choice, checked_confidence
from engine.flows.questions import GRADES, Asked, Reply, acceptable
from engine.report.layout import columns, wrapped
from engine.report.out import reflowed, safe, tell
from engine.report.words import said as said_in
from engine.spec.texts import said
from engine.spec.types import Prediction

if TYPE_CHECKING:
    from engine.flows.predictions import Opening

T = TypeVar("T")
WORDS = {
    "en": ("Your answer", "How sure are you (50 to 100%)", "Before you look:"),
    "es": ("Tu respuesta", "Cuánto te fías (de 50 a 100%)", "Antes de mirar:"),
}
KEPT = {
    "en": "What you typed before is in brackets; Enter keeps it.",
    "es": "Entre corchetes está lo que ya escribiste; Intro lo conserva.",
}


def interactive() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def predictions(opening: Opening) -> Iterator[Answer]:
    """Show the exercise and ask every prediction, one after another."""
    from engine.report.text import show

    show(opening)
    known = {one.id: one for one in opening.known}
    _say(f"\n{WORDS.get(opening.lang, WORDS['en'])[2]}")
    if known:
        _say(KEPT.get(opening.lang, KEPT["en"]))
    for prediction in opening.predictions:
        yield _ask(prediction, opening.lang, known.get(prediction.id))


def _ask(prediction: Prediction, lang: str, known: Answer | None) -> Answer:
    answer, sure, _ = WORDS.get(lang, WORDS["en"])
    unit = f" [{prediction.unit}]" if prediction.unit else ""
    _say(f"\n{said(prediction.ask, lang)}{unit}")
    for number, option in enumerate(prediction.options, 1):
        _say(f"  {number}. {said(option.text, lang)}")
    before = ("", "")
    if known is not None:
        typed = f"{known.answer:g}" if isinstance(known.answer, float) else known.answer
        before = f" [{typed}]", f" [{known.confidence}]"
    given = _until(
        f"{answer}{before[0]}: ",
        lambda text: known.answer if known and not text else checked(prediction, text, 50).answer,
    )
    confidence = _until(
        f"{sure}{before[1]}: ",
        lambda text: (
            known.confidence if known and not text else checked_confidence(text, prediction.id)
        ),
    )
    return Answer(prediction.id, given, confidence)


def cause(question: str, options: Sequence[tuple[str, str]]) -> Answer | None:
    """The cause question, in the order it was drawn in."""
    _say(f"\n{question}")
    for number, (_, text) in enumerate(options, 1):
        _say(f"  {number}. {text}")
    ids = [id for id, _ in options]
    chosen = _until("1 to 4: ", lambda text: checked_choice(ids, text.strip(), "cause"))
    sure = _until("50 to 100%: ", lambda text: checked_confidence(text, "cause"))
    return Answer("cause", chosen, sure)


QUESTION = {
    "en": ("Your answer: ", "A model answer:", "Did you have it? (yes, partly, no): "),
    "es": ("Tu respuesta: ", "Una respuesta modelo:", "¿Lo tenías? (yes, partly, no): "),
}


def question(lang: str) -> Callable[[Asked], Reply | None]:
    """Asks the questions after a build; an empty line leaves one open."""
    prompt, model, grade = QUESTION.get(lang, QUESTION["en"])

    def ask(asked: Asked) -> Reply | None:
        unit = f" [{asked.unit}]" if asked.unit else ""
        _say(f"\n{asked.ask}{unit}")
        for number, (_, text) in enumerate(asked.options, 1):
            _say(f"  {number}. {text}")
        answer = _until(prompt, lambda text: acceptable(asked, text))
        if not answer:
            return None
        if asked.kind != "words":
            return Reply(answer)
        _say(f"\n{model} {asked.model_answer.strip()}")
        return Reply(answer, _until(grade, lambda text: checked_choice(GRADES, text, asked.id)))

    return ask


def _say(text: str) -> None:
    """Paragraphs of a question, wrapped at words to the terminal."""
    tell(reflowed(text), sys.stdout)


def _until(prompt: str, read: Callable[[str], T]) -> T:
    """What `read` makes of a line that is typed; asked again while that raises UsageError."""
    *before, last = wrapped(safe(prompt), columns(sys.stdout))
    while True:
        for line in before:
            print(line)
        try:
            text = input(f"{last} ")
        except EOFError:
            raise KeyboardInterrupt from None
        try:
            return read(text)
        except UsageError as error:
            _say(f"  {said_in(error.messages[0])}")
