"""What is asked after a build has passed: numbers drawn anew, choices, and words of one's own."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from engine.commands.answers import checked_choice, readable
from engine.commands.session import Session
from engine.errors import UsageError
from engine.practice import notes
from engine.practice.entries import words
from engine.practice.store import Attempt
from engine.spec.types import Question, Range

GRADES = ("yes", "partly", "no")


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


def still_open(questions: Sequence[Question], attempt: Attempt | None) -> list[Question]:
    """Those that have not been answered right yet."""
    done = (
        {data["question"] for data in attempt.all("answered") if data["right"]} if attempt else ()
    )
    return [question for question in questions if question.id not in done]


def ask_all(session: Session, id: str, number: int, ask: Ask) -> tuple[Answered, ...]:
    """Ask what is open, record each answer, explain the wrong ones. Stops where nobody answers."""
    found = []
    for question in still_open(session.catalogue.build(id).questions, session.latest(id)):
        asked = drawn(session, question)
        reply = ask(asked)
        if reply is None:
            continue
        one = judged(session, question, asked, reply)
        data = {
            "question": question.id, "kind": question.kind, "drawn": asked.drawn,
            "answer": reply.answer, "grade": reply.grade, "right": one.right,
        }  # fmt: skip
        session.store.append(id, number, "answered", data)
        if question.kind == "words":
            _note(session, id, number, asked, reply)
        found.append(one)
    return tuple(found)


def drawn(session: Session, question: Question) -> Asked:
    """A question with fresh numbers, from the operating system's randomness."""
    chance = random.SystemRandom()
    numbers = {name: _drawn(chance, one) for name, one in question.given.items()}
    options = list(question.options)
    chance.shuffle(options)
    return Asked(
        question.id,
        question.kind,
        _with(session.text(question.ask), numbers),
        question.unit,
        tuple((option.id, session.text(option.text)) for option in options),
        numbers,
        session.text(question.model_answer),
    )


def _drawn(chance: random.SystemRandom, one: Range) -> int:
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


def acceptable(asked: Asked, text: str) -> str:
    """An answer that can be judged, or nothing. Raises UsageError that says what would fit."""
    text = text.strip()
    where = f"question {asked.id!r}"
    if text and asked.kind == "choice":
        return checked_choice([id for id, _ in asked.options], text, where)
    if text and asked.kind == "number":
        _number(text, {name: float(number) for name, number in asked.drawn.items()}, where)
    return text


def _number(text: str, names: Mapping[str, Any], where: str) -> float:
    from engine.observe.arithmetic import evaluate  # numpy: only where something is computed

    try:
        return evaluate(text.replace(",", "").replace("_", "").replace("^", "**"), names)
    except ValueError as error:
        raise UsageError(f"A number or a formula is needed here: {error}.", where=where) from None


def judged(session: Session, question: Question, asked: Asked, reply: Reply) -> Answered:
    """Whether a reply is right, and why. Raises UsageError where it is no answer at all."""
    where = f"question {question.id!r}"
    if question.kind == "choice":
        chosen = checked_choice([id for id, _ in asked.options], reply.answer.strip(), where)
        because = next(session.text(o.because) for o in question.options if o.id == chosen)
        return Answered(question.id, asked.ask, chosen, chosen == question.right, because)
    if question.kind == "words":
        if not reply.answer.strip():
            raise UsageError("A few words are needed here.", where=where)
        if reply.grade not in GRADES:
            raise UsageError(f"The grade is one of {', '.join(GRADES)}.", where=where)
        text = readable(reply.answer.strip())
        return Answered(question.id, asked.ask, text, reply.grade == "yes", asked.model_answer)
    names: dict[str, Any] = {name: float(number) for name, number in asked.drawn.items()}
    expected = _number(question.answer, names, where)
    got = _number(reply.answer, names, where)
    right = abs(got - expected) <= question.within * max(abs(expected), 1e-12)
    because = _with(session.text(question.because), {**asked.drawn, "answer": expected})
    return Answered(question.id, asked.ask, reply.answer.strip(), right, because)


def _note(session: Session, id: str, number: int, asked: Asked, reply: Reply) -> None:
    """What was said in one's own words is kept, with the model answer beside it."""
    phrases = words(session.learner.lang)
    file = session.learner.notes(session.catalogue.entry(id).phase_number).with_name("builds.md")
    text = (
        f"**{asked.ask}**\n\n{readable(reply.answer.strip())}\n\n"
        f"> {asked.model_answer.strip()}\n\n{phrases['graded'].format(phrases[reply.grade])}"
    )
    notes.add(file, id, number, text, head=f"## {session.text(session.catalogue.build(id).title)}")
