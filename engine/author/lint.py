"""What reading alone can tell of a pack: every slip of an author, with its place."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from engine.author import stated_numbers as figures
from engine.code.syntax import parse
from engine.errors import SpecError
from engine.flows import language, questions
from engine.inject import patterns
from engine.observe.arithmetic import evaluate
from engine.run.types import CALL_VARIANTS, LATE
from engine.spec.catalogue import Catalogue
from engine.spec.checks import spelled_out
from engine.spec.entry import Entry
from engine.spec.load import load
from engine.spec.recipes import probes_of_steps, roles_of_steps, steps_of
from engine.spec.texts import texts
from engine.spec.types import (
    BEFORE,
    Area,
    Assignment,
    Break,
    Build,
    Story,
    Walkthrough,
)

MAY_BE_EMPTY = ("along", "because", "export", "insight", "integration", "use", "model_answer")


class Problem(msgspec.Struct, frozen=True):
    """Something wrong with a spec: where (file:line:column) and what."""

    where: str
    what: str


def problems(catalogue: Catalogue, only: str | None = None) -> Iterator[Problem]:
    """What reading alone can tell of a pack, or of one of its exercises."""
    try:
        entries = catalogue.entries
        contract = catalogue.contract
    except SpecError as error:
        yield Problem(error.where, f"{error.what} {error.next}".strip())
        return
    pack_file = str(catalogue.folder / "pack.yaml")
    for id in contract.path:
        if id not in entries:
            yield Problem(f"{pack_file}:1:1", f"`path` names {id!r}, which has no file.")
    for name, part in contract.components.items():
        for used in part.uses:
            if used not in contract.components:
                yield Problem(f"{pack_file}:1:1", f"{name} uses {used!r}, which is no component.")
    yield from untold(f"{pack_file}:1:1", contract, contract.languages)
    for mode, roles in contract.modes.items():
        if mode in (*CALL_VARIANTS, LATE):
            yield Problem(f"{pack_file}:1:1", f"`modes`: {mode!r} is the engine's own word.")
        for role in sorted(set(roles) - contract.roles.keys()):
            yield Problem(f"{pack_file}:1:1", f"`modes` names {role!r}, which is no role.")
    if contract.updates and contract.updates not in contract.roles:
        yield Problem(
            f"{pack_file}:1:1", f"`updates` names {contract.updates!r}, which is no role."
        )
    try:
        known = _probes(catalogue)
    except SpecError as error:
        yield Problem(error.where, error.what)
        return
    for name, part in contract.components.items():
        named = ("costly", part.costly), ("seldom", part.seldom), ("settings", part.settings)
        for key, probes in named:
            for probe in sorted({f"{name}.{one}" for one in probes} - {*known}):
                yield Problem(f"{pack_file}:1:1", f"`{key}` names {probe}, which is no probe.")
    for entry in entries.values():
        if only in (None, entry.id) and not catalogue.goes_by_facts(entry.id):
            yield from _entry_problems(catalogue, entry, known)
    for id, file in catalogue.walkthroughs.items():
        if only in (None, id):
            called = [
                f"{component}.{name}"
                for component, folder in catalogue.folders.items()
                for name in _functions(folder / "call.py")
            ]
            yield from walkthrough_problems(file, contract.languages, called)


def _entry_problems(
    catalogue: Catalogue, entry: Entry, known: Collection[str]
) -> Iterator[Problem]:
    where = f"{entry.file}:1:1"
    kind: type[Build] | type[Break] = Build if entry.kind == "build" else Break
    try:
        spec = load(Path(entry.file), kind)
        if isinstance(spec, Build):
            spelled_out(spec.checks, entry.file)
    except SpecError as error:
        yield Problem(error.where, f"{error.what} {error.next}".strip())
        return
    if entry.component not in catalogue.contract.components:
        yield Problem(where, f"The folder {entry.component!r} is no component of pack.yaml.")
    yield from untold(where, spec, catalogue.contract.languages)
    for probe in _named_probes(entry, spec):
        if probe not in known:
            yield Problem(
                where, f"{probe} is not a function of call.py, cases.py and reference.py."
            )
    for what in figures.untied(Path(entry.file), kind):
        yield Problem(where, what)
    if isinstance(spec, Build):
        for id in sorted({*spec.hints_for} - {check.id for check in spec.checks}):
            yield Problem(where, f"`hints_for` names {id!r}, which is no check.")
        drawn = {regime for check in spec.checks for regime in check.regimes}
        for one in (spec.rounding, *(check.rounding for check in spec.checks)):
            for regime in sorted(
                {regime for regimes in one.values() for regime in regimes} - drawn
            ):
                yield Problem(where, f"`rounding` names {regime!r}, a regime that no check draws.")
        yield from assignment_problems(where, spec)
    if isinstance(spec, Break):
        for role in sorted(roles_of_steps(spec) - catalogue.contract.roles.keys()):
            yield Problem(where, f"a recipe names the role {role!r}, which pack.yaml has not.")
        for what in (*_break_problems(spec), *blind_problems(spec, catalogue.areas)):
            yield Problem(where, what)
        for change in (*spec.silencers, *spec.near_misses):
            if change.on not in [folder.name for folder in catalogue.model_folders()]:
                yield Problem(where, f"{change.name} is on {change.on!r}, no folder of models/.")


def assignment_problems(where: str, spec: Assignment) -> Iterator[Problem]:
    """What can be wrong with a build, whatever judges it."""
    for number in sorted({n for fit in spec.hints_for.values() for n in fit}):
        if not 1 <= number <= len(spec.hints):
            yield Problem(where, f"`hints_for` names hint {number} of {len(spec.hints)}.")
    for question in spec.questions:
        for what in dict.fromkeys(questions.slips(question)):
            yield Problem(where, f"question {question.id!r}: {what}")


def walkthrough_problems(
    file: Path, languages: Sequence[str], functions: Collection[str]
) -> Iterator[Problem]:
    """What is wrong with a walkthrough of a pack that has these functions."""
    where = f"{file}:1:1"
    try:
        spec = load(file, Walkthrough)
    except SpecError as error:
        yield Problem(error.where, f"{error.what} {error.next}".strip())
        return
    yield from untold(where, spec, languages)
    if spec.probe not in functions:
        yield Problem(where, f"{spec.probe} is no function of the pack.")
    try:
        words = language.vocabulary(spec)
    except KeyError as error:
        yield Problem(where, f"the grammar names the group {error}, which is not there.")
        return
    same = spec.same_word
    for sentence in (spec.text, same.one, same.other):
        for word in sorted(set(sentence.split()) - words.keys()):
            yield Problem(where, f"the language has no word {word!r}.")
    for sentence in (same.one, same.other):
        if same.word not in sentence.split():
            yield Problem(where, f"{same.word!r} is not in {sentence!r}.")


def _probes(catalogue: Catalogue) -> set[str]:
    """component.probe for every function that all three files of a component define.

    Raises SpecError for a file that is not Python.
    """
    found = set()
    for component, folder in catalogue.folders.items():
        files = (folder / file for file in ("call.py", "cases.py", "reference.py"))
        names = set.intersection(*(_functions(file) for file in files))
        found |= {f"{component}.{name}" for name in names}
    return found


def _functions(file: Path) -> set[str]:
    """The names of a file's functions; of nothing, as a walkthrough has no cases."""
    try:
        module = parse(file.read_bytes() if file.is_file() else b"")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        column = getattr(error, "offset", None) or 1
        where = f"{file}:{line}:{column}"
        raise SpecError(f"This is not Python: {error}.", where=where) from None
    return {node.name for node in module.body if isinstance(node, ast.FunctionDef)}


