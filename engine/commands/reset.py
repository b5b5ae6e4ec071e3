"""`engine reset`: put a break aside, the practice copy is saved first; and take it up again."""

from __future__ import annotations

import shlex

from engine.commands.naming import called, notes_of
from engine.commands.predict import check_none_open
from engine.commands.session import Session
from engine.errors import Message, NotApplicable
from engine.flows.reports import ResetReport
from engine.learner import entries, notes
from engine.learner.files import inside, write
from engine.learner.store import alone, latest, opened


def run(session: Session, id: str | None = None) -> ResetReport:
    """Save the practice copy to the history, throw it away, close the attempt."""
    from engine.learner.history import read_all, throw_away
    from engine.learner.snapshots import History

    learner = session.learner
    with alone(learner.private):
        current = opened(session.attempts())
        wanted = called(session, id) if id else None
        if current is None or wanted not in (None, current.name):
            raise NotApplicable(
                Message("{exercise} is not open.", exercise=wanted)
                if wanted
                else Message("No break is open."),
                next=Message("`engine status` shows what is."),
            )
        exercise = current.name
        folder = learner.practice(exercise)
        snapshot = History(learner.private).save(read_all(folder) if folder.is_dir() else {})
        file = notes_of(session, current)
        notes.check(file)
        event = session.store.append(exercise, current.number, "reset", {"snapshot": snapshot})
        notes.add(
            file, exercise, current.number, entries.reset(event.at[:10], snapshot, learner.lang)
        )
        throw_away(folder)
    history = learner.private / "history.git"
    place = shlex.quote(str(history))
    restore = f"mkdir saved && git --git-dir={place} archive {snapshot} | tar -x -C saved"
    return ResetReport(exercise, snapshot, restore)


def undo(session: Session, id: str | None = None) -> ResetReport:
    """Bring back the practice copy that was put aside last, or that of `id`, and open its attempt again.
    Raises NotApplicable while a break is open, and where there is none.
    """
    from engine.learner.history import read_all, throw_away, write_practice
    from engine.learner.snapshots import History

    learner = session.learner
    wanted = called(session, id) if id else None
    with alone(learner.private):
        check_none_open(session)
        found = session.attempts()
        aside = [a for a in found if a.state == "reset" and latest(found, a.name) == a]
        mine = [a for a in aside if wanted in (None, a.name)]
        if not mine:
            raise NotApplicable(
                Message("No break was put aside that could be taken up again."),
                next=Message("`engine next` says what is ready for you."),
            )
        attempt = max(mine, key=lambda a: a.events[-1].at)
        injected, kept = attempt.last("injected"), attempt.last("reset")
        assert injected is not None  # it was open
        assert kept is not None  # and was put aside
        history, folder = History(learner.private), learner.practice(attempt.name)
        broken, files = history.load(injected["broken"]), history.load(kept["snapshot"])
        if folder.exists():
            history.save(read_all(folder))
            throw_away(folder)
        write_practice(folder, broken)  # so that `git diff` is what was edited
        for path, data in files.items():
            write(inside(folder, path), data)
        for path in broken.keys() - files.keys():
            inside(folder, path).unlink()
        event = session.store.append(attempt.name, attempt.number, "resumed", {})
        text = entries.resumed(event.at[:10], learner.lang)
        file = notes_of(session, attempt)
        notes.add(file, attempt.name, attempt.number, text)
    return ResetReport(attempt.name, kept["snapshot"], "", str(folder))
