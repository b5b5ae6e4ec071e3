"""The text of an exercise; of a break only what does not give it away, until it is closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.errors import Message, Said
from engine.flows.answers import question_of
from engine.flows.hints import filled
from engine.flows.pipeline import pipeline_source
from engine.spec.catalogue import Catalogue
from engine.spec.texts import said
from engine.spec.types import Assignment, Build, FactBuild, Link, Story


class ShowReport(msgspec.Struct, frozen=True):
    """`engine show`: the parts of an exercise that may be read now, in order: (name, text)."""

    id: str
    kind: str
    title: str
    parts: tuple[tuple[str, Said], ...]


def show_build(catalogue: Catalogue, id: str, lang: str) -> ShowReport:
    """All of a build exercise."""
    spec = catalogue.assignment(id)

    def bullets(texts: tuple[dict[str, str], ...]) -> str:
        return "\n".join(f"- {said(text, lang)}" for text in texts)

    checks = "\n".join(f"{i}. {text}" for i, text in enumerate(_checks(catalogue, spec, lang), 1))
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
        ("difficulty", Message("{difficulty} of 4", difficulty=spec.difficulty)),
        ("time", Message("{minutes} min", minutes=spec.minutes)),
        ("references", links_of(spec.references, lang)),
        ("submit", f"engine submit-build {id}"),
    ]
    return ShowReport(id, "build", said(spec.title, lang), tuple(p for p in parts if p[1].strip()))


def _checks(catalogue: Catalogue, spec: Assignment, lang: str) -> list[str]:
    """What is looked at, in words: checks, or the facts that have to be seen."""
    if isinstance(spec, Build):
        return [said(check.shows, lang) for check in spec.checks]
    from engine.facts import pack

    assert isinstance(spec, FactBuild)
    assert catalogue.factual is not None
    titles = {one.id: one.title for one in catalogue.factual.facts.facts}
    texts = pack.texts(catalogue.factual.folder, lang)
    return [texts[id].title if id in texts else titles[id] for id in spec.needs]


def show_break(
    catalogue: Catalogue, id: str, lang: str, state: str, known: Mapping[str, Any] = {}
) -> ShowReport:
    """A break: its symptom once it has been put into the learner's code, its cause once it is closed. known:
    of the bug in this learner's code.
    """
    spec = catalogue.story(id)
    parts = [
        ("anchors", links_of(spec.anchors, lang)),
        ("the_break", said(spec.the_break, lang)),
        ("pipeline", pipeline_source(catalogue, id)),
        ("predictions", _asked(spec, lang)),
        ("time", Message("{minutes} min", minutes=spec.minutes)),
    ]
    if state in ("open", "closed"):
        parts.append(
            ("observe", "\n".join(f"- {filled(text, known, lang)}" for text in spec.diagnostics))
        )
        parts.append(("symptom", filled(spec.symptom, known, lang)))
    if state == "closed":
        parts += [
            ("hidden_cause", filled(spec.hidden_cause, known, lang)),
            ("fix", said(spec.fix, lang)),
            ("why", filled(spec.why, known, lang)),
            ("next", said(spec.next, lang)),
            ("sources", links_of(spec.sources, lang)),
        ]
    else:
        parts.append(("start", f"engine break {id}"))
    return ShowReport(id, "break", said(spec.title, lang), tuple(p for p in parts if p[1].strip()))


def show_blind(catalogue: Catalogue, id: str, name: str, title: str, lang: str) -> ShowReport:
    """A break that somebody has taken blind: its situation, and nothing else. name: its handle."""
    blind = catalogue.story(id).blind
    story = said(blind.story, lang) if blind else ""
    parts = (("the_break", story), ("observe", "engine observe"), ("submit", "engine submit-fix"))
    return ShowReport(name, "break", title, parts)


def _asked(spec: Story, lang: str) -> str:
    asked = []
    for number, prediction in enumerate(spec.predictions, 1):
        asked.append(f"{number}. {prediction.id}: {question_of(prediction, lang)}")
        asked += [f"   - {option.id}: {said(option.text, lang)}" for option in prediction.options]
    return "\n".join(asked)


def links_of(links: tuple[Link, ...], lang: str) -> str:
    """Sources, a line each."""
    told = [
        (link.text if isinstance(link.text, str) else said(link.text, lang), link.url)
        for link in links
    ]
    return "\n".join(f"- {text} {url}".rstrip() for text, url in told)
