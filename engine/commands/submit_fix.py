"""`engine submit-fix`: the learner's diff, the judge on unseen inputs, and, when right, the reveal.

The learner's lock is held only while something is recorded: nobody waits for a verdict or for somebody who
thinks. So what was judged has to be what is still open.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.commands.session import Session
from engine.commands.submission import check_same, unchanged
from engine.commands.warm import servers_of
from engine.flows import measuring
from engine.flows.answers import Answer
from engine.flows.diffs import suspicious
from engine.flows.fix_report import AskCause, FixReport, Reveal, Submission, ask_cause
from engine.flows.measuring import fresh_seed
from engine.judge.level import PRACTICE, Level
from engine.learner import entries, notes
from engine.learner.store import Attempt, alone


def no_answer(_: str, __: Sequence[tuple[str, str]]) -> Answer | None:
    """Nobody is there to be asked."""
    return None


def run(
    session: Session,
    ask: AskCause = no_answer,
    *,
    level: Level = PRACTICE,
    progress: measuring.Progress = measuring.quiet,
) -> FixReport:
    """Judge the practice copy, as strictly as `level` says. Raises what the learner's files or the store
    are at fault for.
    """
    learner, catalogue = session.learner, session.catalogue
    attempt = session.open_break()
    id = attempt.exercise
    file = learner.notes(catalogue.entry(id).phase_number)
    notes.check(file)
    before, now = session.trees(attempt)
    submission = Submission(before.files, _broken(session, attempt), now.files)
    if not submission.diff:
        raise unchanged(session, attempt, before)
    with servers_of(session) as servers:
        servers.progress = progress
        servers.load_tree(before, "before")
        servers.load_tree(now, "candidate")
        from engine.flows import fix as fixes  # brings numpy, while they compile

        verdict = fixes.grade_fix(servers, catalogue, id, before, now, fresh_seed(), level)
        sandbox = servers.sandbox
    from engine.flows.repro import repeatable
    from engine.flows.scope import checks_of_a_fix

    failing = repeatable(verdict, checks_of_a_fix(catalogue, id))
    data = {
        "passed": verdict.passed, "seed": verdict.seed, "graded": submission.graded,
        "failing": failing,
    }  # fmt: skip
    with alone(learner.private):
        check_same(session, attempt, now)
        session.store.append(id, attempt.number, "submitted", {**data, "diff": submission.diff})
    return FixReport(
        id,
        session.text(catalogue.break_(id).title),
        verdict.passed,
        submission.diff,
        verdict,
        submission.graded,
        sandbox,
        submission.restored,
        () if verdict.passed else suspicious(submission.diff),
        _close(session, attempt, ask, submission) if verdict.passed else None,
        str(file),
        learner.lang,
        learner.typed(learner.practice(id)),
        catalogue.entry(id).component,
    )


def _broken(session: Session, attempt: Attempt) -> dict[str, bytes]:
    from engine.learner.snapshots import History

    data = attempt.last("injected")
    assert data is not None
    return History(session.learner.private).load(data["broken"])


def _close(session: Session, attempt: Attempt, ask: AskCause, submission: Submission) -> Reveal:
    """Ask for the cause, complete the notes, close the attempt."""
    id, lang = attempt.exercise, session.learner.lang
    spec = session.catalogue.break_(id)
    result = ask_cause(spec.cause, ask, lang)
    hidden = session.text(spec.hidden_cause)
    texts = {option.id: session.text(option.text) for option in spec.cause.options}
    text = entries.closed(
        hints=len(attempt.all("hinted")), diff=submission.diff, cause=hidden,
        chosen=(texts[result.chosen], result.right) if result else None,
        restored=submission.restored, lang=lang,
    )  # fmt: skip
    with alone(session.learner.private):
        check_same(session, attempt)
        if result:
            data = {"chosen": result.chosen, "confidence": result.confidence, "right": result.right}
            session.store.append(id, attempt.number, "caused", data)
        notes.add(
            session.learner.notes(session.catalogue.entry(id).phase_number),
            id,
            attempt.number,
            text,
        )
        session.store.append(id, attempt.number, "closed", {"restored": submission.restored})
    told = (session.text(spec.fix), session.text(spec.why), session.text(spec.next))
    return Reveal(hidden, submission.reference_diff, *told, result)
