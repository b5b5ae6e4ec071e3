"""`engine check`: what is wrong with a model that nobody described."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from engine.commands import interpreters
from engine.commands.interpreters import pack_folder
from engine.errors import Message, NotApplicable, Said, UsageError
from engine.facts import files, pack
from engine.facts.report import Fact, HealthReport
from engine.flows import check, unfound
from engine.flows.check import Asked as Asked
from engine.learner.learner import current_folder
from engine.learner.lines import Lines, lines


def language(path: Path, named: str) -> str:
    """The language of the report: the one that is named, else the one of `learner.yaml`. Raises UsageError
    and SpecError.
    """
    return named or lines(check.root_of((current_folder() / path).resolve())).lang


def texts(language: str) -> dict[str, pack.Texts]:
    """The facts in a language, where they are not in English. Raises UsageError and SpecError."""
    return pack.texts(pack_folder(), language)


def reasons(language: str) -> dict[str, str]:
    """Why facts are not measured, in a language that is not English. Raises UsageError and SpecError."""
    return pack.reasons(pack_folder(), language)


def run(
    path: Path,
    asked: Asked,
    *,
    python: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> HealthReport:
    """Raises UsageError, SpecError, NotApplicable and LearnerCodeError."""
    started, path = time.monotonic(), (current_folder() / path).resolve()
    if not path.exists():
        raise UsageError(Message("There is no {path}.", path=path), next="engine check PATH")
    told = lines(check.root_of(path))
    asked, python = with_lines(asked, told), python or told.python
    read = files.read(told.root)
    if not any(name.endswith((".py", ".ipynb")) for name in read):
        raise NotApplicable(
            Message("There is no Python file in {path}.", path=path), next=unfound.ONE_LINE
        )
    with interpreters.opened(interpreters.Asked(told.root, python, pack_folder())) as both:
        bench = both.bench(read, script=asked.training)
        report = check.check(bench, asked, progress)
    return taking(report, time.monotonic() - started)


def with_lines(asked: Asked, told: Lines) -> Asked:
    """What was asked; where nothing was, what `learner.yaml` says. A call belongs to its model. Raises
    UsageError.
    """
    if asked.call and not (asked.model or told.model):
        raise UsageError(Message("--call is of use only with a model."), next=unfound.ONE_LINE)
    return msgspec.structs.replace(
        asked,
        model=asked.model or told.model,
        call=asked.call or ("" if asked.model else told.call),
        train=asked.train or told.train,
    )


def taking(report: HealthReport, seconds: float) -> HealthReport:
    return msgspec.structs.replace(report, took_s=round(seconds, 1))


def selected(report: HealthReport, wanted: list[str]) -> HealthReport:
    """Only these facts. Raises UsageError."""
    known = {fact.id for fact in report.facts}
    for name in wanted:
        if name not in known:
            raise no_fact(name, known)
    facts: tuple[Fact, ...] = tuple(fact for fact in report.facts if fact.id in wanted)
    return msgspec.structs.replace(report, facts=facts)


def no_fact(name: str, known: Iterable[str]) -> UsageError:
    return UsageError(
        Message("There is no fact {name!r}.", name=name),
        next=Message("Facts: {facts}.", facts=", ".join(sorted(known))),
    )


def explain(name: str, language: str = "en") -> Said:
    """What a fact is. Raises UsageError and SpecError."""
    facts = {fact.id: fact for fact in pack.load(pack_folder()).facts}
    if name not in facts:
        raise no_fact(name, facts)
    fact = facts[name]
    told = texts(language).get(name)
    said = told or fact
    names = told.wrong if told else {}
    wrong = [f"  {value}: {names.get(bug, bug)}" for value, bug in fact.wrong.items()]
    head = Message(
        "{id}: {title}. Expected: {expected}.", id=name, title=said.title, expected=said.expected
    )
    lines: list[Said] = [head]
    lines += [Message("Values that are wrong:"), *wrong] if wrong else []
    return Message.joined(
        "\n", [*lines, said.means, Message("See it yourself: {how}", how=said.see)]
    )