def _named_probes(entry: Entry, spec: Build | Break) -> Iterator[str]:
    yield from (figure.probe for figure in spec.figures.values() if figure.probe)
    if isinstance(spec, Build):
        yield from (f"{entry.component}.{check.probe}" for check in spec.checks)
        return
    yield from (need.probe for need in spec.needs)
    yield from (symptom.probe for symptom in spec.fingerprint)
    yield from (observed.probe for observed in spec.observe)
    yield from (f"{entry.component}.{check.probe}" for check in spec.judged_by)
    yield from (p.measured.probe for p in spec.predictions if p.measured)
    yield from sorted(probes_of_steps(spec))
    yield from (spec.pipeline,) if spec.pipeline else ()
    yield from spec.also_changes


def untold(where: str, spec: object, languages: Sequence[str]) -> Iterator[Problem]:
    """The texts of a spec that lack a language."""
    for path, text in texts(spec):
        missing = [lang for lang in languages if not text.get(lang, "").strip()]
        if missing and (text or path.rpartition(".")[2] not in MAY_BE_EMPTY):
            yield Problem(where, f"{path} has no text in {', '.join(missing)}.")


def story_problems(spec: Story) -> Iterator[str]:
    """What does not fit together in the texts of a break."""
    if spec.cause.right not in [option.id for option in spec.cause.options]:
        yield f"cause.right is {spec.cause.right!r}, which is none of its options."
    for option in spec.cause.options:
        if not option.because:
            yield f"cause option {option.id!r} does not say why (`because`)."
    for prediction in spec.predictions:
        if prediction.kind == "choice" and len(prediction.options) < 2:
            yield f"prediction {prediction.id!r} is a choice of fewer than two options."
        if prediction.kind == "number" and prediction.tolerance is None:
            yield f"prediction {prediction.id!r} is a number without a tolerance."
        if prediction.kind != "text" and prediction.measured is None:
            yield f"prediction {prediction.id!r} is not measured by anything."
    for lang, cause in spec.hidden_cause.items():
        for number, hint in enumerate(spec.hints, 1):
            if hint.get(lang, "").strip().lower() == cause.strip().lower():
                yield f"hint {number} is the hidden cause ({lang})."


