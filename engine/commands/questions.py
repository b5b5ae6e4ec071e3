"""What is asked after a build has passed: each answer is recorded, and explained where it is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.commands.session import Session
from engine.flows import questions as flow
from engine.flows.answers import readable
from engine.flows.chance import chance
from engine.flows.questions import Answered, Ask, Asked, Reply
from engine.learner import entries, notes
from engine.learner.store import Attempt, alone
from engine.spec.types import Question


def still_open(questions: Sequence[Question], attempt: Attempt | None) -> list[Question]:
    """Those that have not been answered right yet."""
    return flow.unanswered(questions, attempt.answered if attempt else ())


def ask_all(session: Session, id: str, number: int, ask: Ask) -> tuple[Answered, ...]:
    """Ask what is open, record each answer, explain the wrong ones. What nobody answers stays open.

    The learner's folder is held only while an answer is recorded, not while somebody thinks.
    """
    lang, lots = session.learner.lang, chance()
    found = []
    for question in still_open(session.catalogue.assignment(id).questions, session.latest(id)):
        if question.kind == "words":
            notes.check(_file(session, id))
        asked = flow.drawn(question, lang, lots)
        reply = ask(asked)
        if reply is None:
            continue
        one = flow.judged(question, asked, reply, lang)
        data = {
            "question": question.id, "kind": question.kind, "drawn": asked.drawn,
            "answer": reply.answer, "grade": reply.grade, "right": one.right,
        }  # fmt: skip
        with alone(session.learner.private):
            session.store.append(id, number, "answered", data)
            if question.kind == "words":
                _note(session, id, number, asked, reply)
        found.append(one)
    return tuple(found)


def _note(session: Session, id: str, number: int, asked: Asked, reply: Reply) -> None:
    """What was said in one's own words is kept, with the model answer beside it."""
    model = "\n".join(f"> {line}".rstrip() for line in asked.model_answer.strip().split("\n"))
    text = (
        f"**{asked.ask}**\n\n{readable(reply.answer.strip())}\n\n"
        f"{model}\n\n{entries.graded(reply.grade, session.learner.lang)}"
    )
    head = f"## {session.text(session.catalogue.assignment(id).title)}"
    notes.add(_file(session, id), id, number, text, head=head)


def _file(session: Session, id: str) -> Path:
    """The notes on the builds of a phase, beside those on its breaks."""
    return session.learner.notes(session.catalogue.entry(id).phase_number).with_name("builds.md")
