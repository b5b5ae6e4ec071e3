"""The end of a break: the question about the cause, the notes, the reveal."""

from __future__ import annotations

import msgspec

from engine.commands.naming import notes_of
from engine.commands.session import Session
from engine.commands.submission import check_same
from engine.flows.fix_report import AskCause, Reveal, Submission, ask_cause
from engine.flows.hints import filled
from engine.flows.show import links_of
from engine.learner import entries, notes
from engine.learner.store import Attempt, alone
from engine.observe.score import Scored, brier


def close(session: Session, attempt: Attempt, ask: AskCause, submission: Submission) -> Reveal:
    """Ask for the cause, complete the notes, close the attempt."""
    lang = session.learner.lang
    spec = session.catalogue.story(attempt.exercise)
    scored = _diagnosis(session, attempt)
    known = attempt.injected
    result = None if scored else ask_cause(spec.cause, ask, lang)
    if result is not None:
        because = filled({lang: result.because}, known, lang)
        result = msgspec.structs.replace(result, because=because)
    hidden = filled(spec.hidden_cause, known, lang)
    texts = {option.id: session.text(option.text) for option in spec.cause.options}
    text = entries.closed(
        hints=len(attempt.all("hinted")), diff=submission.diff, cause=hidden,
        chosen=(texts[result.chosen], result.right, result.confidence) if result else None,
        restored=submission.restored, lang=lang,
    )  # fmt: skip
    was = f"{attempt.exercise}, {session.title(attempt.exercise)}" if attempt.blind else ""
    if was:
        judged = [(one.confidence, one.right) for one in scored if one.right is not None]
        text = entries.revealed(was, scored, brier(judged), lang) + "\n\n" + text
    with alone(session.learner.private):
        check_same(session, attempt)
        if result:
            data = {"chosen": result.chosen, "confidence": result.confidence, "right": result.right}
            session.store.append(attempt.name, attempt.number, "caused", data)
        notes.add(notes_of(session, attempt), attempt.name, attempt.number, text)
        end = {"restored": submission.restored, "scored": msgspec.to_builtins(scored)}
        session.store.append(attempt.name, attempt.number, "closed", end)
    fix, why, coming = (filled(text, known, lang) for text in (spec.fix, spec.why, spec.next))
    sources = links_of(spec.sources, lang)
    return Reveal(hidden, submission.reference_diff, fix, why, coming, result, was, scored, sources)


def _diagnosis(session: Session, attempt: Attempt) -> tuple[Scored, ...]:
    """The last diagnosis of a blind break, scored; it answers the question about the cause, too."""
    known = attempt.last("diagnosed")
    if not attempt.blind or known is None:
        return ()
    from engine.flows.diagnosis import Diagnosis, scored

    spec, bug = session.catalogue.story(attempt.exercise), attempt.injected
    return scored(
        msgspec.convert(known, Diagnosis),
        [(path, symbol) for path, symbol in bug["places"]],
        spec.mechanism,
        session.catalogue.areas[spec.area].mechanisms,
        session.learner.lang,
    )
