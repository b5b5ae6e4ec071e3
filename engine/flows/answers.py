"""Answers of a learner: what they are, how a file holds them, and whether they are possible."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import Message, UsageError
from engine.spec.texts import said
from engine.spec.types import Cause, Prediction

LOWEST, HIGHEST = 50, 100  # confidence in percent: below one half one would say the opposite


class Answer(msgspec.Struct, frozen=True):
    """An answer with a confidence in percent."""

    id: str
    answer: str | float
    confidence: int


def checked(prediction: Prediction, raw: Any, confidence: Any) -> Answer:
    """An answer to a prediction. Raises UsageError that says what would fit."""
    where = f"prediction {prediction.id!r}"
    sure = checked_confidence(confidence, where)
    if prediction.kind == "number":
        try:
            number = float(raw)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if number != number or number in (float("inf"), float("-inf")):
            raise UsageError(Message("A number is needed here, not {raw!r}.", raw=raw), where=where)
        return Answer(prediction.id, number, sure)
    text = readable(str(raw).strip()) if raw is not None else ""
    if prediction.kind == "choice":
        return Answer(
            prediction.id, checked_choice([o.id for o in prediction.options], text, where), sure
        )
    if not text:
        raise UsageError(Message("A few words are needed here."), where=where)
    return Answer(prediction.id, text, sure)


def readable(text: str) -> str:
    """Text that a file can take, whatever bytes a terminal sent: what is no Unicode is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def checked_choice(ids: Sequence[str], text: str, where: str) -> str:
    """An option by its id or its number, from 1. Raises UsageError."""
    if text in ids:
        return text
    if text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= len(ids):
        return ids[int(text) - 1]
    raise UsageError(
        Message("{text!r} is none of the options: {ids}.", text=text, ids=", ".join(ids)),
        where=where,
    )


def checked_confidence(raw: Any, where: str) -> int:
    """A confidence from 50 to 100 (percent). Raises UsageError."""
    try:
        sure = float(str(raw).strip().rstrip("%"))
    except (ValueError, OverflowError):
        sure = float("nan")
    if not LOWEST <= sure <= HIGHEST:
        raise UsageError(
            Message(
                "A confidence lies between {lowest} (a coin toss) and {highest} (certain), "
                "not {raw!r}.",
                lowest=LOWEST,
                highest=HIGHEST,
                raw=raw,
            ),
            where=where,
        )
    return round(sure)


class AnswerFile:
    """`--answers FILE`: {predictions: {id: {answer, confidence}}, cause: {answer, confidence}}, or,
    for a build, {questions: {id: {answer, grade}}}.
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
                Message("The file must hold `predictions:`, `cause:` or `questions:`."),
                where=str(file),
            )
        self._data = data

    def predictions(self, asked: Sequence[Prediction]) -> list[Answer]:
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
            answers.append(checked(prediction, one["answer"], one["confidence"]))
        return answers

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
        return Answer("cause", choice, checked_confidence(one.get("confidence"), where))


def shown(prediction: Prediction, answer: str | float, lang: str) -> str:
    """An answer as a person wrote it: the option's text for a choice."""
    for option in prediction.options:
        if option.id == answer:
            return said(option.text, lang)
    if isinstance(answer, float):
        return f"{answer:g}" + (f" {prediction.unit}" if prediction.unit else "")
    return str(answer)
