"""Asks a pack server for cases: inputs that the pack draws, and what its reference answers.

The reference computes in float64; it is rounded once to the dtype of the draw (child/cases.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from engine.errors import SpecError
from engine.run.concurrent import run_partitioned
from engine.run.decode import raised_of
from engine.run.pool import ServerPool, second
from engine.run.types import Case, Draw, Frame, Outcome, Values

LIMIT = 60.0  # seconds for a draw and its answers
CONSTRAINT_LIMIT = 3.0  # seconds for a draw near a number, which may make it large


class PackClient(ServerPool):
    """What a pool of servers is asked for of the pack."""

    def cases(
        self,
        draws: Sequence[Draw],
        variants: Iterable[str] = (),
        *,
        given: Sequence[Values] = (),
        healthy: bool = True,
    ) -> list[Case]:
        """Draw the inputs and ask the reference, and its variants, for each.

        `given` replaces the drawn inputs (then `draw` only names the probe). healthy: whether the
        reference itself is wanted; without it and without variants only inputs are drawn.
        Raises SpecError when the pack's own code fails.
        """
        wanted = (*([""] if healthy else []), *(name for name in variants if name))
        return self._cases(draws, [wanted] * len(draws), given)

    def cases_together(self, *groups: tuple[Sequence[Draw], Iterable[str]]) -> list[list[Case]]:
        """Several lists of draws, each with the names that the reference is asked under ("" itself,
        else a variant), in one run. Raises SpecError.
        """
        draws: list[Draw] = []
        wanted: list[tuple[str, ...]] = []
        for group, names in groups:
            draws += group
            wanted += [tuple(names)] * len(group)
        made = iter(self._cases(draws, wanted))
        return [list(itertools.islice(made, len(group))) for group, _ in groups]

    def _cases(
        self,
        draws: Sequence[Draw],
        wanted: Sequence[Sequence[str]],
        given: Sequence[Values] = (),
    ) -> list[Case]:
        if not self.exam and any(draw.constraint for draw in draws):
            raise AssertionError("a draw under a constraint is for the level exam")
        if not draws:
            return []
        half = second("pack", len(draws))
        if not half:
            return self._cases_of("pack", draws, wanted, given)

        def part(name: str, places: Sequence[int]) -> list[Case]:
            names = [wanted[i] for i in places]
            inputs = [given[i] for i in places] if given else ()
            return self._cases_of(name, [draws[i] for i in places], names, inputs)

        return run_partitioned([1] * len(draws), partial(part, "pack"), partial(part, half))

    def _cases_of(
        self,
        server: str,
        draws: Sequence[Draw],
        wanted: Sequence[Sequence[str]],
        given: Sequence[Values],
    ) -> list[Case]:
        inputs: Sequence[Values | None] = given or [None] * len(draws)
        work = [
            _job(draw, names, values)
            for draw, names, values in zip(draws, wanted, inputs, strict=True)
        ]
        constrained = any(draw.constraint for draw in draws)
        answers, end = self._run(server, work, CONSTRAINT_LIMIT if constrained else LIMIT)
        return [case_of(draw, answers.get(i), end["end"]) for i, draw in enumerate(draws)]


def _job(draw: Draw, wanted: Sequence[str], inputs: Values | None) -> dict[str, Any]:
    """A draw as the child gets it."""
    job: dict[str, Any] = {
        "kind": "case",
        "component": draw.component,
        "probe": draw.probe,
        "regime": draw.regime,
        "seed": draw.seed,
        "dtype": draw.dtype,
        "variants": list(wanted),
    }
    if inputs is not None:
        job["inputs"] = inputs
    if draw.constraint is not None:
        job["constraint"] = msgspec.structs.asdict(draw.constraint)
    return job


def case_of(draw: Draw, answer: Mapping[str, Any] | None, end: str) -> Case:
    """A child's answer as a case. end: how the run ended, where there is no answer. Raises SpecError."""
    where = f"{draw.component}/cases.py, reference.py: probe {draw.probe}, {draw.regime}"
    if answer is None and draw.constraint is not None:  # too large an input
        return Case(draw, {}, {}, declined=True)
    if answer is None:
        raise SpecError(f"The pack's code gave no answer ({end}).", where=where)
    if answer.get("wire"):
        raise SpecError(f"The pack's code recorded {answer['wire']}.", where=where)
    raised = raised_of(answer["raised"])
    if raised is not None:
        at = raised.frames[-1] if raised.frames else Frame("", 0, "", "")
        raise SpecError(
            f"The pack's code raised {raised.type}: {raised.message}",
            where=f"{where} ({at.path}:{at.line}: {at.text})",
        )
    expected = {
        name: Outcome(values=found["values"], raised=raised_of(found["raised"]))
        for name, found in answer["expected"].items()
    }
    declined = bool(answer.get("declined"))
    return Case(draw, answer["inputs"], expected, answer["named"], declined)
