"""`engine submit-fix`: the learner's diff, the judge on unseen inputs, and, when right, the reveal."""

from __future__ import annotations

import difflib
import hashlib
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from engine.commands.session import Session, fresh_seed
from engine.commands.warm import servers_of
from engine.errors import NotApplicable
from engine.flows import build as flows
from engine.flows.answers import Answer
from engine.judge.level import PRACTICE, Level
from engine.learner import entries, notes
from engine.learner.store import Attempt, alone, opened
from engine.run.types import Sandbox, Tree
from engine.spec.types import Cause, Option

if TYPE_CHECKING:
    from engine.judge.verdict import Verdict


class CauseResult(msgspec.Struct, frozen=True):
    """The cause question, answered."""

    chosen: str
    confidence: int
    right: bool
    because: str


class Reveal(msgspec.Struct, frozen=True):
    """What is told after a right fix."""

    hidden_cause: str
    reference_diff: str
    fix: str
    why: str
    next: str
    cause: CauseResult | None


class FixReport(msgspec.Struct, frozen=True):
    """`engine submit-fix`."""

    exercise: str
    title: str
    passed: bool
    diff: str
    verdict: Verdict
    graded: tuple[tuple[str, str], ...]  # file, sha256
    sandbox: Sandbox
    restored: bool
    suspicious: tuple[str, ...]
    reveal: Reveal | None
    notes: str
    lang: str


AskCause = Callable[[str, Sequence[tuple[str, str]]], Answer | None]


def no_answer(_: str, __: Sequence[tuple[str, str]]) -> Answer | None:
    """Nobody is there to be asked."""
    return None


def run(
    session: Session,
    ask: AskCause = no_answer,
    *,
    level: Level = PRACTICE,
    progress: flows.Progress = flows.quiet,
) -> FixReport:
    """Judge the practice copy, as strictly as `level` says. Raises what the learner's files or the store
    are at fault for.
    """
    learner, catalogue = session.learner, session.catalogue
    attempt = session.open_break()
    id = attempt.exercise
    spec = catalogue.break_(id)
    notes.check(learner.notes(catalogue.entry(id).phase_number))
    broken = _broken(session, attempt)
    before, now = session.trees(attempt)
    changed = unified(broken, now.files)
    with servers_of(session) as servers:
        servers.progress = progress
        servers.ready(before, "before")
        servers.ready(now, "candidate")
        from engine.flows import fix as fixes  # brings numpy, while they compile

        verdict = fixes.grade_fix(servers, catalogue, id, before, now, fresh_seed(), level)
        sandbox = servers.sandbox
    restored = all(now.files.get(path) == data for path, data in before.files.items())
    graded = graded_files(broken, now.files)
    data = {"passed": verdict.passed, "seed": verdict.seed, "graded": graded, "diff": changed}
    with alone(learner.private):
        _check_same(session, attempt, now)
        session.store.append(id, attempt.number, "submitted", data)
    reveal = None
    if verdict.passed:
        reveal = _close(session, attempt, spec.cause, ask, changed, broken, before.files, restored)
    return FixReport(
        id,
        session.text(spec.title),
        verdict.passed,
        changed,
        verdict,
        graded,
        sandbox,
        restored,
        () if verdict.passed else suspicious(changed),
        reveal,
        str(learner.notes(catalogue.entry(id).phase_number)),
        learner.lang,
    )


def _check_same(session: Session, attempt: Attempt, judged: Tree | None = None) -> None:
    """What was judged is still what is open: nobody waits while it is judged, or somebody asked.

    Raises NotApplicable.
    """
    now = opened(session.attempts())
    same = now is not None and (now.exercise, now.number) == (attempt.exercise, attempt.number)
    if not same:
        raise NotApplicable(
            f"{attempt.exercise} was closed or put aside meanwhile, so nothing was recorded.",
            next="`engine status` shows what is open.",
        )
    if judged is not None and session.trees(attempt)[1].files != judged.files:
        raise NotApplicable(
            "The practice copy was changed while it was judged, so nothing was recorded.",
            where=str(session.learner.practice(attempt.exercise)),
            next="Save your files, then `engine submit-fix` once more.",
        )


