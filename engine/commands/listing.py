"""`engine list`, `show`, `status`, `next`: read only, always."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.commands.questions import still_open
from engine.commands.session import Session, said, title
from engine.learner.store import Attempt
from engine.observe.score import Bin, brier, calibration
from engine.spec.catalogue import Catalogue, packs


class Listed(msgspec.Struct, frozen=True):
    """One exercise in a list. `state`: new, predicted, open, failed, passed, closed or reset."""

    id: str
    kind: str
    pack: str
    phase: str
    component: str
    title: str
    state: str


class ListReport(msgspec.Struct, frozen=True):
    """`engine list`."""

    exercises: tuple[Listed, ...]


class ShowReport(msgspec.Struct, frozen=True):
    """`engine show`: the parts of an exercise that may be read now, in order: (name, text)."""

    id: str
    kind: str
    title: str
    parts: tuple[tuple[str, str], ...]


class Stated(msgspec.Struct, frozen=True):
    """One exercise and how far the learner is with it."""

    id: str
    kind: str
    phase: str
    state: str


class StatusReport(msgspec.Struct, frozen=True):
    """`engine status`."""

    learner: str
    home: str
    model: str
    exercises: tuple[Stated, ...]
    open_questions: tuple[tuple[str, int], ...]  # builds that passed, questions not answered yet
    open: str
    practice: str
    hints_taken: int
    calibration: tuple[Bin, ...]
    predictions: int
    brier: float | None


class NextReport(msgspec.Struct, frozen=True):
    """`engine next`: what to do now, and the command for it."""

    exercise: str
    kind: str
    title: str
    why: str
    command: str


def list_(session: Session | None, lang: str = "en") -> ListReport:
    """All exercises, with the learner's state where there is a learner."""
    if session is not None:
        states = _states(session.attempts())
        return ListReport(_listed(session.catalogue, session.learner.lang, states))
    found: list[Listed] = []
    for pack in sorted(packs()):
        found += _listed(Catalogue.find(pack), lang, {})
    return ListReport(tuple(found))


def _listed(catalogue: Catalogue, lang: str, states: Mapping[str, str]) -> tuple[Listed, ...]:
    return tuple(
        Listed(
            entry.id,
            entry.kind,
            entry.pack,
            entry.phase_number,
            entry.component,
            title(catalogue, entry, lang),
            states.get(entry.id, "new"),
        )
        for entry in catalogue.entries.values()
    )


def _states(found: list[Attempt]) -> dict[str, str]:
    """The state of each exercise; what was once closed stays so while nothing is open."""
    states: dict[str, str] = {}
    for attempt in found:
        if states.get(attempt.exercise) == "closed" and attempt.state != "open":
            continue
        states[attempt.exercise] = attempt.state
    return states


def pipeline_source(catalogue: Catalogue, pipeline: str) -> str:
    """The source of the probe that a break names as its pipeline, with the helper it starts with."""
    import ast

    from engine.code.syntax import parse

    component, _, probe = pipeline.partition(".")
    if not probe or component not in catalogue.folders:
        return ""
    text = (catalogue.folders[component] / "call.py").read_text("utf-8")
    lines = text.splitlines()
    for node in parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == probe:
            return "\n".join(lines[node.lineno - 1 : node.end_lineno])
    return ""


def show(session: Session | None, id: str, lang: str = "en") -> ShowReport:
    """The text of an exercise; of a break only what does not give it away, until it is closed."""
    if session is not None:
        catalogue, lang = session.catalogue, session.learner.lang
    else:
        pack, slash, _ = id.partition("/")
        catalogue = Catalogue.find(pack if slash else next(iter(sorted(packs())), ""))
    entry = catalogue.entry(id)
    if entry.kind == "build":
        return _show_build(catalogue, entry.id, lang)
    states = _states(session.attempts()) if session else {}
    state = states.get(entry.id, "new")
    return _show_break(catalogue, entry.id, lang, state)


