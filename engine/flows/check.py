"""`engine check`: files in, a health report out.

find → build and trace each candidate → the one with most parts → experiments → facts → judge.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import LearnerCodeError, Message, NotApplicable
from engine.facts import candidates, experiments, trace
from engine.facts.experiments import Candidate
from engine.facts.pack import Declared, FactPack, Texts, told_why
from engine.facts.report import Fact, HealthReport, Raw, Taken, judged, placed
from engine.flows import sampling, training, unfound
from engine.run.forks import Answer, Folder, Forks

CANDIDATES = 6  # classes that are built, at most
ENOUGH = 8  # parts, from which on no other candidate is looked at
NEARLY = 7  # parts, from which on others get one try in a short time
LARGE = 2_000_000  # parameters, above which sizes must stand inside constructors
LIMIT, SHORT, FACTS_LIMIT = 25.0, 6.0, 60.0  # seconds for one job
SIZES = r"^(AssertionError|RuntimeError|ValueError|IndexError|NotBuilt)"


class Asked(msgspec.Struct, frozen=True):
    """What the caller says of the tree: lines for where finding fails, and what is wanted."""

    model: str = ""
    call: str = ""
    train: str = ""
    training: bool = True
    generation: bool = True


class Bench(msgspec.Struct, frozen=True):
    """The two interpreters, the pack, and the files; server, script_server: which hold these files."""

    learner: Forks
    facts: Forks
    pack: FactPack
    files: dict[str, bytes]
    server: str = "model"
    script_server: str = "script"
    lang: str = "en"
    texts: Mapping[str, Texts] = {}
    reasons: Mapping[str, str] = {}

    def titles(self, declared: Declared) -> dict[str, str]:
        """What a fact is about, in English and in the language of the bench."""
        known = self.texts.get(declared.id)
        return {"en": declared.title} | ({self.lang: known.title} if known else {})

    def value(self, id: str, measured: str) -> str:
        """What was measured of a fact, in the language of the bench."""
        return self.texts[id].value(measured) if id in self.texts else measured

    def why(self, reason: str, id: str = "") -> str:
        """Why something was not measured, in the language of the bench; id: of the fact."""
        return told_why(reason, id, self.texts, self.reasons)

    def ask(self, function: str, recorded: Mapping[str, Any], module: str = "facts") -> Any:
        """What one of the pack's functions makes of a recording. Raises LearnerCodeError."""
        job = {"module": module, "function": function, "recorded": recorded}
        answer = self.facts.run("pack", [job], FACTS_LIMIT)[0]
        failed = answer.data.get("failed")
        if answer.stopped or failed:
            raise BadFacts(str(failed or answer.stopped))
        return answer.data["facts"]


class BadFacts(Exception):
    """The pack's functions failed on a recording."""


class Tried(msgspec.Struct, frozen=True):
    """A candidate that was looked at: what it shows, or why it was not built."""

    candidate: Candidate
    parts: int
    why: str
    stopped: bool = False
    parameters: int = 0


def check(bench: Bench, asked: Asked, progress: Callable[[str], None]) -> HealthReport:
    """Raises NotApplicable when no model was found, built or imported."""
    started = time.monotonic()
    found, tried = chosen(bench, asked, progress)
    if found is None:
        raise unfound.no_model(bench, tried)
    progress("experiments on " + found.path)
    measured, recorded = observed(bench, found)
    raws = raw_facts(bench.ask("measure", recorded))
    summary = bench.ask("summary", recorded)
    script = training.script(bench, asked.train, found, progress) if asked.training else None
    sampler = sampling.sampler(bench, found, progress) if asked.generation else None
    for more in (script, sampler):
        raws += raw_facts(more.facts) if more else []
    facts = tuple(
        placed(judged(bench.pack, raw, bench.files), bench.files, found.path) for raw in raws
    )
    sizes = {name: int(summary.get(name, 0)) for name in ("layers", "width", "heads")}
    taken = Taken(
        file=found.path,
        cls=found.cls or found.expression,
        how=measured.how[:200],
        parameters=measured.parameters,
        training=script.what if script else "",
        generation=sampler.what if sampler else "",
        **sizes,
    )
    made_up = [*measured.notes, *(script.made_up if script else ())]
    return HealthReport(
        taken, ordered(facts), tuple(made_up[:40]), round(time.monotonic() - started, 1)
    )


