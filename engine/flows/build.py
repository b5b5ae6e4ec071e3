"""The verdict on a build: the learner's code against the reference; and what all comparisons share.

Functions of an exercise, trees and a seed, which know nothing of terminals, of the current folder or
of a learner's store. The verdict on a fix is in `fixes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec.structs import replace

from engine.errors import SpecError
from engine.exam.targeted import crossed, small
from engine.judge.sampling import Plan, joined, most_looked_at, plan
from engine.run.concurrent import Future, run_both
from engine.run.jobs import Job, jobs_of
from engine.run.servers import Servers
from engine.run.types import Case, Outcome, Tree
from engine.spec.load import Catalogue

if TYPE_CHECKING:
    from engine.judge.verdict import Result, Verdict

T = TypeVar("T")
USUAL = "float64"  # what most learners compute in
Progress = Callable[[str], None]
Told = Callable[["Result", int, int], None]  # a check, its number, how many there are


def quiet(_: str) -> None:
    """Progress for nobody."""


def unheard(_: Result, __: int, ___: int) -> None:
    """Nobody listens."""


def component_probe(name: str, where: str) -> tuple[str, str]:
    """ "lm_head.forward" -> ("lm_head", "forward"). Raises SpecError."""
    component, dot, probe = name.partition(".")
    if not dot:
        raise SpecError(f"{name!r} is not of the form component.probe.", where=where)
    return component, probe


class Halted(Exception):
    """The code ran out of time, or printed without end, before anything could be measured."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.stopped)
        self.outcome = outcome


def dtype_of(servers: Servers, catalogue: Catalogue, tree: Tree, *, server: str = "learner") -> str:
    """The dtype of the learner's arrays, read once; float64 while it cannot be read."""
    probe = catalogue.contract.dtype
    if probe is None:
        return "float64"
    outcome = servers.outcomes(tree, [Job(probe.component, probe.probe, {})], server=server)[0]
    if outcome.stopped in ("timeout", "output"):
        raise Halted(outcome)  # it would only halt again
    found = outcome.values.get("dtype")
    return found if found in ("float32", "float64") else "float64"


def guessed(read: Callable[[], str], make: Callable[[str], T], guess: str = USUAL) -> tuple[str, T]:
    """The dtype that `read` finds, and what `make` makes for it; that begins with a guess meanwhile."""
    dtype, made = run_both(read, lambda: make(guess))
    return dtype, made if dtype == guess else make(dtype)


def grade_build(
    servers: Servers,
    catalogue: Catalogue,
    component: str,
    tree: Tree,
    seed: int,
    *,
    told: Told = unheard,
) -> Verdict:
    """Every build check of a component, the learner's tree against the reference.

    told: each check as it ends, in order, with its number and how many there are.
    """
    checks = [(component, check) for check in catalogue.build(component).checks]
    call_variants = ("", *catalogue.contract.modes, "reused")
    part = catalogue.contract.components[component]
    slow = most_looked_at(checks)[1] in part.costly

    def asked(dtype: str) -> Asked:
        made = plan(checks, seed=seed, dtype=dtype, call_variants=call_variants)
        steered = joined(
            small(checks, component, seed=seed, dtype=dtype, slow=slow),
            crossed(checks, component, part.settings, seed=seed, dtype=dtype, slow=slow),
        )
        coarse = catalogue.contract.coarse.get(dtype, "")
        cases, some = servers.cases_together(
            (made.draws, [""]), (steered.draws, ["", *filter(None, [coarse])])
        )
        idle = {i for i, case in enumerate(some) if case.declined}
        steered_cases = [case for case in some if not case.declined]
        return Asked(made, cases, steered.without(idle), steered_cases, dtype, coarse)

    begun = Future(lambda: guessed(lambda: dtype_of(servers, catalogue, tree), asked))
    from engine.exam.attack import beside_reference
    from engine.judge.verdict import also, judge_build  # brings numpy, while the cases are made

    try:
        _, (made, cases, steered, steered_cases, dtype, coarse) = begun()
    except Halted as halted:
        made, cases, *_ = asked(USUAL)
        unrun = [Outcome(stopped="not run")] * (len(made.draws) - 1)
        verdict = judge_build(made, cases, [halted.outcome, *unrun])
        for number, result in enumerate(verdict.results, 1):
            told(result, number, len(verdict.results))
        return verdict
    teller = Teller(made, cases, told)
    found = servers.outcomes(tree, jobs_of([*cases, *steered_cases]), arrived=teller.arrived)
    outcomes = [_of_a_build(outcome) for outcome in found]
    verdict = judge_build(made, cases, outcomes[: len(cases)])
    teller.rest(verdict)
    if not verdict.passed:
        return verdict
    rare = beside_reference(
        servers, tree, steered, steered_cases, outcomes[len(cases) :], dtype=dtype, coarse=coarse
    )
    verdict = also(verdict, rare, touched={component})
    for number, result in enumerate(verdict.results, 1):
        if not result.passed:
            told(result, number, len(verdict.results))
    return verdict


class Asked(NamedTuple):
    """The draws of a build with the reference's answers, and those in which sizes are as small as can be, or
    settings another regime's.
    """

    made: Plan
    cases: list[Case]
    steered: Plan
    steered_cases: list[Case]
    dtype: str
    coarse: str


def _of_a_build(outcome: Outcome) -> Outcome:
    """What becomes of numpy is no part of a build."""
    return replace(outcome, changed=tuple(name for name in outcome.changed if "." not in name))


class Teller:
    """Tells of each check as soon as all that it looks at has arrived, in the order that teaches."""

    def __init__(self, plan: Plan, cases: Sequence[Case], told: Told) -> None:
        self._plan, self._cases, self._told = plan, cases, told
        self._found: dict[int, Outcome] = {}
        self._next = 0
        self._lock = Lock()  # two children may answer at once
        from engine.judge.verdict import judge_check

        self._judge = judge_check

    def arrived(self, position: int, outcome: Outcome) -> None:
        """One measurement more."""
        if position >= len(self._cases):  # of a draw that is judged when all others have passed
            return
        with self._lock:
            self._found[position] = _of_a_build(outcome)
            while self._next < len(self._plan.checks):
                planned = self._plan.checks[self._next]
                if not self._found.keys() >= set(planned.draws):
                    return
                self._tell(self._judge(planned, self._cases, self._found))

    def rest(self, verdict: Verdict) -> None:
        """What has not been told, because something never arrived."""
        for result in verdict.results[self._next :]:
            self._tell(result)

    def _tell(self, result: Result) -> None:
        self._next += 1
        self._told(result, self._next, len(self._plan.checks))
