"""Hypotheses about a blind break: where the bug is, what it is, how sure one is; scored at the reveal."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Mapping, Sequence

import msgspec

from engine.code.symbols import definitions
from engine.errors import Message, UsageError
from engine.flows.answers import Answer, checked_confidence, lowest, readable, typed_choice
from engine.observe.score import Scored
from engine.spec.catalogue import Catalogue
from engine.spec.texts import said
from engine.spec.types import Option
from engine.words import said as in_words

WHERE = Message("Where is the bug? A file of your code, a class or a function.")
WHAT = Message("What is wrong?")

Place = tuple[str, str]  # the path of a file, and `Class.method` in it or ""


class Diagnosis(msgspec.Struct, frozen=True):
    """What a learner takes for the bug: a place of their code, and a mechanism's id or own words, each with a
    confidence in percent.
    """

    where: str
    sure_where: int
    what: str
    sure_what: int


class Hypotheses(msgspec.Struct, frozen=True):
    """What is asked, "where" and "what": the mechanisms of the area in an order by lot, (id, text). `known`:
    what was said before.
    """

    exercise: str
    area: str
    options: tuple[tuple[str, str], ...]
    places: tuple[Place, ...]
    lang: str
    known: tuple[Answer, ...] = ()


class DiagnosisReport(msgspec.Struct, frozen=True):
    """`engine diagnose`: what was recorded; version 0 where something was left for later."""

    exercise: str
    where: str
    what: str
    version: int
    notes: str


def hypotheses(
    catalogue: Catalogue,
    id: str,
    name: str,
    places: Sequence[Place],
    lang: str,
    known: Sequence[Answer],
    lot: str,
) -> Hypotheses:
    """What is asked of the break `id`, which is called `name`. lot: what the order of the mechanisms is drawn
    by, so that one break keeps its order.
    """
    area = catalogue.areas[catalogue.story(id).area]
    options = [(one.id, said(one.text, lang)) for one in area.mechanisms]
    random.Random(lot).shuffle(options)
    return Hypotheses(
        name, said(area.title, lang), tuple(options), tuple(places), lang, tuple(known)
    )


def places_of(files: Mapping[str, bytes]) -> tuple[Place, ...]:
    """Every file, class and function of some code; of a file that cannot be parsed the file alone."""
    found: list[Place] = []
    for path, data in sorted(files.items()):
        if path.endswith(".py"):
            found.append((path, ""))
            try:
                found += [(path, name) for name in definitions(ast.parse(data))]
            except (SyntaxError, ValueError):
                continue
    return tuple(found)


def names(answer: str, place: Place) -> bool:
    """Whether an answer, `attention.py` or `nn.attention.MultiHeadAttention`, means this place or what it is
    in, in capitals or not.
    """
    path, symbol = place
    module = [part for part in re.split(r"[/.]", path.removesuffix(".py")) if part != "__init__"]
    whole = [part.casefold() for part in [*module, *filter(None, symbol.split("."))]]
    asked = [
        part
        for part in re.split(r"[\s/.:,]+|\(\)", answer.strip().casefold())
        if part not in ("", "py", "in")
    ]
    ends = range(len(module), len(whole) + 1)
    if len(asked) == 1 and "." in symbol:
        ends = range(len(module), len(module) + 2)  # a method's bare name is that of others, too
    return bool(asked) and any(
        whole[end - len(asked) : end] == asked for end in ends if end >= len(asked)
    )


def checked_place(answer: str, asked: Hypotheses) -> str:
    """A place as it was typed. Raises UsageError where the code has none of that name."""
    if any(names(answer, place) for place in asked.places):
        return readable(answer.strip())
    files = sorted({path for path, symbol in asked.places if not symbol})
    raise UsageError(
        Message("Your code has no file, class or function {answer!r}.", answer=answer.strip()),
        next=Message("Its files: {files}.", files=", ".join(files)),
    )


def checked_mechanism(answer: str, asked: Hypotheses) -> str:
    """The id of a mechanism that is named by its number, its text or its id, or else own words. Raises
    UsageError for an empty answer and a number that stands for none.
    """
    text = readable(answer.strip())
    if not text:
        raise UsageError(Message("A few words are needed here."))
    if text in dict(asked.options):
        return text
    try:
        return typed_choice(asked.options, text, "diagnosis.what")
    except UsageError:
        if text.rstrip(".").isdigit():
            raise
        return text


def answered(found: Diagnosis) -> tuple[Answer, Answer]:
    """A diagnosis as the answers that it is made of."""
    return (
        Answer("where", found.where, found.sure_where),
        Answer("what", found.what, found.sure_what),
    )


def whole(answers: Sequence[Answer]) -> Diagnosis | None:
    """Answers as a diagnosis; None where one of the two is missing."""
    found = {one.id: one for one in answers}
    if not {"where", "what"} <= found.keys():
        return None
    where, what = found["where"], found["what"]
    return Diagnosis(str(where.answer), where.confidence, str(what.answer), what.confidence)


def given(data: object, asked: Hypotheses, file: str) -> tuple[Answer, Answer]:
    """`diagnosis:` of an answer file: {where: {answer, confidence}, what: {answer, confidence}}. Raises
    UsageError.
    """
    parts = data if isinstance(data, dict) else {}
    for key in ("where", "what"):
        one = parts.get(key)
        if not isinstance(one, dict) or "answer" not in one or "confidence" not in one:
            raise UsageError(
                Message("No answer with a confidence for {key!r} of the diagnosis.", key=key),
                where=file,
                next=Message("diagnosis: {{{key}: {{answer: ..., confidence: 60}}}}", key=key),
            )
    where, what = parts["where"], parts["what"]
    return (
        Answer(
            "where",
            checked_place(str(where["answer"]), asked),
            checked_confidence(where["confidence"], file, 0),
        ),
        Answer(
            "what",
            checked_mechanism(str(what["answer"]), asked),
            checked_confidence(what["confidence"], file, lowest(asked.options)),
        ),
    )


def scored(
    found: Diagnosis | None,
    places: Sequence[Place],
    mechanism: str,
    options: Sequence[Option],
    lang: str,
) -> tuple[Scored, ...]:
    """The last diagnosis beside what the bug was; own words are left to the learner. places: what the bug
    changed. Nothing where nothing was said.
    """
    if found is None:
        return ()
    texts = {one.id: said(one.text, lang) for one in options}
    at = "; ".join(f"{path}: {symbol}" if symbol else path for path, symbol in places)
    right = any(names(found.where, place) for place in places)
    own = found.what not in texts
    return (
        Scored("where", in_words(WHERE, lang), found.where, at, found.sure_where, right),
        Scored(
            "what", in_words(WHAT, lang), texts.get(found.what, found.what), texts[mechanism],
            found.sure_what, None if own else found.what == mechanism,
        ),
    )  # fmt: skip
