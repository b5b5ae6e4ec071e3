"""Answers of a learner: what they are, how a file holds them, and whether they are possible."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import Message, UsageError
from engine.flows.numbers import localized, names_in, number_in
from engine.spec.texts import said
from engine.spec.types import Cause, Prediction

HIGHEST = 100  # confidence in percent


class Answer(msgspec.Struct, frozen=True):
    """An answer with a confidence in percent."""

    id: str
    answer: str | float
    confidence: int


def lowest(options: Sequence[object]) -> int:
    """The lowest confidence, in percent: that of somebody who guesses. One of five options is right by
    chance in 20%, a number or a text never.
    """
    return 100 // len(options) if options else 0


def checked(prediction: Prediction, raw: Any, confidence: Any, lang: str = "en") -> Answer:
    """An answer to a prediction. Raises UsageError that says what would fit."""
    where = Message("prediction {prediction!r}", prediction=prediction.id)
    sure = checked_confidence(confidence, where, lowest(prediction.options))
    return Answer(prediction.id, checked_answer(prediction, raw, lang), sure)


def checked_answer(prediction: Prediction, raw: Any, lang: str) -> str | float:
    """What is answered: an option's id, a number (given as such, or as a formula in the names of the
    question), or a text. Raises UsageError.
    """
    where = Message("prediction {prediction!r}", prediction=prediction.id)
    text = readable(str(raw).strip()) if raw is not None else ""
    if prediction.kind == "number":
        if isinstance(raw, bool) or not text:
            raise UsageError(Message("A number is needed here, not {raw!r}.", raw=raw), where=where)
        return number_in(text, names_in(prediction.ask), where, lang)
    if prediction.kind == "choice":
        return checked_choice([o.id for o in prediction.options], text, where)
    if not text:
        raise UsageError(Message("A few words are needed here."), where=where)
    return text


def readable(text: str) -> str:
    """Text that a file can take, whatever bytes a terminal sent: what is no Unicode is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def checked_choice(ids: Sequence[str], text: str, where: str) -> str:
    """An option by its id or its number, from 1, as a file has it. Raises UsageError."""
    if text in ids:
        return text
    number = _number_of(text, len(ids))
    if number is not None:
        return ids[number - 1]
    raise UsageError(
        Message(
            "{text!r} is none of the options: {ids} (or 1 to {count}).",
            text=text,
            ids=", ".join(ids),
            count=len(ids),
        ),
        where=where,
    )


def typed_choice(options: Sequence[tuple[str, str]], text: str, where: str) -> str:
    """An option as a person types it who sees (id, text) as numbered lines: the number, or the whole
    text. Raises UsageError.
    """
    number = _number_of(text.strip().rstrip("."), len(options))
    if number is not None:
        return options[number - 1][0]
    for id, shown in options:
        if text.strip().casefold() == shown.strip().casefold():
            return id
    raise UsageError(
        Message(
            "{text!r} is none of the options: type a number from 1 to {count}.",
            text=text.strip(),
            count=len(options),
        ),
        where=where,
    )


def _number_of(text: str, count: int) -> int | None:
    """A number from 1 to `count`."""
    if text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= count:
        return int(text)
    return None


def checked_confidence(raw: Any, where: str, low: int) -> int:
    """A confidence from `low` to 100 (percent). Raises UsageError."""
    try:
        sure = float(str(raw).strip().rstrip("%").rstrip().replace(",", "."))
    except (ValueError, OverflowError):
        sure = float("nan")
    if not low <= sure <= HIGHEST:
        raise UsageError(
            Message(
                "A confidence lies between {lowest} (a guess) and {highest} (certain), "
                "not {raw!r}.",
                lowest=low,
                highest=HIGHEST,
                raw=raw,
            ),
            where=where,
        )
    return round(sure)


KEYS = ("predictions", "diagnosis", "cause", "questions")


