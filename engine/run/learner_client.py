"""Asks learner servers for outcomes: what a tree does on given inputs.

Two processors have work: many jobs of one tree are shared by two children, and two trees are tried at the
same time. One server a tree: those that must not know of each other are given names of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from engine.run.concurrent import run_both, run_partitioned
from engine.run.decode import outcome_of, stopped_of
from engine.run.jobs import Job
from engine.run.pool import SECOND, ServerPool, second
from engine.run.types import (
    CALL_VARIANTS,
    EXAM_VARIANTS,
    LATE,
    PLAIN_RUN,
    UNRUN,
    Outcome,
    RunOptions,
    Tree,
)

RERUNS = 2  # how often the rest of a batch is taken up again after a child died
LATE_COST = 64  # as many ordinary jobs take as long as one in that call variant
Arrived = Callable[[int, Outcome], None]  # a job's position, and what it gave
UNWATCHED = {"nested", "outermost", "inside"}  # call variants that add no frame of their own


class LearnerClient(ServerPool):
    """What a pool of servers is asked for of a learner's code.

    modes: methods -> the roles whose instances have them, for jobs in that call variant.
    updates: the role of the optimiser that moves parameters, for jobs in the call variant "stepped".
    For the rest see ServerPool.
    """

    def __init__(
        self,
        pack: Mapping[str, bytes],
        *,
        python: str | None = None,
        hidden: Sequence[Path] = (),
        modes: Mapping[str, Sequence[str]] = {},
        updates: str = "",
        exam: bool = False,
        torch: bool = False,
    ) -> None:
        super().__init__(pack, python=python, hidden=hidden, exam=exam, torch=torch)
        every = sorted({role for some in modes.values() for role in some})
        watched = dict.fromkeys({*CALL_VARIANTS, LATE} - UNWATCHED, every)
        self._made = {**watched, **modes}  # roles, by call variant
        self._updates = updates
        self._modes = ["", *modes]  # what follows on priming, by turns

    def outcomes(
        self,
        tree: Tree,
        jobs: Sequence[Job],
        *,
        server: str = "learner",
        limit: float | None = None,
        options: RunOptions = PLAIN_RUN,
        arrived: Arrived | None = None,
    ) -> list[Outcome]:
        """Run probes on a tree: one Outcome a job, in order. `arrived` is told of each that ended by
        itself, with its position, as it comes. limit: seconds for each job.

        One child works through the jobs, or two, each through half of them; when it dies the
        rest is taken up by another, when it runs out of time the rest is "not run", but after the
        first `options.skips` times. Trees that must not know of each other are given `server` names of
        their own.
        """
        limit = limit or self.limit
        half = second(server, 0 if options.trace else len(jobs))
        if not half:
            return self._outcomes(tree, jobs, server, limit, options, arrived)

        def part(name: str, places: Sequence[int]) -> list[Outcome]:
            told = _placed(arrived, places)
            return self._outcomes(tree, [jobs[i] for i in places], name, limit, options, told)

        costs = [LATE_COST if job.call_variant == LATE else 1 for job in jobs]
        return run_partitioned(costs, partial(part, server), partial(part, half))

    def several(
        self, asked: Sequence[tuple[Tree, Sequence[Job], float]], *, server: str = "learner"
    ) -> list[list[Outcome]]:
        """`outcomes` of a tree or two, each with its jobs and their limit, at the same time.

        Two trees are held by two servers, however many processors there are.
        """
        if len(asked) == 1:
            ((tree, jobs, limit),) = asked
            return [self.outcomes(tree, jobs, server=server, limit=limit)]
        first, other = asked
        return [
            *run_both(
                lambda: self._outcomes(first[0], first[1], server, first[2]),
                lambda: self._outcomes(other[0], other[1], server + SECOND, other[2]),
            )
        ]

    def _outcomes(
        self,
        tree: Tree,
        jobs: Sequence[Job],
        server: str,
        limit: float,
        options: RunOptions = PLAIN_RUN,
        arrived: Arrived | None = None,
    ) -> list[Outcome]:
        found: dict[int, Outcome] = {}

        def answered(position: int, answer: Any) -> None:
            found[rest[position]] = outcome_of(answer, limit)
            if arrived is not None:
                arrived(rest[position], found[rest[position]])

        skips = options.skips
        for _ in range(max(RERUNS, skips) + 1):
            rest = [i for i in range(len(jobs)) if i not in found]
            if not rest:
                break
            self._load_tree(server, tree)
            _, end = self._run(
                server, [self._work(jobs[i]) for i in rest], limit, options, answered
            )
            missing = next((i for i in rest if i not in found), None)
            if missing is None:
                break
            stopped = end["end"] if end["end"] in ("timeout", "output") else "died"
            found[missing] = stopped_of(end, stopped, tree)
            if stopped != "died" and not skips:
                break
            skips = max(0, skips - (stopped != "died"))
        unrun = Outcome(stopped=UNRUN)
        return [found.get(i, unrun) for i in range(len(jobs))]

    def _work(self, job: Job) -> dict[str, Any]:
        """A job as the child gets it."""
        if not self.exam and job.call_variant in EXAM_VARIANTS:
            raise AssertionError(f"the call variant {job.call_variant} is for the level exam")
        return {
            "kind": "probe",
            **msgspec.structs.asdict(job),
            "made": list(self._made.get(job.call_variant, ())),
            "then": self._modes[job.turn % len(self._modes)],
            "updates": self._updates,
        }

    def missing_roles(self, tree: Tree) -> dict[str, str]:
        """The names of the contract that the tree does not offer -> what went wrong."""
        self._load_tree("learner", tree)
        work = [{"kind": "roles", "roles": list(tree.roles)}]
        answers, end = self._run("learner", work, self.limit)
        values = answers[0].get("values") if isinstance(answers.get(0), dict) else None
        if not isinstance(values, dict):
            return {"(all)": f"importing the code ended the process ({end['end']})"}
        return {role: str(error) for role, error in values.items() if error is not None}


def _placed(arrived: Arrived | None, places: Sequence[int]) -> Arrived | None:
    """For jobs that stand at these places among others."""
    return (lambda i, outcome: arrived(places[i], outcome)) if arrived else None
