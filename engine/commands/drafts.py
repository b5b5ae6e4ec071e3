"""`engine break --editor`: the questions go into the notes, and the learner's editor opens on them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from datetime import datetime

from engine.commands.predict import notes_head
from engine.commands.session import Session
from engine.errors import Message, UsageError
from engine.flows.answers import Answer, checked, question_of
from engine.flows.predictions import Opening
from engine.learner import entries, notes
from engine.learner.store import coming
from engine.spec.texts import said
from engine.spec.types import Prediction


def predictions(session: Session, opening: Opening) -> list[Answer]:
    """Write the questions into the notes, wait for the editor, read the answers back.

    What was written stays in the notes, whether it fits or not. Raises UsageError.
    """
    entry = session.catalogue.entry(opening.exercise)
    file = session.learner.notes(entry.phase_number)
    number = coming(session.latest(opening.exercise))
    if notes.start_mark(opening.exercise, number).encode() not in notes.read(file):
        notes.add(
            file, opening.exercise, number, _form(opening),
            head=entries.heading(datetime.now().astimezone().date().isoformat(), opening.title),
            top=notes_head(session.catalogue.syllabus.template, opening.lang),
        )  # fmt: skip
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError(
            Message("Neither VISUAL nor EDITOR is set."),
            where=Message("the questions are in {file}", file=file),
            next="EDITOR=nano engine break --editor " + opening.exercise,
        )
    try:
        subprocess.run([*shlex.split(editor), str(file)], check=True)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise UsageError(
            Message("The editor {editor!r} did not end well: {error}.", editor=editor, error=error)
        ) from None
    return _answers(notes.read(file).decode("utf-8", "replace"), opening, number, str(file))


def _form(opening: Opening) -> str:
    parts = [entries.asked(opening.lang), opening.text.strip()]
    for position, prediction in enumerate(opening.predictions, 1):
        lines = [f"{position}. {question_of(prediction, opening.lang)}"]
        lines += [
            f"   - {number}. {said(o.text, opening.lang)}"
            for number, o in enumerate(prediction.options, 1)
        ]
        lines += [f"   <!-- prediction: {prediction.id} -->", "   answer:", "   confidence:"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _answers(text: str, opening: Opening, number: int, file: str) -> list[Answer]:
    start = text.find(notes.start_mark(opening.exercise, number))
    end = text.find(notes.end_mark(opening.exercise, number), max(0, start))
    block = text[max(0, start) : end if end >= 0 else len(text)]
    answers = []
    for prediction in opening.predictions:
        _, mark, rest = block.partition(f"<!-- prediction: {prediction.id} -->")
        found = re.match(r"\s*answer:[ \t]*(.*?)\s*\n\s*confidence:[ \t]*(.*)", rest)
        if not mark or not found:
            raise UsageError(
                Message(
                    "The answer to {prediction!r} was not found in the notes.",
                    prediction=prediction.id,
                ),
                where=file,
                next=Message("Keep the lines `answer:` and `confidence:` below each question."),
            )
        answers.append(_read(prediction, found[1].strip(), found[2].strip(), opening.lang, file))
    return answers


def _read(prediction: Prediction, answer: str, sure: str, lang: str, file: str) -> Answer:
    """One answer. Raises UsageError that says how to go on."""
    try:
        return checked(prediction, answer, sure, lang)
    except UsageError as error:
        raise UsageError(
            error.messages[0],
            where=Message("{file}, prediction {prediction!r}", file=file, prediction=prediction.id),
            next=Message("Your answers are kept: the same command opens the file again."),
        ) from None
