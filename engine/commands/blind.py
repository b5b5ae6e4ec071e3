"""`engine break --blind`: a break by lot; the learner sees what happens, and is not told what was done.

Everything that a learner can read goes by a handle, "blind-3", until the reveal (`learner/sealed.py`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from engine.commands.lay import check_same_code, lay, opened
from engine.commands.means import Means, Placed, means_of
from engine.commands.naming import handle_title
from engine.commands.predict import check_none_open, notes_head
from engine.commands.session import Session
from engine.errors import EngineError, Message, NotApplicable
from engine.flows.blind import BlindReport
from engine.flows.measuring import Progress, quiet
from engine.learner import entries, notes
from engine.learner.sealed import seal
from engine.learner.store import alone, next_handle
from engine.run.concurrent import Future, run_both
from engine.spec.entry import Entry


def run(
    session: Session,
    ids: Sequence[str],
    *,
    progress: Progress = quiet,
    meanwhile: Callable[[], object] = lambda: None,
) -> BlindReport:
    """Break a practice copy of the learner's code by the first of `ids` that goes in.

    Raises NotApplicable when an exercise is open or none goes in, and whatever the files or the specs are at
    fault for.
    """
    learner = session.learner
    check_none_open(session)
    notes.check(learner.blind_notes)
    with means_of(session) as means:
        files, _ = session.code
        Future(lambda: importlib.import_module("engine.learner.repositories"))
        Future(meanwhile)
        entry, placed = _first_that_applies(session, means, ids, progress)
        with alone(learner.private):
            check_none_open(session)
            check_same_code(session, files)
            name = next_handle(session.attempts())
            laid, observed = run_both(
                lambda: lay(session, name, files, placed.files),
                lambda: means.observed(placed, None),
            )
            bug = {"sealed": seal({**placed.bug, "exercise": entry.id})}
            date = opened(session, name, 1, laid, bug, observed)[:10]
            story = begin_notes(session, entry.id, name, date)
        observed = means.shown(observed)
    return BlindReport(
        name, handle_title(name, learner.lang), story, observed, str(learner.practice(name)),
        str(learner.blind_notes),
    )  # fmt: skip


def _first_that_applies(
    session: Session, means: Means, ids: Sequence[str], progress: Progress
) -> tuple[Entry, Placed]:
    """The first of these breaks that this code can be given. Raises NotApplicable."""
    for id in ids:
        means.begin(id)
        try:
            placed = means.plan(progress)
        except NotApplicable as error:
            why: EngineError = error
            continue
        return session.catalogue.entry(id), placed
    if len(ids) == 1:
        raise why
    raise NotApplicable(
        Message("None of {count} breaks could be put into your code.", count=len(ids)),
        next=Message("`engine check` says what is wrong with your model, or why it cannot be run.")
        if session.catalogue.by_facts
        else Message("`engine submit-build --all` says which parts are not healthy."),
    )


def begin_notes(session: Session, id: str, name: str, date: str) -> str:
    """The head of the entry and the story, where they are not there yet; returns the story."""
    spec, learner = session.catalogue.story(id), session.learner
    assert spec.blind is not None  # chosen for it
    story = session.text(spec.blind.story)
    if notes.start_mark(name, 1).encode() not in notes.read(learner.blind_notes):
        notes.add(
            learner.blind_notes, name, 1, story,
            head=entries.heading(date, handle_title(name, learner.lang)),
            top=notes_head(session.catalogue.syllabus.template, learner.lang),
        )  # fmt: skip
    return story
