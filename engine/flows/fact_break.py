"""Where a bug goes in anybody's model: edits at the spans that were measured, accepted by what they change.

A candidate is accepted when exactly the declared facts change, to the declared values, on two draws of
weights and shapes; when something that comes out differs; and when what ran before the edit is bitwise the
same, so that nothing but the edit can be the reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from engine.code.source import Edit, Unencodable, apply_all
from engine.code.symbols import symbols_of, touched
from engine.code.syntax import walked
from engine.errors import LearnerCodeError, Message, NotApplicable, Said
from engine.facts.candidates import parsed
from engine.flows import check, health
from engine.flows.check import BadFacts, Bench
from engine.flows.health import Health, Target
from engine.flows.prefix import began_elsewhere, differs
from engine.inject.candidates import Candidate as Edits
from engine.inject.candidates import changed_lines, cleaned, place_of
from engine.inject.learner_code import Code
from engine.inject.lies import without_lies
from engine.inject.search import Injection
from engine.inject.spans import FILES, Where, edits_of
from engine.run.types import Tree
from engine.spec.types import Proof, Variant

Changes = Mapping[str, tuple[str | None, str | None]]  # fact -> what it was and what it became
MOST = {"run": 60, "script": 10, "sampling": 30}  # candidates that are measured


class Planned(msgspec.Struct, frozen=True):
    """A verified injection. healthy: the facts before it."""

    injection: Injection
    variant: int
    symbol: str
    file: str
    places: tuple[tuple[str, str], ...]
    changes: Changes
    healthy: Mapping[str, str | None]

    @property
    def bug(self) -> dict[str, object]:
        """Where it is and how it was put there, as plain data."""
        return {
            "file": self.file, "symbol": self.symbol, "how": self.injection.how,
            "places": [list(place) for place in self.places], "variant": self.variant,
            "facts": {name: list(pair) for name, pair in self.changes.items()},
            "healthy": dict(self.healthy),
        }  # fmt: skip


def plan(
    bench: Bench,
    target: Target,
    proof: Proof,
    lies: Sequence[str],
    progress: Callable[[Said], None] = lambda _: None,
) -> Planned:
    """The first candidate of the first variant that is accepted. Raises NotApplicable, with what was in the
    way of the first variant that the tree has the parts for, else of the first.
    """
    why: list[Said] = []
    near: list[Said] = []
    for number, variant in enumerate(proof.variants):
        reason = unfit(target, variant)
        if reason:
            why.append(reason)
            continue
        before = health.measured(bench, target, variant.observe)
        parts = health.places(bench, before, variant.observe)
        reason = unhealthy(before, variant) or partless(parts, variant)
        if reason:
            why.append(reason)
            continue
        found = _searched(bench, target, variant, (before, parts), lies, progress)
        if isinstance(found, Planned):
            return msgspec.structs.replace(found, variant=number)
        near.append(found)
    raise NotApplicable(
        Message("This bug cannot be put into this code: {why}.", why=(near or why)[0])
    )


def unfit(target: Target, variant: Variant) -> Said:
    """Why a tree has nothing that a variant could break; "" where it has."""
    if variant.observe == "script" and not target.script:
        return Message("no training script was found that makes steps")
    if variant.observe == "sampling" and target.sampler is None:
        return Message("no sampler was found that can be called")
    return ""


def unhealthy(before: Health, variant: Variant) -> Said:
    """The first declared fact that is not there, or not as it must be; "" where all are."""
    for id in variant.changes:
        fact = before.facts[id]
        if fact.value is None:
            why = before.told[id] or Message("not measured")
            return Message("{fact}: {why}", fact=fact.title, why=why)
        if fact.verdict == "WRONG" or re.fullmatch(variant.changes[id], fact.value):
            return Message("{fact}: it is {value} already", fact=fact.title, value=before.told[id])
        if not re.fullmatch(variant.healthy.get(id, ".*"), fact.value) or fact.verdict != "PASS":
            return Message("{fact}: it is {value}", fact=fact.title, value=before.told[id])
    return ""


def partless(parts: health.Places, variant: Variant) -> Said:
    """Whether every way needs a part that was not seen; "" where one does not."""
    for way in variant.ways:
        named = {one for edit in way.edits for one in (edit.at, edit.to) if one not in ("", FILES)}
        if all(parts.get(one) for one in named):
            return ""
    return Message("there is no place for it in the code that runs")


def _searched(
    bench: Bench,
    target: Target,
    variant: Variant,
    seen: tuple[Health, health.Places],
    lies: Sequence[str],
    progress: Callable[[Said], None],
) -> Planned | Said:
    before, parts = seen
    code = Code(Tree("/learner", ("",), dict(bench.files), {}), {})
    where = where_of(bench, parts, code)
    nearest: Said = Message("no place for it was found")
    tried = 0
    for way in variant.ways:
        for edits in edits_of(where, way):
            files = _applied(code, edits)
            if files is None:
                continue
            if tried == MOST[variant.observe]:
                return nearest
            tried += 1
            progress(Message("looking for a place for the bug: {tried} tried", tried=tried))
            files = {p: without_lies(p, bench.files[p], data, lies) for p, data in files.items()}
            changes, refused = measured_again(bench, target, variant, before, files)
            if not refused:
                return planned(code, before, files, changes, tried)
            place = place_of(code, Edits(edits, "span"))
            nearest = Message("{place}: {reason}", place=place, reason=refused)
    return nearest


def where_of(bench: Bench, places: health.Places, code: Code) -> Where:
    """Spans by part, and the files that ran: those first in which most happened, then what they import."""
    ran: dict[str, int] = {}
    for calls in places.values():
        for call in calls:
            for span in call:
                ran[span[0]] = ran.get(span[0], 0) + 1
    order = sorted(ran, key=lambda path: -ran[path])
    for path in order:  # grows
        order += [one for one in imported(code, path) if one not in order]
    meanings = {
        pattern: value[1:]
        for pattern, value, _ in bench.pack.names
        if isinstance(value, str) and value.startswith("$")
    }
    return Where(code.sources, places, order, meanings)  # type: ignore[arg-type]


def imported(code: Code, path: str) -> list[str]:
    """The tree's own files that a file imports, by the names of its imports."""
    if path not in code.sources:
        return []
    names: set[str] = set()
    for node in walked(code.sources[path].module):
        if isinstance(node, ast.ImportFrom):
            names |= {*(node.module or "").split("."), *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {part for alias in node.names for part in alias.name.split(".")}
    return [one for one in code.sources if PurePosixPath(one).stem in names]


def _applied(code: Code, edits: Sequence[Edit]) -> dict[str, bytes] | None:
    """The new files, without what the edits leave unused; None where they do not parse or change nothing."""
    try:
        files = apply_all(code.sources, edits)
    except (Unencodable, ValueError):
        return None
    if any(parsed(data) is None or data == code.sources[p].data for p, data in files.items()):
        return None
    return cleaned(code, Edits(tuple(edits), "span"), files) or files


def prepare(bench: Bench, *, script: bool) -> None:
    """Have the servers for edited trees made ready while the healthy one is measured."""
    tree = check.folder(bench.files)
    bench.learner.hold("candidate", tree)
    if script:
        bench.learner.hold("candidate-script", tree, "optimizer")


def measured_again(
    bench: Bench,
    target: Target,
    variant: Variant,
    before: Health,
    files: Mapping[str, bytes],
) -> tuple[Changes, Said]:
    """What an edit changes, measured in a process of its own, and why it is refused; "" where it is not."""
    tree = {**bench.files, **files}
    held = msgspec.structs.replace(
        bench, files=tree, server="candidate", script_server="candidate-script"
    )
    prepare(held, script=variant.observe == "script")
    try:
        after = health.measured(held, target, variant.observe)
    except (NotApplicable, LearnerCodeError, BadFacts) as error:
        return {}, Message("it cannot be measured any more ({error})", error=error)
    changes = {
        id: (value, after.facts[id].value)
        for id, value in before.values().items()
        if after.facts[id].value != value
    }
    return changes, refusal(variant, changes) or _unproven(bench, before, after, files)


def refusal(variant: Variant, changes: Changes) -> Said:
    """The first fact that did not become what is declared, or that changed and is not declared; "" none."""
    for id, pattern in variant.changes.items():
        value = changes.get(id, (None, None))[1]
        if id not in changes:
            return Message("{fact} stays as it was", fact=id)
        if value is None or not re.fullmatch(pattern, value):
            return Message("{fact} becomes {value}", fact=id, value=str(value))
    for id in changes:
        if id not in variant.changes and id not in variant.also:
            old, new = changes[id]
            return Message(
                "{fact} changes, too, from {old} to {new}", fact=id, old=str(old), new=str(new)
            )
    return ""


def _unproven(bench: Bench, before: Health, after: Health, files: Mapping[str, bytes]) -> Said:
    """Why a change of facts is not enough: nothing that comes out differs, or it began elsewhere."""
    if not differs(before.recorded, after.recorded):
        return Message("nothing that comes out differs")
    lines = {(path, n) for path, data in files.items() for n in touched(bench.files[path], data)}
    if began_elsewhere(before.recorded, after.recorded, lines):
        return Message("something else differs before it")
    return ""


def planned(
    code: Code, before: Health, files: Mapping[str, bytes], changes: Changes, tried: int
) -> Planned:
    """The accepted candidate, and where it stands."""
    lines = changed_lines(code, dict(files))
    places = [
        (path, symbol)
        for path, data in files.items()
        for symbol in symbols_of(code.sources[path].module, code.tree.files[path], data) or [""]
    ]
    file, symbol = places[0]
    injection = Injection(dict(files), "span", lines, tried)
    return Planned(injection, 0, symbol, file, tuple(places), changes, before.values())