def ordered(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Wrong ones first, each kind in the pack's order."""
    rank = {"WRONG": 0, "WARN": 1, "PASS": 2, "SKIP": 3}
    return tuple(sorted(facts, key=lambda fact: rank[fact.verdict]))


def chosen(
    bench: Bench, asked: Asked, progress: Callable[[str], None]
) -> tuple[Candidate | None, list[Tried]]:
    """The candidate with most parts found, never the first that runs."""
    if asked.model:
        options = [named_candidate(bench.files, asked)]
    else:
        options = candidates.classes(bench.files, bench.pack.find)[:CANDIDATES]
    tried: list[Tried] = []
    for option in options:
        if not option.likely and any(one.parts >= 1 for one in tried):
            break
        progress(f"building {option.path}:{option.cls or option.expression}")
        found = any(one.parts >= NEARLY for one in tried)
        one = looked_at(bench, option, SHORT if found else LIMIT)
        for other in () if found else others(one):
            if one.parts < 1 or one.parameters > LARGE:
                one = max(one, looked_at(bench, other), key=lambda it: (it.parts, -it.parameters))
        tried.append(one)
        if one.parts >= ENOUGH:
            break
    best = max(tried, key=lambda one: one.parts, default=None)
    return (best.candidate if best and best.parts >= 1 else None), tried


def others(tried: Tried) -> list[Candidate]:
    """Other sizes to try for a candidate that was not built for reasons of size, or is large all the same; at
    last without targets.
    """
    replace = msgspec.structs.replace
    if tried.parts >= 1:
        return [replace(tried.candidate, inner=True)] if tried.parameters > LARGE else []
    sizes = ("full", "larger", "inner", "own") if re.search(SIZES, tried.why) else ()
    return [replace(tried.candidate, **{how: True}) for how in (*sizes, "bare")]


def looked_at(bench: Bench, option: Candidate, limit: float = LIMIT) -> Tried:
    """Build a candidate and count its parts, in so many seconds."""
    job = experiments.job(bench.pack, option, (experiments.FIRST,))
    answer = bench.learner.run(bench.server, [job], limit)[0]
    why = why_not(answer, limit)
    if why:
        return Tried(option, -1, why, bool(answer.stopped))
    try:
        measured, blobs = trace.measured(answer.data)
        done = measured.experiments[0]
        if done.failed is not None:
            return Tried(option, 0, f"{done.failed.type}: {done.failed.message}")
        recorded = told(bench, option, trace.recorded(measured, blobs), ["first"])
        parts = int(bench.ask("count", recorded))
        return Tried(option, parts, "", parameters=measured.parameters)
    except (trace.BadAnswer, BadFacts) as error:
        return Tried(option, -1, f"what it answered cannot be used ({error})")


def why_not(answer: Answer, limit: float = LIMIT) -> str:
    """In a sentence, why a job gave nothing; "" where it did."""
    if answer.stopped == "timeout":
        return f"it took more than {limit:.0f} s"
    if answer.stopped == "output":
        return "it printed more than a megabyte"
    if answer.stopped:
        return f"its process ended ({answer.stopped})"
    try:
        failed = trace.failure_of(answer.data)
    except trace.BadAnswer as error:
        return f"what it answered cannot be used ({error})"
    if failed is None:
        return ""
    at = f" ({failed.at[-1][0]}:{failed.at[-1][1]})" if failed.at else ""
    return f"{failed.type}: {failed.message[:300]}{at}"


def told(
    bench: Bench, found: Candidate, recorded: dict[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    """A recording with what the pack's functions need to know beside it."""
    sizes = experiments.sizes(bench.pack, found)
    return {
        **recorded,
        "names": list(names),
        "vocabulary": sizes["vocabulary"],
        "context": sizes["context"],
    }


def observed(bench: Bench, found: Candidate) -> tuple[trace.Measured, dict[str, Any]]:
    """All experiments on the chosen model. Raises NotApplicable."""
    job = experiments.job(bench.pack, found, experiments.MODEL)
    answer = bench.learner.run(bench.server, [job], LIMIT)[0]
    why = why_not(answer)
    if why:
        raise NotApplicable(
            Message("The experiments on {file} ended early: {why}.", file=found.path, why=why),
            next=unfound.ONE_LINE,
        )
    try:
        measured, blobs = trace.measured(answer.data)
        recorded = trace.recorded(measured, blobs)
    except trace.BadAnswer as error:
        raise NotApplicable(
            Message("What {file} answered cannot be used ({error}).", file=found.path, error=error)
        ) from None
    names = [one.name for one in experiments.MODEL]
    dropping = (*experiments.DROPPING, *experiments.REPEATED)
    job = experiments.job(bench.pack, found, dropping, bench.pack.dropout)
    answer = bench.learner.run(bench.server, [job], LIMIT)[0]
    if not why_not(answer):
        try:
            more = trace.recorded(*trace.measured(answer.data))
        except trace.BadAnswer:
            return measured, told(bench, found, recorded, names)
        recorded = trace.joined(recorded, more)
        names += [one.name for one in dropping]
    return measured, told(bench, found, recorded, names)


def raw_facts(found: Any) -> list[Raw]:
    """Facts as the pack gave them. Raises LearnerCodeError where they have another form."""
    try:
        return msgspec.convert(found, list[Raw])
    except msgspec.ValidationError as error:
        raise LearnerCodeError(f"The pack's facts cannot be read: {error}.") from None


def named_candidate(files: Mapping[str, bytes], asked: Asked) -> Candidate:
    """The line `file.py:expression`, or `file.py:Class`. Raises NotApplicable."""
    path, _, expression = asked.model.partition(":")
    if not path.endswith((".py", ".ipynb")):
        path = path.replace(".", "/") + ".py"
    if path not in files:
        raise NotApplicable(
            Message("There is no file {file} in the tree.", file=path), next=unfound.ONE_LINE
        )
    if expression.isidentifier() and not asked.call:
        return Candidate(path, expression)
    return Candidate(path, "", expression, asked.call)


def folder(files: Mapping[str, bytes]) -> Folder:
    """Somebody's files, as their server holds them."""
    return Folder("/learner", ("",), files)


def root_of(path: Path) -> Path:
    """The folder of what was named."""
    return path if path.is_dir() else path.parent
