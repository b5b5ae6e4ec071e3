"""`engine submit-fix`: the learner's diff, the judge on unseen inputs, and, when right, the reveal.

The learner's lock is held only while something is recorded: nobody waits for a verdict or for somebody who
thinks. So what was judged has to be what is still open.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.commands.closing import close
from engine.commands.means import means_of
from engine.commands.naming import notes_of, title
from engine.commands.session import Session
from engine.commands.submission import check_same, unchanged
from engine.commands.versions import before_and_now, broken
from engine.commands.warm import ahead
from engine.flows import measuring
from engine.flows.answers import Answer
from engine.flows.blind import without_names
from engine.flows.diffs import suspicious
from engine.flows.fix_report import AskCause, FixReport, Submission
from engine.judge.level import PRACTICE, Level
from engine.learner import notes
from engine.learner.sealed import seal
from engine.learner.store import alone


def no_answer(_: str, __: Sequence[tuple[str, str]]) -> Answer | None:
    """Nobody is there to be asked."""
    return None


def run(
    session: Session,
    ask: AskCause = no_answer,
    *,
    level: Level = PRACTICE,
    progress: measuring.Progress = measuring.quiet,
    closing: bool = True,
) -> FixReport:
    """Judge the practice copy, as strictly as `level` says; a right fix closes the break, where it may.
    Raises what the learner's files or the store are at fault for.
    """
    learner, catalogue = session.learner, session.catalogue
    attempt = session.open_break()
    ahead(session, attempt.exercise)
    id = attempt.exercise
    file = notes_of(session, attempt)
    notes.check(file)
    before, now = before_and_now(session, attempt)
    submission = Submission(before.files, broken(session, attempt).files, now.files)
    if not submission.diff:
        raise unchanged(session, attempt, before)
    with means_of(session) as means:
        judged = means.judged(attempt, (before, now), level, progress)
    verdict, failing = judged.verdict, judged.failing
    data = {
        "passed": verdict.passed, "seed": verdict.seed, "graded": submission.graded,
        "failing": seal(failing) if attempt.blind and failing else failing,
        "diff": submission.diff,
    }  # fmt: skip
    with alone(learner.private):
        check_same(session, attempt, now)
        session.store.append(attempt.name, attempt.number, "submitted", data)
    secret = attempt.blind and not verdict.passed
    return FixReport(
        attempt.name if secret else id,
        title(session, attempt) if secret else session.text(catalogue.story(id).title),
        verdict.passed,
        submission.diff,
        without_names(verdict) if secret else verdict,
        submission.graded,
        judged.sandbox,
        submission.restored,
        () if verdict.passed else suspicious(submission.diff),
        close(session, attempt, ask, submission) if verdict.passed and closing else None,
        str(file),
        learner.lang,
        learner.typed(learner.practice(attempt.name)),
        "" if secret else catalogue.entry(id).component,
    )
