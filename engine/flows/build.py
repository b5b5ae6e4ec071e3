"""The verdict on a build: the learner's code against the reference; and what all comparisons share.

Functions of an exercise, trees and a seed, which know nothing of terminals, of the current folder or
of a learner's store. The verdict on a fix is in `fixes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from engine.flows.measuring import USUAL, Halted, dtype_of, guessed
from engine.judge.level import PRACTICE, Level
from engine.judge.sampling import Plan, Planned, most_looked_at, once, plan
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Case, Draw, Outcome, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import Check

if TYPE_CHECKING:
    from engine.judge.measured import Measured
    from engine.judge.verdict import Result, Verdict

OnCheck = Callable[["Result", int, int], None]  # a check, its number, how many there are


def unheard(_: Result, __: int, ___: int) -> None:
    """Nobody listens."""


class Build(msgspec.Struct, frozen=True):
    """What is judged: a component of a tree, by the checks of its build."""

    catalogue: Catalogue
    component: str
    tree: Tree
    seed: int
    level: Level
    dtype: str = USUAL

    @property
    def checks(self) -> list[tuple[str, Check]]:
        """The checks of the build, each with its component."""
        return [(self.component, check) for check in self.catalogue.build(self.component).checks]

    @property
    def slow(self) -> bool:
        """Whether the probe that most checks look at takes long."""
        part = self.catalogue.contract.components[self.component]
        return most_looked_at(self.checks)[1] in part.costly


def grade_build(
    servers: Servers,
    catalogue: Catalogue,
    component: str,
    tree: Tree,
    seed: int,
    level: Level = PRACTICE,
    *,
    on_check: OnCheck = unheard,
) -> Verdict:
    """Every build check of a component, the learner's tree against the reference.

    on_check: called with each check as it ends, in order, with its number and how many there are.
    """
    servers.exam = level.exam
    asked = Build(catalogue, component, tree, seed, level)
    reporter = Reporter(on_check)
    try:
        build, made, cases = _sampled(servers, asked)
    except Halted as halted:
        return _halted(servers, asked, halted, reporter)
    measured = _measured(servers, build, made, cases, reporter)
    from engine.judge.verdict import judge_build, with_extra  # brings numpy, while cases are made

    verdict = judge_build(measured)
    reporter.rest(verdict)
    for attack in build.level.attacks:
        if verdict.passed:
            verdict = with_extra(verdict, attack(servers, build, measured), touched={component})
            reporter.failures(verdict)
    return verdict


def _sampled(servers: Servers, build: Build) -> tuple[Build, Plan, list[Case]]:
    """The draws with the reference's answers, made for the usual dtype while the learner's is read.

    Raises Halted.
    """

    def asked(dtype: str) -> tuple[Build, Plan, list[Case]]:
        made = sample(msgspec.structs.replace(build, dtype=dtype))
        return msgspec.structs.replace(build, dtype=dtype), made, servers.cases(made.draws)

    def read() -> str:
        return dtype_of(servers, build.catalogue, build.tree)

    return guessed(read, asked)[1]


def sample(build: Build) -> Plan:
    """Each regime of each check as often as the check says, called in the ways that a contract promises; at
    practice once, where a probe takes long.
    """
    variants = ("", *build.catalogue.contract.modes, "reused")
    slow = build.catalogue.contract.components[build.component].costly
    checks = [
        pair if build.level.draws > 1 or pair[1].probe not in slow else once([pair])[0]
        for pair in build.checks
    ]
    return plan(checks, seed=build.seed, dtype=build.dtype, call_variants=variants)


def _measured(
    servers: Servers, build: Build, made: Plan, cases: Sequence[Case], reporter: Reporter
) -> Measured:
    from engine.judge.measured import Measured

    by_draw = dict(zip(made.draws, cases, strict=True))
    reporter.begin(made, by_draw)
    found = servers.outcomes(build.tree, jobs_of(cases), arrived=reporter.arrived)
    outcomes = {draw: _of_a_build(one) for draw, one in zip(made.draws, found, strict=True)}
    return Measured(made, by_draw, outcomes)


def _halted(servers: Servers, build: Build, halted: Halted, reporter: Reporter) -> Verdict:
    """The verdict on code that gave no answer before anything could be measured."""
    from engine.judge.measured import Measured
    from engine.judge.verdict import judge_build

    made = sample(build)
    cases = servers.cases(made.draws)
    unrun = [Outcome(stopped="not run")] * (len(made.draws) - 1)
    outcomes = dict(zip(made.draws, [halted.outcome, *unrun], strict=True))
    by_draw = dict(zip(made.draws, cases, strict=True))
    verdict = judge_build(Measured(made, by_draw, outcomes))
    reporter.rest(verdict)
    return verdict


def _of_a_build(outcome: Outcome) -> Outcome:
    """What becomes of numpy is no part of a build."""
    return replace(outcome, changed=tuple(name for name in outcome.changed if "." not in name))


class Reporter:
    """Tells of each check as soon as all that it looks at has arrived, in the order that teaches."""

    def __init__(self, on_check: OnCheck) -> None:
        self._on_check = on_check
        self._checks: Sequence[Planned] = ()
        self._draws: Sequence[Draw] = ()
        self._cases: Mapping[Draw, Case] = {}
        self._found: dict[Draw, Outcome] = {}
        self._next = 0
        self._lock = Lock()  # two children may answer at once

    def begin(self, plan: Plan, cases: Mapping[Draw, Case]) -> None:
        """What is going to arrive."""
        self._checks, self._draws, self._cases = plan.checks, plan.draws, cases

    def arrived(self, position: int, outcome: Outcome) -> None:
        """One measurement more."""
        from engine.judge.verdict import judge_check

        with self._lock:
            self._found[self._draws[position]] = _of_a_build(outcome)
            while self._next < len(self._checks):
                planned = self._checks[self._next]
                if not self._found.keys() >= set(planned.draws):
                    return
                self._tell(judge_check(planned, self._cases, self._found), len(self._checks))

    def rest(self, verdict: Verdict) -> None:
        """What has not been told, because something never arrived."""
        for result in verdict.results[self._next :]:
            self._tell(result, len(verdict.results))

    def failures(self, verdict: Verdict) -> None:
        """The checks that failed after all, in further measurements."""
        for number, result in enumerate(verdict.results, 1):
            if not result.passed:
                self._on_check(result, number, len(verdict.results))

    def _tell(self, result: Result, of: int) -> None:
        self._next += 1
        self._on_check(result, self._next, of)