def _show_build(catalogue: Catalogue, id: str, lang: str) -> ShowReport:
    spec = catalogue.build(id)

    def bullets(texts: tuple[dict[str, str], ...]) -> str:
        return "\n".join(f"- {said(text, lang)}" for text in texts)

    checks = "\n".join(f"{i}. {said(check.shows, lang)}" for i, check in enumerate(spec.checks, 1))
    parts = [
        ("objective", said(spec.objective, lang)),
        ("background", said(spec.background, lang)),
        ("edit", spec.edit),
        ("signature", spec.signature),
        ("constraints", bullets(spec.constraints)),
        ("pitfalls", bullets(spec.pitfalls)),
        ("checks", checks),
        ("insight", said(spec.insight, lang)),
        ("integration", said(spec.integration, lang)),
        ("use", said(spec.use, lang)),
        ("prerequisites", ", ".join(catalogue.prerequisites(id))),
        ("difficulty", f"{spec.difficulty} of 4"),
        ("time", f"{spec.minutes} min"),
        ("references", "\n".join(f"- {r.text} {r.url}".rstrip() for r in spec.references)),
        ("submit", f"engine submit-build {id}"),
    ]
    return ShowReport(id, "build", said(spec.title, lang), tuple(p for p in parts if p[1].strip()))


def _show_break(catalogue: Catalogue, id: str, lang: str, state: str) -> ShowReport:
    spec = catalogue.break_(id)
    asked = []
    for number, prediction in enumerate(spec.predictions, 1):
        unit = f" [{prediction.unit}]" if prediction.unit else ""
        asked.append(f"{number}. {said(prediction.ask, lang)}{unit}")
        asked += [f"   - {option.id}: {said(option.text, lang)}" for option in prediction.options]
    parts = [
        ("anchors", "\n".join(f"- {link.text} {link.url}".rstrip() for link in spec.anchors)),
        ("the_break", said(spec.the_break, lang)),
        ("pipeline", pipeline_source(catalogue, spec.pipeline)),
        ("predictions", "\n".join(asked)),
        ("time", f"{spec.minutes} min"),
    ]
    if state in ("open", "closed"):
        parts.append(("observe", "\n".join(f"- {said(text, lang)}" for text in spec.diagnostics)))
        parts.append(("symptom", said(spec.symptom, lang)))
    if state == "closed":
        parts += [
            ("hidden_cause", said(spec.hidden_cause, lang)),
            ("fix", said(spec.fix, lang)),
            ("why", said(spec.why, lang)),
            ("next", said(spec.next, lang)),
            ("sources", "\n".join(f"- {link.text} {link.url}".rstrip() for link in spec.sources)),
        ]
    else:
        parts.append(("start", f"engine break {id}"))
    return ShowReport(id, "break", said(spec.title, lang), tuple(p for p in parts if p[1].strip()))


def status(session: Session) -> StatusReport:
    """Where the learner stands, and how well their confidence fits."""
    found = session.attempts()
    states = _states(found)
    scored = [
        (one["confidence"], bool(one["right"]))
        for attempt in found
        for one in (attempt.last("observed") or {"scored": []})["scored"]
        if one["right"] is not None
    ]
    current = next((a for a in reversed(found) if a.state == "open"), None)
    return StatusReport(
        session.learner.settings.name,
        str(session.learner.home),
        str(session.learner.model),
        tuple(
            Stated(entry.id, entry.kind, entry.phase_number, states.get(entry.id, "new"))
            for entry in session.catalogue.entries.values()
        ),
        tuple(_open_questions(session, found)),
        current.exercise if current else "",
        str(session.learner.practice(current.exercise)) if current else "",
        len(current.all("hinted")) if current else 0,
        calibration(scored),
        len(scored),
        brier(scored),
    )


def _open_questions(session: Session, found: Sequence[Attempt]) -> Iterator[tuple[str, int]]:
    for attempt in found:
        entry = session.catalogue.entries.get(attempt.exercise)
        if entry is not None and entry.kind == "build" and attempt.state == "passed":
            waiting = still_open(session.catalogue.build(entry.id).questions, attempt)
            if waiting:
                yield entry.id, len(waiting)


def next_(session: Session) -> NextReport:
    """The open break, else the first exercise of the course that is not done and not blocked."""
    catalogue, lang = session.catalogue, session.learner.lang
    found = session.attempts()
    states = _states(found)
    current = next((a.exercise for a in reversed(found) if a.state == "open"), None)
    if current:
        entry = catalogue.entry(current)
        return NextReport(
            current, "break", title(catalogue, entry, lang), "open", "engine submit-fix"
        )
    for entry in catalogue.entries.values():
        if states.get(entry.id) in ("passed", "closed"):
            continue
        verb = "engine submit-build" if entry.kind == "build" else "engine break"
        why = "tried" if entry.id in states else "new"
        return NextReport(
            entry.id, entry.kind, title(catalogue, entry, lang), why, f"{verb} {entry.id}"
        )
    return NextReport("", "", "", "done", "engine list")
