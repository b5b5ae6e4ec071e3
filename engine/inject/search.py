"""Recipes -> candidates, in order; the first that the oracle accepts is the injection."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.code.changes import changed
from engine.code.source import Edit, Unencodable, apply_all, overlap
from engine.inject.deadcode import blemishes, tidied
from engine.inject.learner_code import Code
from engine.inject.oracle import Oracle, Trial
from engine.inject.proposals import Proposals
from engine.inject.proposers.space import Trace
from engine.run.types import Tree
from engine.spec.types import Recipe, Step

MAX_TRIALS = 300
EACH = 120  # trials of one recipe, after which the next has its turn
MORE = 8  # candidates that are tried after an accepted one that a reader would stumble over
LINES = 4  # changed lines, above which another candidate is looked for
GROWN = 6  # candidates of a step that the next step is tried on, when none has proved itself


class Candidate(msgspec.Struct, frozen=True):
    """Edits that belong together, and the proposer that found the last of them."""

    edits: tuple[Edit, ...]
    how: str

    @property
    def key(self) -> tuple[Edit, ...]:
        """The same for two that change the same."""
        return tuple(sorted(self.edits))


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
    """The first candidate that the oracle accepts, where nothing but this component runs, or else in
    what others share. Raises NotFound.

    trace: runs a probe with recording on, for role edits. only: proposers to use, all when empty.
    """
    search = Search(code, oracle, Proposals(code, trace), only)
    for far, recipe in itertools.product((False, True), recipes):
        search.turn()
        partial: list[Candidate] = [Candidate((), "")]
        for position, step in enumerate(recipe.steps):
            last = all(later.optional for later in recipe.steps[position + 1 :])
            more = position < len(recipe.steps) - 1
            grown: list[Candidate] = []
            for candidate, so_far, trial in search.measured(partial, step, far):
                if trial.accepted and last:
                    trial, finished = search.finished(candidate, trial)
                    if finished:
                        if finished.clean:
                            return finished.injection
                        continue
                search.note(candidate, trial)
                proved = set(step.proves) <= trial.met and (step.proves or trial.runs)
                if more and proved and so_far.edits != candidate.key and len(grown) < GROWN:
                    grown.append(candidate)
            partial = grown
    return search.best()


class Finished(msgspec.Struct, frozen=True):
    """An injection that breaks nothing else. `blemishes`: what a reader would stumble over, that
    healthy code had not.
    """

    injection: Injection
    blemishes: int

    @property
    def rank(self) -> tuple[int, int]:
        """The lower the better."""
        return self.blemishes, self.injection.changed_lines

    @property
    def clean(self) -> bool:
        """Whether nothing better is looked for."""
        return self.blemishes == 0 and self.injection.changed_lines <= LINES


class Search:
    """What has been tried, in one piece of code, and the best of it."""

    def __init__(
        self, code: Code, oracle: Oracle, proposer: Proposals, only: Sequence[str]
    ) -> None:
        self._code, self._oracle, self._proposer, self._only = code, oracle, proposer, only
        self._seen: dict[tuple[Edit, ...], Trial] = {}
        self._nearest: tuple[int, str] = (-1, "nothing that could be tried")
        self._best: Finished | None = None
        self._until = MAX_TRIALS
        self._turn = 0

    def turn(self) -> None:
        """The next recipe begins."""
        self._turn = self._oracle.tried + EACH

    def measured(
        self, partial: Sequence[Candidate], step: Step, far: bool
    ) -> Iterator[tuple[Candidate, Candidate, Trial]]:
        """The candidates of a step with the one that each extends, and whether the symptom is there.

        After the first of all, two are measured at a time.
        """
        extended = _extended(partial, step, self._proposer, far)
        while self._oracle.tried < min(self._until, self._turn):
            group: list[tuple[Candidate, Candidate]] = []
            fresh: dict[tuple[Edit, ...], Tree] = {}
            for candidate, so_far in extended:
                if self._only and candidate.how not in self._only:
                    continue
                if candidate.key not in self._seen and candidate.key not in fresh:
                    files = _applied(self._code, candidate)
                    if files is None:
                        continue
                    fresh[candidate.key] = self._code.tree.replaced(files)
                group.append((candidate, so_far))
                if len(fresh) == (2 if self._oracle.tried else 1):
                    break
            if not group:
                return
            if fresh:
                trials = self._oracle.shows([*fresh.values()])
                self._seen |= dict(zip(fresh, trials, strict=True))
            for candidate, so_far in group:
                yield candidate, so_far, self._seen[candidate.key]

    def finished(self, candidate: Candidate, shown: Trial) -> tuple[Trial, Finished | None]:
        """A candidate that shows the symptom, without what it leaves unused where that is verified
        too; None when it breaks something else. The best so far where it could not be better.
        """
        code, oracle = self._code, self._oracle
        files = apply_all(code.sources, candidate.edits)
        cleaner = _cleaner(code, candidate, files)
        as_it_is = self._made(files, candidate)
        tidy = self._made(cleaner, candidate) if cleaner else as_it_is
        if self._best and min(as_it_is.rank, tidy.rank) >= self._best.rank:
            return shown, self._best
        found, trial = as_it_is, None
        if cleaner:
            trial = oracle.try_(code.tree.replaced(cleaner))
        if trial and trial.accepted:
            found = tidy
        else:
            trial = oracle.spares(code.tree.replaced(files), shown)
        self._seen[candidate.key] = trial
        if not trial.accepted:
            return trial, None
        if self._best is None:
            self._until = min(MAX_TRIALS, oracle.tried + MORE)
        if self._best is None or found.rank < self._best.rank:
            self._best = found
        return trial, found

    def _made(self, files: dict[str, bytes], candidate: Candidate) -> Finished:
        """What a candidate is when it is accepted."""
        code = self._code
        blemished = sum(blemishes(code.sources[path], data) for path, data in files.items())
        lines = _lines(code, files)
        injection = Injection(files, candidate.how, lines, self._oracle.tried)
        return Finished(injection, max(0, blemished))

    def note(self, candidate: Candidate, trial: Trial) -> None:
        """Remember what came nearest."""
        rank = len(trial.met) + (10 if trial.sibling else 0)
        if rank > self._nearest[0]:
            self._nearest = (rank, f"{_place(self._code, candidate)}: {trial.reason}")

    def best(self) -> Injection:
        """The least bad of those that were accepted. Raises NotFound when none was."""
        if self._best:
            return self._best.injection
        raise NotFound(
            sorted(self._code.sources), self._nearest[1], self._oracle.tried, self._proposer.unfit
        )


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
    partial: Sequence[Candidate], step: Step, proposer: Proposals, far: bool
) -> Iterator[tuple[Candidate, Candidate]]:
    for so_far in partial:
        for edits, how in proposer.edits(step, far):
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
