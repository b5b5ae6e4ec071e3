"""What reading alone can tell of a pack of facts: its stories, its proofs, and what these name; and of the
builds of other packs that facts judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from engine.author.lint import (
    Problem,
    assignment_problems,
    blind_problems,
    story_problems,
    untold,
    walkthrough_problems,
)
from engine.author.stated_numbers import untied
from engine.errors import SpecError
from engine.inject import patterns
from engine.inject.sizes import SIZE
from engine.spec.catalogue import PROOF, Catalogue
from engine.spec.entry import Entry
from engine.spec.load import load
from engine.spec.packs import lender
from engine.spec.types import Comparison, FactBuild, FactPack, SpanEdit, Variant


def problems(catalogue: Catalogue, only: str | None = None) -> Iterator[Problem]:
    """Every slip of an author, with its file."""
    try:
        entries, pack = catalogue.entries, catalogue.facts
    except SpecError as error:
        yield Problem(error.where, f"{error.what} {error.next}".strip())
        return
    where = f"{catalogue.folder / 'pack.yaml'}:1:1"
    for id in pack.path:
        if id not in entries:
            yield Problem(where, f"`path` names {id!r}, which has no file.")
    yield from untold(where, {"title": pack.title, **pack.areas}, pack.languages)
    for entry in entries.values():
        if only in (None, entry.id, f"{entry.id}.proof"):
            yield from _entry_problems(catalogue, entry, pack)
    for id, file in catalogue.walkthroughs.items():
        if only in (None, id):
            functions = _functions(catalogue)
            yield from walkthrough_problems(file, pack.languages, functions)
    for id, file in catalogue.comparisons.items():
        if only in (None, id):
            yield from _comparison_problems(catalogue, file)


def _comparison_problems(catalogue: Catalogue, file: Path) -> Iterator[Problem]:
    try:
        spec = load(file, Comparison)
    except SpecError as error:
        yield Problem(error.where, f"{error.what} {error.next}".strip())
        return
    yield from untold(f"{file}:1:1", spec, catalogue.facts.languages)
    if spec.exchange not in _functions(catalogue):
        yield Problem(f"{file}:1:1", f"{spec.exchange} is no function of the pack.")
    if len(spec.versions) != 2:
        yield Problem(f"{file}:1:1", f"`versions` names {len(spec.versions)}, not two.")


def _functions(catalogue: Catalogue) -> list[str]:
    """module.function of all that the pack defines."""
    return [
        f"{file.stem}.{name}"
        for file in sorted(catalogue.folder.glob("*.py"))
        for name in re.findall(r"^def (\w+)\(", file.read_text("utf-8"), re.MULTILINE)
    ]


def build_problems(catalogue: Catalogue, only: str | None = None) -> Iterator[Problem]:
    """What is wrong with the builds that facts judge, of a pack with a contract."""
    for entry in catalogue.entries.values():
        if only in (None, entry.id) and catalogue.goes_by_facts(entry.id):
            yield from _build_problems(catalogue, entry)


def _build_problems(catalogue: Catalogue, entry: Entry) -> Iterator[Problem]:
    where = f"{entry.file}:1:1"
    try:
        spec = load(Path(entry.file), FactBuild)
        lent = lender(catalogue.folder / "pack.yaml")
        facts = {one.id for one in Catalogue.find(lent).facts.facts} if lent else set()
    except SpecError as error:
        yield Problem(error.where, f"{error.what} {error.next}".strip())
        return
    yield from untold(where, spec, catalogue.contract.languages)
    for id in sorted({*spec.needs, *spec.hints_for} - facts):
        yield Problem(where, f"{id} is no fact of the pack that breaks come from.")
    for what in untied(Path(entry.file), FactBuild):
        yield Problem(where, what)
    if spec.figures:
        yield Problem(where, "`figures` are measured by probes, which a build by facts has not.")
    yield from assignment_problems(where, spec)


def _entry_problems(catalogue: Catalogue, entry: Entry, pack: FactPack) -> Iterator[Problem]:
    story_file = Path(entry.file)
    where = f"{story_file}:1:1"
    try:
        story, proof = catalogue.story(entry.id), catalogue.proof(entry.id)
    except SpecError as error:
        yield Problem(error.where, f"{error.what} {error.next}".strip())
        return
    yield from untold(where, story, pack.languages)
    for what in (*story_problems(story), *blind_problems(story, pack.areas)):
        yield Problem(where, what)
    proof_file = story_file.with_name(story_file.stem + PROOF)
    for variant in proof.variants:
        for what in _variant_problems(variant, pack):
            yield Problem(f"{proof_file}:1:1", what)


def _variant_problems(variant: Variant, pack: FactPack) -> Iterator[str]:
    known = {fact.id for fact in pack.facts}
    for id in sorted({*variant.changes, *variant.healthy, *variant.also} - known):
        yield f"{id!r} is no fact of pack.yaml."
    for pattern in (*variant.changes.values(), *variant.healthy.values()):
        try:
            re.compile(pattern)
        except re.error as error:
            yield f"{pattern!r} is no regular expression: {error}."
    for way in variant.ways:
        for edit in way.edits:
            yield from _edit_problems(edit)


def _edit_problems(edit: SpanEdit) -> Iterator[str]:
    for code in (edit.find, *_statements(edit.replace)):
        try:
            patterns.parse(SIZE.sub("1", code) or "None")
        except SyntaxError as error:
            yield f"the pattern {code!r} is not Python: {error.msg}."
    if bool(edit.move) != bool(edit.to):
        yield f"an edit at {edit.at!r} has only one of `move` and `to`."
    if not (edit.find or edit.argument or edit.drop or edit.move):
        yield f"an edit at {edit.at!r} does nothing."


def _statements(replace: str) -> list[str]:
    """What stands in the place of a match, which may be several statements: each that begins a line."""
    return re.split(r"\n(?=\S)", replace)