def _broken(session: Session, attempt: Attempt) -> dict[str, bytes]:
    from engine.learner.history import History

    data = attempt.last("injected")
    assert data is not None
    return History(session.learner.private).load(data["broken"])


def _close(
    session: Session,
    attempt: Attempt,
    cause: Cause,
    ask: AskCause,
    changed: str,
    broken: Mapping[str, bytes],
    before: Mapping[str, bytes],
    restored: bool,
) -> Reveal:
    id, catalogue = attempt.exercise, session.catalogue
    spec, lang = catalogue.break_(id), session.learner.lang
    result = _ask_cause(session, cause, ask)
    hidden = session.text(spec.hidden_cause)
    chosen = None
    if result:
        chosen = (_option_text(session, cause.options, result.chosen), result.right)
    text = entries.closed(
        hints=len(attempt.all("hinted")), diff=changed, cause=hidden, chosen=chosen,
        restored=restored, lang=lang,
    )  # fmt: skip
    file = session.learner.notes(catalogue.entry(id).phase_number)
    with alone(session.learner.private):
        _check_same(session, attempt)
        if result:
            data = {"chosen": result.chosen, "confidence": result.confidence, "right": result.right}
            session.store.append(id, attempt.number, "caused", data)
        notes.add(file, id, attempt.number, text)
        session.store.append(id, attempt.number, "closed", {"restored": restored})
    return Reveal(
        hidden,
        unified(broken, before),
        session.text(spec.fix),
        session.text(spec.why),
        session.text(spec.next),
        result,
    )


def _ask_cause(session: Session, cause: Cause, ask: AskCause) -> CauseResult | None:
    options = list(cause.options)
    random.SystemRandom().shuffle(options)
    answer = ask(session.text(cause.ask), [(o.id, session.text(o.text)) for o in options])
    if answer is None:
        return None
    chosen = next(option for option in options if option.id == answer.answer)
    return CauseResult(
        chosen.id, answer.confidence, chosen.id == cause.right, session.text(chosen.because)
    )


def _option_text(session: Session, options: Sequence[Option], id: str) -> str:
    return next(session.text(option.text) for option in options if option.id == id)


def unified(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> str:
    """A unified diff of two file sets."""
    lines: list[str] = []
    for path in sorted({*old, *new}):
        a, b = old.get(path, b""), new.get(path, b"")
        if a != b:
            lines += difflib.unified_diff(
                a.decode("utf-8", "replace").splitlines(),
                b.decode("utf-8", "replace").splitlines(),
                f"a/{path}",
                f"b/{path}",
                lineterm="",
            )
    return "\n".join(lines) + ("\n" if lines else "")


def graded_files(
    broken: Mapping[str, bytes], now: Mapping[str, bytes]
) -> tuple[tuple[str, str], ...]:
    """The files that differ from the broken state, with the sha256 of what was judged."""
    return tuple(
        (path, hashlib.sha256(data).hexdigest())
        for path, data in sorted(now.items())
        if broken.get(path) != data
    )


SUSPICIOUS = {
    r"\bexcept\b": "a try/except: an error that is caught is not an error that is gone",
    r"\b(clip|clamp)\(": "clip: values that are cut off have lost what they meant",
    r"\bnan_to_num\(": "nan_to_num: the NaN came from somewhere",
    r"\bdetach\(": "detach: values pass, gradients stop",
    r"\bisinstance\(": "a special case for some types",
}
NUMBER = r"(?<![\w.\]])(\d{2,})(?![\w.])"  # a whole number of two digits or more


def suspicious(diff: str) -> tuple[str, ...]:
    """What in a refused diff may explain the refusal; it never decides one."""
    added = [line[1:] for line in diff.splitlines() if line[:1] == "+" and line[:3] != "+++"]
    gone = [line[1:] for line in diff.splitlines() if line[:1] == "-" and line[:3] != "---"]
    came, went = (" ".join(line.partition("#")[0] for line in lines) for lines in (added, gone))
    found = [why for word, why in SUSPICIOUS.items() if re.search(word, came)]
    fresh = sorted({*re.findall(NUMBER, came)} - {*re.findall(NUMBER, went)}, key=int)
    found += [f"the number {number}: does it fit other sizes than those shown?" for number in fresh]
    return tuple(found)
