"""The predictions of a break: asked, kept as they are typed, recorded, and written into the notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.flows.answers import Answer, shown
from engine.flows.pipeline import pipeline_source
from engine.flows.predictions import Opening, all_answered, still_fitting
from engine.learner import entries, notes
from engine.learner.store import Attempt, alone, coming, opened
from engine.spec.packs import content_root
from engine.spec.types import Prediction

Ask = Callable[[Opening], Iterable[Answer]]  # a sequence, or one after another as they are typed


def check_none_open(session: Session) -> None:
    """Raise NotApplicable where a break is open already."""
    current = opened(session.attempts())
    if current is not None:
        raise NotApplicable(
            Message("{exercise} is still open.", exercise=current.name),
            where=str(session.learner.practice(current.name)),
            next=Message(
                "Finish it with `engine submit-fix`, or put it aside with `engine reset`."
            ),
        )


def predictions(session: Session, id: str, ask: Ask) -> tuple[int, list[Answer]]:
    """The attempt that begins, and its answers; a run that was cut off after the questions goes on with
    those it got.
    """
    learner, catalogue = session.learner, session.catalogue
    entry, spec = catalogue.entry(id), catalogue.story(id)
    file = learner.notes(entry.phase_number)
    answers = _unused(session.latest(id), spec.predictions)
    if answers is None:
        answers = _asked(session, id, coming(session.latest(id)), ask)
        if len(answers) < len(spec.predictions):
            raise NotApplicable(
                Message("Nothing is broken yet; your answers so far are kept."),
                next=f"engine break {id}",
            )
    with alone(
        learner.private
    ):  # the event and the notes at once: another engine may be asking too
        check_none_open(session)
        latest = session.latest(id)
        known = _unused(latest, spec.predictions)
        if latest is not None and known is not None:
            number, answers, date = latest.number, known, latest.events[0].at[:10]
            if notes.start_mark(id, number).encode() in notes.read(file):
                return number, answers
        else:
            number = coming(latest)
            data = {"answers": [msgspec.to_builtins(answer) for answer in answers]}
            date = session.store.append(id, number, "predicted", data).at[:10]
        lines = [
            (session.text(p.ask), shown(p, a.answer, learner.lang), a.confidence)
            for p, a in zip(spec.predictions, answers, strict=True)
        ]
        notes.add(
            file, id, number, entries.predictions(lines, learner.lang),
            head=entries.heading(date, session.title(id)),
            top=notes_head(catalogue.syllabus.template, learner.lang),
        )  # fmt: skip
    return number, answers


def _asked(session: Session, id: str, number: int, ask: Ask) -> list[Answer]:
    """All answers, or those before one was left for later."""
    latest = session.latest(id)
    drafts = latest.all("drafted") if latest is not None and latest.state == "new" else []
    asked = session.catalogue.story(id).predictions
    known = still_fitting([draft["answer"] for draft in drafts], asked)
    given = ask(_opening(session, id, tuple(known.values())))
    return keeping(session, id, number, given, known)


def keeping(
    session: Session, name: str, number: int, given: Iterable[Answer], known: Mapping[str, Answer]
) -> list[Answer]:
    """These answers. Those that come one after another are kept at once where they are not known, so that
    whoever is interrupted need not think twice.
    """
    answers = []
    for answer in given:
        answers.append(answer)
        if not isinstance(given, Sequence) and answer != known.get(answer.id):
            data = {"answer": msgspec.to_builtins(answer)}
            with alone(session.learner.private):
                session.store.append(name, number, "drafted", data)
    return answers


def _unused(latest: Attempt | None, asked: Sequence[Prediction]) -> list[Answer] | None:
    """The answers of an attempt that was cut off before anything was broken."""
    if latest is None or latest.state != "predicted":
        return None
    return all_answered((latest.last("predicted") or {"answers": []})["answers"], asked)


def _opening(session: Session, id: str, known: tuple[Answer, ...]) -> Opening:
    """The exercise as it is told before the predictions. known: what was typed already."""
    entry, spec = session.catalogue.entry(id), session.catalogue.story(id)
    return Opening(
        entry.id,
        session.text(spec.title),
        session.text(spec.the_break),
        pipeline_source(session.catalogue, id),
        spec.predictions,
        session.learner.lang,
        str(session.learner.notes(entry.phase_number)),
        known,
    )


def notes_head(template: str, lang: str) -> str:
    """What a new notes file begins with."""
    for name in (f"breaks.{lang}.md", "breaks.en.md"):
        file = content_root("templates") / template / "notes" / name
        if file.is_file():
            return file.read_text("utf-8")
    return ""
