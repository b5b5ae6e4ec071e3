"""`engine break`: plan and verify in memory, ask, record, and only then write and observe."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from engine.commands.session import Session, title
from engine.commands.warm import TO_BREAK, servers_of
from engine.errors import NotApplicable, UsageError
from engine.flows import expectations as asking
from engine.flows import measuring
from engine.flows.answers import Answer, checked, shown
from engine.flows.measuring import fresh_seed
from engine.learner import entries, notes
from engine.learner.store import Attempt, alone, coming, opened
from engine.run.concurrent import Later, at_once
from engine.spec.load import content_root
from engine.spec.types import Prediction

if TYPE_CHECKING:
    from engine.commands.observe_ import Observed
    from engine.flows.break_ import Planned


class Opening(msgspec.Struct, frozen=True):
    """What the learner is shown before they predict."""

    exercise: str
    title: str
    text: str
    pipeline: str
    predictions: tuple[Prediction, ...]
    lang: str
    notes: str
    known: tuple[Answer, ...] = ()  # typed before an interruption


class BreakReport(msgspec.Struct, frozen=True):
    """`engine break`: where the practice copy is, what was predicted, what was measured."""

    exercise: str
    title: str
    attempt: int
    practice: str
    notes: str
    predictions: tuple[Answer, ...]
    observed: Observed
    symptom: str


Ask = Callable[[Opening], Iterable[Answer]]  # a sequence, or one after another as they are typed


def run(
    session: Session,
    id: str,
    ask: Ask,
    *,
    progress: measuring.Progress = measuring.quiet,
    meanwhile: Callable[[], object] = lambda: None,
) -> BreakReport:
    """Break a practice copy of the learner's code.

    meanwhile: what else is to be done while the bug is looked for.

    Raises NotApplicable when an exercise is open or the code is not healthy where this one needs
    it, and whatever the files, the specs or the learner's answers are at fault for.
    """
    learner, catalogue = session.learner, session.catalogue
    entry = catalogue.entry(id)
    if entry.kind != "break":
        raise UsageError(
            f"{entry.id} is a build exercise.", next=f"`engine submit-build {entry.id}` checks it."
        )
    spec = catalogue.break_(entry.id)
    _check_none_open(session)
    notes_file = learner.notes(entry.phase_number)
    notes.check(notes_file)
    with servers_of(session) as servers:
        files, tree = session.code
        servers.ready(tree, *TO_BREAK)  # as a rule they are
        seed = fresh_seed()
        begun = asking.begin(servers, catalogue, entry.id, tree, seed)
        from engine.commands.observe_ import look, notes_text
        from engine.flows import break_ as planning  # brings numpy, while the reference is at work

        Later(_imported)
        Later(meanwhile)
        planned = planning.plan_break(
            servers, catalogue, entry.id, tree, seed, progress=progress, begun=begun
        )
        attempt, answers = _predictions(session, entry.id, ask)
        broken = tree.replaced(planned.injection.files)
        with alone(learner.private):
            _check_none_open(session)
            _check_same_code(session, files)
            _, observed = at_once(
                lambda: _write(session, entry.id, attempt, files, planned),
                lambda: look(
                    servers,
                    session,
                    entry.id,
                    tree,
                    broken,
                    answers,
                    dtype=planned.dtype,
                    server="learner",
                ),
            )
            scored = {"scored": msgspec.to_builtins(observed.scored)}
            session.store.append(entry.id, attempt, "observed", scored)
            notes.add(notes_file, entry.id, attempt, notes_text(observed, learner.lang))
    return BreakReport(
        entry.id,
        session.text(spec.title),
        attempt,
        str(learner.practice(entry.id)),
        str(notes_file),
        tuple(answers),
        observed,
        session.text(spec.symptom),
    )


def _check_none_open(session: Session) -> None:
    current = opened(session.attempts())
    if current is not None:
        raise NotApplicable(
            f"{current.exercise} is still open.",
            where=str(session.learner.practice(current.exercise)),
            next="Finish it with `engine submit-fix`, or put it aside with `engine reset`.",
        )


def _check_same_code(session: Session, files: Mapping[str, bytes]) -> None:
    """The learner is not held up while they are asked, so their code may have changed since."""
    if session.model_files() != files:
        raise NotApplicable(
            "Your code was changed while you were asked, so nothing was broken.",
            where=str(session.learner.model),
            next="Your predictions are kept: the same command goes on with them.",
        )


def _predictions(session: Session, id: str, ask: Ask) -> tuple[int, list[Answer]]:
    """Ask and record; a run that was cut off after the questions goes on with its answers."""
    learner, catalogue = session.learner, session.catalogue
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    file = learner.notes(entry.phase_number)
    latest = session.latest(id)
    found = _unused(latest, spec.predictions)
    if latest is not None and found is not None:
        number, answers, date = latest.number, found, latest.events[0].at[:10]
        if notes.start_mark(id, number).encode() in notes.read(file):
            return number, answers
    else:
        number = coming(latest)
        answers = _asked(session, id, number, ask)
        data = {"answers": [msgspec.to_builtins(answer) for answer in answers]}
        with alone(learner.private):
            _check_none_open(session)
            date = session.store.append(id, number, "predicted", data).at[:10]
    lines = [
        (session.text(p.ask), shown(p, a.answer, learner.lang), a.confidence)
        for p, a in zip(spec.predictions, answers, strict=True)
    ]
    notes.add(
        file, id, number, entries.predictions(lines, learner.lang),
        head=entries.heading(date, title(catalogue, entry, learner.lang)),
        top=notes_head(catalogue.contract.template, learner.lang),
    )  # fmt: skip
    return number, answers


def _asked(session: Session, id: str, number: int, ask: Ask) -> list[Answer]:
    """All answers. Those that come one after another are kept at once, so that whoever is interrupted
    need not think twice.
    """
    known = _typed(session.latest(id), session.catalogue.break_(id).predictions)
    given = ask(replace(opening_of(session, id), known=tuple(known.values())))
    answers = []
    for answer in given:
        answers.append(answer)
        if not isinstance(given, Sequence) and answer != known.get(answer.id):
            data = {"answer": msgspec.to_builtins(answer)}
            with alone(session.learner.private):
                session.store.append(id, number, "drafted", data)
    return answers


def _typed(latest: Attempt | None, asked: Sequence[Prediction]) -> dict[str, Answer]:
    """Answers of an attempt that was given up while typing, as far as they still fit."""
    drafts = latest.all("drafted") if latest is not None and latest.state == "new" else []
    typed = {one.id: one for one in (msgspec.convert(d["answer"], Answer) for d in drafts)}
    found = {}
    for prediction in asked:
        if prediction.id in typed:
            one = typed[prediction.id]
            try:
                found[one.id] = checked(prediction, one.answer, one.confidence)
            except UsageError:  # the exercise has changed since
                continue
    return found


def _unused(latest: Attempt | None, asked: Sequence[Prediction]) -> list[Answer] | None:
    """The answers of an attempt that was cut off before anything was broken."""
    if latest is None or latest.state != "predicted":
        return None
    data = latest.last("predicted") or {"answers": []}
    answers = [msgspec.convert(one, Answer) for one in data["answers"]]
    return answers if [a.id for a in answers] == [p.id for p in asked] else None


def opening_of(session: Session, id: str) -> Opening:
    """The exercise as it is told before the predictions."""
    from engine.commands.listing import pipeline_source

    entry, spec = session.catalogue.entry(id), session.catalogue.break_(id)
    return Opening(
        entry.id,
        session.text(spec.title),
        session.text(spec.the_break),
        pipeline_source(session.catalogue, spec.pipeline),
        spec.predictions,
        session.learner.lang,
        str(session.learner.notes(entry.phase_number)),
    )


def notes_head(template: str, lang: str) -> str:
    """What a new notes file begins with."""
    for name in (f"breaks.{lang}.md", "breaks.en.md"):
        file = content_root("templates") / template / "notes" / name
        if file.is_file():
            return file.read_text("utf-8")
    return ""


def _imported() -> None:
    """What `_write` imports takes a while, which is there while the bug is looked for."""
    importlib.import_module("engine.learner.history")


def _write(
    session: Session,
    id: str,
    attempt: int,
    files: Mapping[str, bytes],
    planned: Planned,
) -> None:
    """Snapshot, practice copy, event: in this order, so that a cut leaves nothing half open."""
    from engine.learner.history import History, read_all, throw_away, write_practice

    learner = session.learner
    history = History(learner.private)
    broken = {**files, **planned.injection.files}
    before, after = history.save(files), history.save(broken)
    folder = learner.practice(id)
    left = history.save(read_all(folder)) if folder.exists() else None
    throw_away(folder)
    write_practice(folder, broken)
    session.store.append(
        id,
        attempt,
        "injected",
        {
            "before": before,
            "broken": after,
            "model": str(learner.model),
            "file": planned.file,
            "symbol": planned.symbol,
            "how": planned.injection.how,
            "left": left,
        },
    )
