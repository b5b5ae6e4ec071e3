"""Recipes -> candidates, in order; the first clean one that the oracle accepts is the injection.

A step may have to prove itself (`proves`) before the next is tried on top of it: a recipe of two steps
costs a sum of trials, not a product. The first candidate that is accepted need not win: where it leaves
dead code, or changes many lines, a few more are tried and the cleanest is kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.code.source import Edit, apply_all
from engine.errors import Message, Said
from engine.inject.candidates import Candidate, applied, changed_lines, cleaned, extended, place_of
from engine.inject.deadcode import dead_code_added
from engine.inject.learner_code import Code
from engine.inject.oracle import Oracle, Trial
from engine.inject.proposals import Proposals
from engine.inject.proposers.space import Trace
from engine.run.types import Tree
from engine.spec.types import Recipe, Step


class Limits(msgspec.Struct, frozen=True):
    """How long is searched.

    trials: of candidates in all. of_a_recipe: trials after which the next recipe has its turn, so that
    the last one, which needs no place, is reached. after_accepted: trials for a cleaner one, after an
    injection with dead code. lines: changed lines above which another candidate is looked for. beam:
    candidates of a step that the next step is tried on.
    """

    trials: int = 300
    of_a_recipe: int = 120
    after_accepted: int = 8
    lines: int = 4
    beam: int = 6


LIMITS = Limits()


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
        self, looked: Sequence[str], nearest: Said, tried: int, unfit: Sequence[str]
    ) -> None:
        super().__init__("no place was found where this bug can be put")
        self.looked = tuple(looked)
        self.nearest = nearest
        self.tried = tried
        self.unfit = tuple(unfit)


def inject(
    code: Code,
    recipes: Sequence[Recipe],
    oracle: Oracle,
    trace: Trace,
    *,
    only: Sequence[str] = (),
    limits: Limits = LIMITS,
) -> Injection:
    """The first candidate that the oracle accepts, where nothing but this component runs, or else in
    what others share. Raises NotFound.

    trace: runs a probe with recording on, for role edits. only: proposers to use, all when empty.
    """
    search = Search(code, oracle, Proposals(code, trace), only, limits)
    for shared, recipe in itertools.product((False, True), recipes):
        search.next_recipe()
        partial: list[Candidate] = [Candidate((), "")]
        for position, step in enumerate(recipe.steps):
            last = all(later.optional for later in recipe.steps[position + 1 :])
            more = position < len(recipe.steps) - 1
            grown: list[Candidate] = []
            for candidate, so_far, trial in search.measured(partial, step, shared):
                if trial.accepted and last:
                    trial, finished = search.finished(candidate, trial)
                    if finished:
                        if search.clean(finished):
                            return finished.injection
                        continue
                search.note(candidate, trial)
                proved = set(step.proves) <= trial.met and (step.proves or trial.runs)
                if more and proved and so_far.edits != candidate.key and len(grown) < limits.beam:
                    grown.append(candidate)
            partial = grown
    return search.best()


class Finished(msgspec.Struct, frozen=True):
    """An injection that breaks nothing else. `dead_code`: how much more of it there is than in healthy
    code.
    """

    injection: Injection
    dead_code: int

    @property
    def rank(self) -> tuple[int, int]:
        """The lower the better."""
        return self.dead_code, self.injection.changed_lines


class Search:
    """What has been tried, in one piece of code, and the best of it."""

    def __init__(
        self,
        code: Code,
        oracle: Oracle,
        proposals: Proposals,
        only: Sequence[str],
        limits: Limits,
    ) -> None:
        self._code, self._oracle, self._proposals, self._only = code, oracle, proposals, only
        self._limits = limits
        self._seen: dict[tuple[Edit, ...], Trial] = {}
        self._nearest: tuple[int, Said] = (-1, Message("nothing that could be tried"))
        self._best: Finished | None = None
        self._until = limits.trials
        self._recipe_until = 0

    def next_recipe(self) -> None:
        """The next recipe begins."""
        self._recipe_until = self._oracle.tried + self._limits.of_a_recipe

    def measured(
        self, partial: Sequence[Candidate], step: Step, shared: bool
    ) -> Iterator[tuple[Candidate, Candidate, Trial]]:
        """The candidates of a step with the one that each extends, and whether the symptom is there.

        After the first of all, two are measured at a time.
        """
        coming = extended(partial, step, self._proposals, shared)
        while self._oracle.tried < min(self._until, self._recipe_until):
            group: list[tuple[Candidate, Candidate]] = []
            fresh: dict[tuple[Edit, ...], Tree] = {}
            for candidate, so_far in coming:
                if self._only and candidate.how not in self._only:
                    continue
                if candidate.key not in self._seen and candidate.key not in fresh:
                    files = applied(self._code, candidate)
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
        cleaner = cleaned(code, candidate, files)
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
            self._until = min(self._limits.trials, oracle.tried + self._limits.after_accepted)
        if self._best is None or found.rank < self._best.rank:
            self._best = found
        return trial, found

    def _made(self, files: dict[str, bytes], candidate: Candidate) -> Finished:
        """What a candidate is when it is accepted."""
        code = self._code
        dead_code = sum(dead_code_added(code.sources[path], data) for path, data in files.items())
        lines = changed_lines(code, files)
        injection = Injection(files, candidate.how, lines, self._oracle.tried)
        return Finished(injection, max(0, dead_code))

    def clean(self, finished: Finished) -> bool:
        """Whether nothing better is looked for."""
        few = finished.injection.changed_lines <= self._limits.lines
        return finished.dead_code == 0 and few

    def note(self, candidate: Candidate, trial: Trial) -> None:
        """Remember what came nearest."""
        rank = len(trial.met) + (10 if trial.sibling else 0)
        if rank > self._nearest[0]:
            place = place_of(self._code, candidate)
            self._nearest = rank, Message("{place}: {reason}", place=place, reason=trial.reason)

    def best(self) -> Injection:
        """The least bad of those that were accepted. Raises NotFound when none was."""
        if self._best:
            return self._best.injection
        raise NotFound(
            sorted(self._code.sources), self._nearest[1], self._oracle.tried, self._proposals.unfit
        )
