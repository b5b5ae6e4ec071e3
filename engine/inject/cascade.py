"""Recipes -> candidates, in order; the first that the oracle accepts is the injection."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.inject.oracle import Oracle, Trial
from engine.inject.proposers import Code, Proposer, Trace
from engine.inject.source import Edit, Unencodable, apply_all, changed, overlap
from engine.inject.tidy import blemishes, tidied
from engine.spec.types import Recipe, Step

MAX_TRIALS = 200
MORE = 8  # candidates that are tried after an accepted one that a reader would stumble over
LINES = 4  # changed lines, above which another candidate is looked for
GROWN = 6  # candidates of a step that the next step is tried on, when none has proved itself


class Candidate(msgspec.Struct, frozen=True):
    """Edits that belong together, and the proposer that found the last of them."""

    edits: tuple[Edit, ...]
    how: str


class Injection(msgspec.Struct, frozen=True):
    """A verified break: new bytes for some files, how it was found, what it changed."""

    files: Mapping[str, bytes]
    how: str
    changed_lines: int
    tried: int


class NotFound(Exception):
    """No candidate bites. `looked`: where; `nearest`: what came closest, and why it was refused;
    `unfit`: patterns that no code fits.
    """

    def __init__(
        self, looked: Sequence[str], nearest: str, tried: int, unfit: Sequence[str]
    ) -> None:
        super().__init__("no place was found where this bug can be put")
        self.looked = tuple(looked)
        self.nearest = nearest
        self.tried = tried
        self.unfit = tuple(unfit)


def inject(
    code: Code, recipes: Sequence[Recipe], oracle: Oracle, trace: Trace, *, only: Sequence[str] = ()
) -> Injection:
    """The first candidate that the oracle accepts. Raises NotFound.

    trace: runs a probe with recording on, for role edits. only: proposers to use, all when empty.
    """
    nearest: tuple[int, str] = (-1, "nothing that could be tried")
    seen: dict[tuple[Edit, ...], Trial] = {}
    proposer = Proposer(code, trace)
    best: tuple[tuple[int, int], Injection] | None = None
    until = MAX_TRIALS
    for recipe in recipes:
        partial: list[Candidate] = [Candidate((), "")]
        for position, step in enumerate(recipe.steps):
            last = all(later.optional for later in recipe.steps[position + 1 :])
            more = position < len(recipe.steps) - 1
            grown: list[Candidate] = []
            for candidate, so_far in _extended(partial, step, proposer):
                if only and candidate.how not in only:
                    continue
                key = tuple(sorted(candidate.edits))
                if key not in seen:
                    if oracle.tried >= until:
                        if best:
                            return best[1]
                        raise NotFound(
                            sorted(code.sources), nearest[1], oracle.tried, proposer.unfit
                        )
                    files = _applied(code, candidate)
                    if files is None:
                        continue
                    seen[key] = oracle.shows(code.tree.replaced(files))
                trial, finished = seen[key], None
                if trial.accepted and last:
                    trial, finished = _finished(code, candidate, oracle, trial)
                    seen[key] = trial
                if finished:
                    rank_, found = finished
                    if rank_[0] == 0 and found.changed_lines <= LINES:
                        return found
                    if best is None:
                        until = min(MAX_TRIALS, oracle.tried + MORE)
                    if best is None or rank_ < best[0]:
                        best = (rank_, found)
                    continue
                rank = len(trial.met) + (10 if trial.sibling else 0)
                if rank > nearest[0]:
                    nearest = (rank, f"{_place(code, candidate)}: {trial.reason}")
                proved = set(step.proves) <= trial.met and (step.proves or trial.runs)
                if more and proved and so_far.edits != key and len(grown) < GROWN:
                    grown.append(candidate)
            partial = grown
    if best:
        return best[1]
    raise NotFound(sorted(code.sources), nearest[1], oracle.tried, proposer.unfit)


def _finished(
    code: Code, candidate: Candidate, oracle: Oracle, shown: Trial
) -> tuple[Trial, tuple[tuple[int, int], Injection] | None]:
    """A candidate that shows the symptom, without what it leaves unused where that is verified too,
    and how much a reader would stumble over: (blemishes that healthy code had not, changed lines).
    None when it breaks something else.
    """
    files = apply_all(code.sources, candidate.edits)
    cleaner = _cleaner(code, candidate, files)
    trial = oracle.try_(code.tree.replaced(cleaner)) if cleaner else None
    if cleaner and trial and trial.accepted:
        files = cleaner
    else:
        trial = oracle.spares(code.tree.replaced(files), shown)
        if not trial.accepted:
            return trial, None
    blemished = sum(blemishes(code.sources[path], data) for path, data in files.items())
    lines = _lines(code, files)
    found = Injection(files, candidate.how, lines, oracle.tried)
    return trial, ((max(0, blemished), lines), found)


def _cleaner(
    code: Code, candidate: Candidate, files: Mapping[str, bytes]
) -> dict[str, bytes] | None:
    """The candidate without what it leaves unused, None when there is nothing of that kind."""
    extra = tidied(code.sources, candidate.edits, files)
    kept = [
        e
        for e in candidate.edits
        if not any(x.start <= e.start and e.end <= x.end and x.path == e.path for x in extra)
    ]
    tidy = Candidate(tuple(sorted({*kept, *extra})), candidate.how)
    return _applied(code, tidy) if extra and not overlap(tidy.edits) else None


def _extended(
    partial: Sequence[Candidate], step: Step, proposer: Proposer
) -> Iterator[tuple[Candidate, Candidate]]:
    for so_far in partial:
        for edits, how in proposer.edits(step):
            together = (*so_far.edits, *edits)
            if together and not overlap(together):
                yield Candidate(tuple(sorted(set(together))), how), so_far


def _applied(code: Code, candidate: Candidate) -> dict[str, bytes] | None:
    """The new files, or None when they do not parse, cannot be encoded or change nothing."""
    try:
        files = apply_all(code.sources, candidate.edits)
        for path, data in files.items():
            if changed(code.sources[path].data, data) == ():
                return None
    except (SyntaxError, ValueError, Unencodable):
        return None
    return files


def _place(code: Code, candidate: Candidate) -> str:
    edit = candidate.edits[0]
    line = code.sources[edit.path].data.count(b"\n", 0, edit.start) + 1
    return f"{edit.path}:{line}"


def _lines(code: Code, files: Mapping[str, bytes]) -> int:
    """The greater of lines removed and added, summed over hunks."""
    total = 0
    for path, data in files.items():
        old, new = apart(code.sources[path].data.splitlines(), data.splitlines())
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                total += max(b - a, d - c)
    return total


def apart(old: list[bytes], new: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Two lists of lines without what they begin and end with alike."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return old[start : len(old) - end], new[start : len(new) - end]
