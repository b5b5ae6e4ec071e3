"""What is asked after a build has passed: numbers drawn anew, choices, and words of one's own."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from engine.errors import Message, UsageError
from engine.flows import numbers
from engine.flows.answers import AnswerFile, checked_choice, readable, typed_choice
from engine.spec.texts import said
from engine.spec.types import Question, Range

GRADES = {  # as a learner may type them
    "yes": ("yes", "y", "sí", "si", "s"),
    "partly": ("partly", "p", "en parte", "parte"),
    "no": ("no", "n"),
}


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
    """A question with its answer. `right` is the learner's own judgement where they used words, which is
    `grade`. `shown`: the answer as they saw it, an option's text or what they typed.
    """

    id: str
    ask: str
    answer: str
    right: bool
    because: str
    shown: str = ""
    grade: str = ""


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
    values = {name: _drawn(chance, one) for name, one in question.given.items()}
    options = list(question.options)
    chance.shuffle(options)
    return Asked(
        question.id,
        question.kind,
        _with(said(question.ask, lang), values, lang),
        question.unit,
        tuple((option.id, said(option.text, lang)) for option in options),
        values,
        said(question.model_answer, lang),
    )


def _drawn(chance: random.Random, one: Range) -> int:
    return chance.randrange(one.low, one.high + 1, one.step)


def _with(text: str, values: Mapping[str, int | float], lang: str) -> str:
    for name, number in values.items():
        text = text.replace(f"{{{name}}}", numbers.written(number, lang))
    return text


def written(file: AnswerFile, questions: Sequence[Question], lang: str = "en") -> Ask:
    """Asks a file. Raises UsageError where it does not fit the questions, before any is asked."""
    known = {question.id: question for question in questions}
    found: dict[str, Reply] = {}
    for id, (answer, grade) in file.replies().items():
        if id not in known:
            raise UsageError(
                Message("There is no question {question!r}.", question=id),
                where=str(file.path),
                next=Message("There are: {known}.", known=", ".join(known) or "-"),
            )
        question, where = known[id], f"{file.path}, question {id!r}"
        ids = [option.id for option in question.options]
        if question.kind == "words":
            grade = checked_grade(grade, where)
        _check(question, ids, Reply(answer, grade), where)
        if question.kind == "choice":
            answer = checked_choice(ids, answer.strip(), where)  # a number counts as in the spec
        if question.kind == "number":
            largest = {name: one.high for name, one in question.given.items()}
            asked = _with(said(question.ask, lang), largest, lang)
            numbers.number_in(answer, _names(largest, asked, lang), where, lang)
        found[id] = Reply(answer, grade)
    return lambda asked: found.get(asked.id)


def _names(drawn: Mapping[str, int], ask: str, lang: str) -> dict[str, float]:
    """The names that an answer may use: those of the exercise, and those that the text gives."""
    return {
        **numbers.names_in({lang: ask}),
        **{name: float(number) for name, number in drawn.items()},
    }


def checked_grade(text: str, where: str) -> str:
    """yes, partly or no, typed in either language or as one letter. Raises UsageError."""
    for grade, typed in GRADES.items():
        if text.strip().casefold() in typed:
            return grade
    raise UsageError(Message("Type yes, partly or no."), where=where)


def _check(question: Question, ids: Sequence[str], reply: Reply, where: str) -> None:
    """Whether a reply is one at all. Raises UsageError."""
    if question.kind == "choice":
        checked_choice(ids, reply.answer.strip(), where)
    if question.kind == "words" and not reply.answer.strip():
        raise UsageError(Message("A few words are needed here."), where=where)
    if question.kind == "words" and reply.grade not in GRADES:
        raise UsageError(Message("Type yes, partly or no."), where=where)


def acceptable(asked: Asked, text: str, lang: str = "en") -> str:
    """An answer, as it is typed, that can be judged, or nothing. Raises UsageError that says what would
    fit.
    """
    text = text.strip()
    where = Message("question {question!r}", question=asked.id)
    if text and asked.kind == "choice":
        return typed_choice(asked.options, text, where)
    if text and asked.kind == "number":
        numbers.number_in(text, _names(asked.drawn, asked.ask, lang), where, lang)
    return text


def judged(question: Question, asked: Asked, reply: Reply, lang: str) -> Answered:
    """Whether a reply is right, and why. Raises UsageError where it is no answer at all."""
    where = Message("question {question!r}", question=question.id)
    ids = [id for id, _ in asked.options]
    _check(question, ids, reply, where)
    typed = readable(reply.answer.strip())
    if question.kind == "choice":
        chosen = checked_choice(ids, typed, where)
        because = next(said(o.because, lang) for o in question.options if o.id == chosen)
        right = chosen == question.right
        return Answered(question.id, asked.ask, chosen, right, because, dict(asked.options)[chosen])
    if question.kind == "words":
        right = reply.grade == "yes"
        return Answered(
            question.id, asked.ask, typed, right, asked.model_answer, typed, reply.grade
        )
    names = _names(asked.drawn, asked.ask, lang)
    expected = numbers.number_in(question.answer, names, where)
    got = numbers.number_in(typed, names, where, lang)
    right = abs(got - expected) <= question.within * max(abs(expected), 1e-12)
    because = _with(said(question.because, lang), {**asked.drawn, "answer": expected}, lang)
    value = numbers.written(got, lang)
    shown = typed if typed == value else f"{typed} = {value}"
    return Answered(question.id, asked.ask, typed, right, because, shown)
