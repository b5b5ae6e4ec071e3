"""What is asked after a build has passed: numbers drawn anew, choices, and words of one's own."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from engine.errors import Message, UsageError
from engine.flows.answers import AnswerFile, checked_choice, readable
from engine.spec.texts import said
from engine.spec.types import Question, Range

GRADES = ("yes", "partly", "no")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")  # 12,288,000, not 12,5


class Asked(msgspec.Struct, frozen=True):
    """A question as one learner sees it: numbers drawn, options in an order of their own."""

    id: str
    kind: str
    ask: str
    unit: str
    options: tuple[tuple[str, str], ...]
    drawn: dict[str, int]
    model_answer: str


class Reply(msgspec.Struct, frozen=True):
    """What a learner answered. `grade`: their own, for words."""

    answer: str
    grade: str = ""


class Answered(msgspec.Struct, frozen=True):
    """A question with its answer. `right` is the learner's own judgement where they used words."""

    id: str
    ask: str
    answer: str
    right: bool
    because: str


Ask = Callable[[Asked], Reply | None]


def nobody(_: Asked) -> Reply | None:
    """Nobody is there to be asked."""
    return None


def slips(question: Question) -> Iterator[str]:
    """What is wrong with a question, as an author wrote it."""
    from engine.observe.arithmetic import evaluate

    for name in _unknown(question):
        yield f"a text names {{{name}}}, which is not drawn"
    if question.kind == "number":
        ends = [{k: float(r.low) for k, r in question.given.items()}]
        ends += [{k: float(r.high) for k, r in question.given.items()}]
        for names in ends:
            try:
                evaluate(question.answer, names)
            except ValueError as error:
                yield f"{error}"
        for name, one in question.given.items():
            if one.low > one.high:
                yield f"the range of {name} is empty"
        if not question.because:
            yield "it does not say why (`because`)"
    if question.kind == "choice":
        if question.right not in [option.id for option in question.options]:
            yield f"`right` is {question.right!r}, which is none of its options"
        yield from (
            f"option {option.id!r} does not say why (`because`)"
            for option in question.options
            if not option.because
        )
    if question.kind == "words" and not question.model_answer:
        yield "it has no `model_answer`"


def _unknown(question: Question) -> list[str]:
    """Placeholders in its texts that nothing fills. A figure has been filled in before."""
    filled = {*question.given, *(("answer",) if question.kind == "number" else ())}
    texts = [*question.ask.values(), *question.because.values()]
    named = {name for text in texts for name in re.findall(r"\{(\w+)\}", text)}
    return sorted(named - filled)


def unanswered(questions: Sequence[Question], done: Collection[str]) -> list[Question]:
    """Those that have not been answered right yet. done: the ids of those that have."""
    return [question for question in questions if question.id not in done]


def drawn(question: Question, lang: str, chance: random.Random) -> Asked:
    """A question with fresh numbers."""
    numbers = {name: _drawn(chance, one) for name, one in question.given.items()}
    options = list(question.options)
    chance.shuffle(options)
    return Asked(
        question.id,
        question.kind,
        _with(said(question.ask, lang), numbers),
        question.unit,
        tuple((option.id, said(option.text, lang)) for option in options),
        numbers,
        said(question.model_answer, lang),
    )


def _drawn(chance: random.Random, one: Range) -> int:
    return chance.randrange(one.low, one.high + 1, one.step)


def _with(text: str, numbers: Mapping[str, int | float]) -> str:
    for name, number in numbers.items():
        text = text.replace(f"{{{name}}}", _written(number))
    return text


def _written(number: float) -> str:
    """With thousands apart from 10,000 on; four digits where it is no whole number."""
    if number == int(number):
        return f"{int(number):,}" if abs(number) >= 10_000 else f"{int(number)}"
    return f"{number:.4g}"


def written(file: AnswerFile, questions: Sequence[Question]) -> Ask:
    """Asks a file. Raises UsageError where it does not fit the questions, before any is asked."""
    known = {question.id: question for question in questions}
    found: dict[str, Reply] = {}
    for id, (answer, grade) in file.replies().items():
        if id not in known:
            raise UsageError(
                Message("There is no question {question!r}.", question=id),
                where=str(file.path),
                next=Message("There are: {known}.", known=", ".join(known) or "none"),
            )
        question, where = known[id], f"{file.path}, question {id!r}"
        ids = [option.id for option in question.options]
        _check(question, ids, Reply(answer, grade), where)
        if question.kind == "choice":
            answer = checked_choice(ids, answer.strip(), where)  # a number counts as in the spec
        if question.kind == "number":
            number_in(
                answer, {name: float(one.high) for name, one in question.given.items()}, where
            )
        found[id] = Reply(answer, grade)
    return lambda asked: found.get(asked.id)


def _check(question: Question, ids: Sequence[str], reply: Reply, where: str) -> None:
    """Whether a reply is one at all. Raises UsageError."""
    if question.kind == "choice":
        checked_choice(ids, reply.answer.strip(), where)
    if question.kind == "words" and not reply.answer.strip():
        raise UsageError(Message("A few words are needed here."), where=where)
    if question.kind == "words" and reply.grade not in GRADES:
        raise UsageError(
            Message("The grade is one of {grades}.", grades=", ".join(GRADES)), where=where
        )


def acceptable(asked: Asked, text: str) -> str:
    """An answer that can be judged, or nothing. Raises UsageError that says what would fit."""
    text = text.strip()
    where = f"question {asked.id!r}"
    if text and asked.kind == "choice":
        return checked_choice([id for id, _ in asked.options], text, where)
    if text and asked.kind == "number":
        number_in(text, {name: float(number) for name, number in asked.drawn.items()}, where)
    return text


def number_in(text: str, names: Mapping[str, Any], where: str) -> float:
    """What a number, or a formula over `names`, comes to. Raises UsageError."""
    from engine.observe.arithmetic import evaluate  # numpy: only where something is computed

    try:
        return evaluate(THOUSANDS.sub("", text).replace("^", "**"), names)
    except ValueError as error:
        raise UsageError(
            Message("A number or a formula is needed here: {error}.", error=error), where=where
        ) from None


def judged(question: Question, asked: Asked, reply: Reply, lang: str) -> Answered:
    """Whether a reply is right, and why. Raises UsageError where it is no answer at all."""
    where = f"question {question.id!r}"
    ids = [id for id, _ in asked.options]
    _check(question, ids, reply, where)
    if question.kind == "choice":
        chosen = checked_choice(ids, reply.answer.strip(), where)
        because = next(said(o.because, lang) for o in question.options if o.id == chosen)
        return Answered(question.id, asked.ask, chosen, chosen == question.right, because)
    if question.kind == "words":
        text = readable(reply.answer.strip())
        return Answered(question.id, asked.ask, text, reply.grade == "yes", asked.model_answer)
    names: dict[str, Any] = {name: float(number) for name, number in asked.drawn.items()}
    expected = number_in(question.answer, names, where)
    got = number_in(reply.answer, names, where)
    right = abs(got - expected) <= question.within * max(abs(expected), 1e-12)
    because = _with(said(question.because, lang), {**asked.drawn, "answer": expected})
    return Answered(question.id, asked.ask, reply.answer.strip(), right, because)