def _break_problems(spec: Break) -> Iterator[str]:
    yield from story_problems(spec)
    for observed in spec.observe:
        for label, expression in observed.orientation.items():
            try:
                evaluate(expression)
            except ValueError as error:
                yield f"orientation {label!r}: {error}."
    for step in steps_of(spec.inject):
        if step.pattern:
            for code in (step.pattern.find, step.pattern.replace or step.pattern.find):
                try:
                    patterns.parse(code)
                except SyntaxError as error:
                    yield f"the pattern {code!r} is not Python: {error.msg}."
            if not step.pattern.replace and _is_statement(step.pattern.find):
                yield (
                    f"the pattern {step.pattern.find!r} is a statement, and an empty `replace` takes an item"
                    " out of a call or a sequence: write `pass`."
                )
    if not any(symptom.like != BEFORE for symptom in spec.fingerprint):
        yield "the fingerprint has nothing that differs from healthy code."


def blind_problems(spec: Story, areas: Mapping[str, Area]) -> Iterator[str]:
    """What a break lacks to be taken blind, or names that are not there."""
    if spec.blind is None:
        return
    if spec.area not in areas:
        yield f"`area` is {spec.area!r}, which is none of pack.yaml's areas."
    elif spec.mechanism not in [one.id for one in areas[spec.area].mechanisms]:
        yield f"`mechanism` is {spec.mechanism!r}, which is none of the area {spec.area}."
    for grafted, hints in ((spec.grafted, spec.hints), (spec.blind.grafted, spec.blind.hints)):
        for number in sorted({*grafted} - {str(n) for n in range(1, len(hints) + 1)}):
            yield f"`grafted` has a hint {number}, and there are {len(hints)}."


def _is_statement(pattern: str) -> bool:
    try:
        return isinstance(patterns.parse(pattern), ast.stmt)
    except SyntaxError:  # told elsewhere
        return False
