"""The verdict on a build: the learner's code against the reference; and what all comparisons share.

Functions of an exercise, trees and a seed, which know nothing of terminals, of the current folder or
of a learner's store. The verdict on a fix is in `fixes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from engine.flows.measuring import USUAL, Halted, dtype_of, guessed
from engine.judge.level import PRACTICE, Level
from engine.judge.sampling import Plan, most_looked_at, once, plan
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import UNRUN, Case, Outcome, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import Check

if TYPE_CHECKING:
    from engine.judge.measured import Measured
    from engine.judge.result import Verdict


REPEATABLE = 1.0  # seconds of a measurement that is made again, to see whether it gives the same


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
) -> Verdict:
    """Every build check of a component, the learner's tree against the reference."""
    servers.exam = level.exam
    asked = Build(catalogue, component, tree, seed, level)
    try:
        build, made, cases = _sampled(servers, asked)
    except Halted as halted:
        return _halted(servers, asked, halted)
    measured = _measured(servers, build, made, cases)
    from engine.judge.verdict import (  # numpy, while cases are made
        judge_build,
        told_again,
        with_extra,
    )

    verdict = judge_build(measured)
    if not verdict.passed:
        verdict = told_again(verdict, _repeated(servers, build, verdict, measured))
    for attack in build.level.attacks:
        if verdict.passed:
            verdict = with_extra(verdict, attack(servers, build, measured), touched={component})
    return verdict


def _repeated(
    servers: Servers, build: Build, verdict: Verdict, measured: Measured
) -> tuple[Outcome, ...]:
    """The measurement that is told of first, twice more: the same each time, unless something is random."""
    first = verdict.failing
    if first is None or first.draw is None or first.difference is None:
        return ()
    if first.difference.aspect != "value" or measured.candidate[first.draw].seconds > REPEATABLE:
        return ()
    case = measured.cases[first.draw]
    jobs = [msgspec.structs.replace(job, seed=i) for i, job in enumerate(jobs_of([case, case]))]
    return tuple(servers.outcomes(build.tree, jobs))


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


def _measured(servers: Servers, build: Build, made: Plan, cases: Sequence[Case]) -> Measured:
    from engine.judge.measured import Measured

    by_draw = dict(zip(made.draws, cases, strict=True))
    found = servers.outcomes(build.tree, jobs_of(cases))
    outcomes = {draw: _of_a_build(one) for draw, one in zip(made.draws, found, strict=True)}
    return Measured(made, by_draw, outcomes)


def _halted(servers: Servers, build: Build, halted: Halted) -> Verdict:
    """The verdict on code that gave no answer before anything could be measured."""
    from engine.judge.measured import Measured
    from engine.judge.verdict import judge_build

    made = sample(build)
    cases = servers.cases(made.draws)
    unrun = [Outcome(stopped=UNRUN)] * (len(made.draws) - 1)
    outcomes = dict(zip(made.draws, [halted.outcome, *unrun], strict=True))
    by_draw = dict(zip(made.draws, cases, strict=True))
    return judge_build(Measured(made, by_draw, outcomes))


def _of_a_build(outcome: Outcome) -> Outcome:
    """What becomes of numpy is no part of a build."""
    return replace(outcome, changed=tuple(name for name in outcome.changed if "." not in name))
