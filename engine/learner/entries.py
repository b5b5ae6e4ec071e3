"""What the engine writes into the notes, as Markdown in the learner's language."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import Message, Said
from engine.observe.score import Scored
from engine.words import said

NAMES = {
    "right": Message("right"),
    "wrong": Message("wrong"),
    "self": Message("judge for yourself"),
    "yes": Message("I had it"),
    "partly": Message("in part"),
    "no": Message("not yet"),
}


def heading(date: str, title: str) -> str:
    """The heading of an entry."""
    return f"## {date} · {title}"


def asked(lang: str) -> str:
    """The heading above the questions that wait for answers."""
    return said(Message("### Before you look"), lang)


def predictions(answers: Sequence[tuple[str, str, int]], lang: str) -> str:
    """Questions with answers and confidences: (question, answer, confidence in percent)."""
    parts = [said(Message("### Predictions"), lang)]
    for number, (ask, answer, confidence) in enumerate(answers, 1):
        sure = said(Message("confidence {percent}%", percent=confidence), lang)
        parts.append(f"{number}. {ask}\n   **{answer}** ({sure})")
    return "\n\n".join(parts)


def measured(scored: Sequence[Scored], error: Said, brier: float | None, lang: str) -> str:
    """The table of predictions and measurements."""
    head = said(Message("predicted"), lang), said(Message("measured"), lang)
    rows = [f"| | {head[0]} | {head[1]} | |", "|---|---|---|---|"]
    for number, one in enumerate(scored, 1):
        name = "self" if one.right is None else "right" if one.right else "wrong"
        cells = (
            cell.replace("|", "\\|").replace("\n", " ") for cell in (one.predicted, one.measured)
        )
        rows.append(f"| {number} | " + " | ".join(cells) + f" | {said(NAMES[name], lang)} |")
    parts = [said(Message("### Measured"), lang), "\n".join(rows)]
    if error:
        told = said(error, lang).replace("`", "'").replace("\n", " ")
        parts.append(said(Message("It ended in `{error}`", error=told), lang))
    if brier is not None:
        judged = [one for one in scored if one.right is not None]
        score = Message(
            "{right} of {of} right; Brier score {brier:.3f} (0 is perfect, 0.25 a coin toss).",
            right=sum(bool(one.right) for one in judged),
            of=len(judged),
            brier=brier,
        )
        parts.append(said(score, lang))
    return "\n\n".join(parts)


def diagnosis(version: int, answers: Sequence[tuple[str, int]], lang: str) -> str:
    """A diagnosis of a blind break: where and what, each with a confidence in percent."""
    parts = [said(Message("### Diagnosis {version}", version=version), lang)]
    for name, (answer, sure) in zip((Message("Where"), Message("What")), answers, strict=True):
        told = Message(
            "{name}: {answer} (confidence {percent}%)", name=name, answer=answer, percent=sure
        )
        parts.append(said(told, lang))
    return "\n\n".join(parts)


def closed(
    *,
    hints: int,
    diff: str,
    cause: str,
    chosen: tuple[str, bool, int] | None,
    restored: bool,
    lang: str,
) -> str:
    """The end of an entry: the fix, the cause, and room for the learner's own words. chosen: the answer to
    the question about the cause, whether it is right, and with how many percent.
    """
    parts: list[Said] = [Message("### Fixed"), Message("Hints taken: {count}.", count=hints)]
    back = Message("My fix: (The old text, restored exactly.)")
    parts.append(back if restored else Message("My fix:"))
    fence = "```"
    while fence in diff:
        fence += "`"
    parts.append(f"{fence}diff\n{diff.rstrip()}\n{fence}")
    if chosen:
        answer, right, sure = chosen
        verdict = NAMES["right" if right else "wrong"]
        told = Message(
            "My answer to the cause: {answer} ({sure}%: {right}).",
            answer=answer, sure=sure, right=verdict,
        )  # fmt: skip
        parts.append(told)
    parts += [Message("The cause: {cause}", cause=cause), Message("In my own words:")]
    return "\n\n".join(said(part, lang) for part in parts)


def revealed(was: str, scored: Sequence[Scored], brier: float | None, lang: str) -> str:
    """What a blind break was, and the last diagnosis beside it."""
    told = said(Message("This was {exercise}.", exercise=was), lang)
    return told + "\n\n" + measured(scored, "", brier, lang) if scored else told


def graded(grade: str, lang: str) -> str:
    """What a learner thinks of their answer: yes, partly or no."""
    told = Message("My own judgement, beside the model answer above: {grade}.", grade=NAMES[grade])
    return said(told, lang)


def reset(date: str, snapshot: str, lang: str) -> str:
    """A line for an attempt that was put aside."""
    told = Message(
        "Put aside on {date}. The practice copy is kept as snapshot `{snapshot}`.",
        date=date,
        snapshot=snapshot[:12],
    )
    return said(told, lang)


def resumed(date: str, lang: str) -> str:
    """A line for an attempt that was put aside and is open again."""
    return said(Message("Taken up again on {date}.", date=date), lang)