class AnswerFile:
    """`--answers FILE`: {predictions: {id: {answer, confidence}}, cause: {answer, confidence}}, of a blind
    break {diagnosis: {where: ..., what: ...}}, or, for a build, {questions: {id: {answer, grade}}}.
    """

    def __init__(self, source: bytes, file: Path) -> None:
        """source: the bytes of `file`. Raises SpecError, UsageError."""
        from engine.spec import (
            yaml,  # brings PyYAML, which those who are asked at a terminal do without
        )

        self.path = file
        data = yaml.read(source, str(file)).data
        if not isinstance(data, dict):
            raise UsageError(
                Message(
                    "The file must hold `predictions:`, `diagnosis:`, `cause:` or `questions:`."
                ),
                where=str(file),
            )
        unknown = [key for key in data if key not in KEYS]
        if unknown:
            raise UsageError(
                Message("The file holds {key!r}, which is none of its keys.", key=unknown[0]),
                where=str(file),
                next=Message("They are: {keys}.", keys=", ".join(KEYS)),
            )
        self._data = data

    def predictions(self, asked: Sequence[Prediction], lang: str = "en") -> list[Answer]:
        """One answer for each prediction. Raises UsageError for what is missing or unknown."""
        given = self._data.get("predictions")
        given = given if isinstance(given, dict) else {}
        unknown = set(given) - {prediction.id for prediction in asked}
        if unknown:
            raise UsageError(
                Message("There is no prediction {prediction!r}.", prediction=sorted(unknown)[0]),
                where=str(self.path),
                next=Message(
                    "There are: {asked}.", asked=", ".join(prediction.id for prediction in asked)
                ),
            )
        answers = []
        for prediction in asked:
            one = given.get(prediction.id)
            if not isinstance(one, dict) or "answer" not in one or "confidence" not in one:
                raise UsageError(
                    Message(
                        "No answer with a confidence for the prediction {prediction!r}.",
                        prediction=prediction.id,
                    ),
                    where=str(self.path),
                    next=Message(
                        "predictions: {{{prediction}: {{answer: ..., confidence: 70}}}}",
                        prediction=prediction.id,
                    ),
                )
            answers.append(checked(prediction, one["answer"], one["confidence"], lang))
        return answers

    @property
    def diagnosis(self) -> object:
        """What the file says of a blind break."""
        return self._data.get("diagnosis")

    def replies(self) -> dict[str, tuple[str, str]]:
        """Question after a build -> (answer, grade). Raises UsageError for what is no answer."""
        given = self._data.get("questions")
        found = {}
        for id, one in given.items() if isinstance(given, dict) else ():
            if not isinstance(one, dict) or "answer" not in one:
                raise UsageError(
                    Message("No answer to the question {question!r}.", question=id),
                    where=str(self.path),
                    next=Message("questions: {{{question}: {{answer: ...}}}}", question=id),
                )
            found[id] = str(one["answer"]), str(one.get("grade", ""))
        return found

    def cause(self, cause: Cause) -> Answer | None:
        """The answer to the cause question, None when the file has none."""
        one = self._data.get("cause")
        if not isinstance(one, dict):
            return None
        where = str(self.path)
        choice = checked_choice([o.id for o in cause.options], str(one.get("answer")), where)
        low = lowest(cause.options)
        return Answer("cause", choice, checked_confidence(one.get("confidence"), where, low))


def shown(prediction: Prediction, answer: str | float, lang: str) -> str:
    """An answer as a person wrote it: the option's text for a choice."""
    for option in prediction.options:
        if option.id == answer:
            return said(option.text, lang)
    if isinstance(answer, float):
        number = localized(f"{answer:g}", lang)
        return number + (f" {prediction.unit}" if prediction.unit else "")
    return str(answer)


def question_of(prediction: Prediction, lang: str) -> str:
    """What is asked, with the unit of a number and how far off it still counts as right."""
    parts = [prediction.unit] if prediction.unit else []
    if prediction.kind == "number":
        parts.append(f"± {localized(f'{prediction.tolerance or 0:g}', lang)}")
    return said(prediction.ask, lang) + (f" [{', '.join(parts)}]" if parts else "")
