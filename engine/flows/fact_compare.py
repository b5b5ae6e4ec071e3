"""Whether a mended model is the model that it was before the break: draws, parameters, dropout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from engine.errors import Message, NotApplicable, Said
from engine.facts import compared, experiments, trace
from engine.facts.compared import Drawn, Given, Side
from engine.facts.experiments import Candidate
from engine.facts.trace import BadAnswer
from engine.flows.check import Bench, told, why_not
from engine.flows.fact_sides import (
    Refused,
    answer,
    healthy_side,
    inputs,
    mended_side,
    raised_of,
    side_of,
    silent,
)
from engine.judge import torch_compare, torch_parts
from engine.judge.compare import NO_ERROR, Difference
from engine.judge.level import Level
from engine.judge.result import Result
from engine.judge.torch_compare import SHOWS, Case
from engine.run.concurrent import run_both
from engine.run.types import Draw

DRAWS, MORE, LEAST = 24, 60, 8  # at level practice, at others, and that have to count
FURTHER, SIZES = 6, "sizes"  # draws in a model of other sizes, and the name of their probe
INVENTED = re.compile(r"(\w+) = .* was made up")


def compare_models(
    before: Bench, candidate: Bench, found: Candidate, seed: int, level: Level
) -> tuple[Result, ...]:
    """A result for each thing that must be as it was. Raises NotApplicable where the code before the break
    does not run any more.
    """
    count = DRAWS if level.draws == 1 else MORE
    draws = compared.drawn(
        seed, count, experiments.sizes(before.pack, found)["context"], found.full
    )
    try:
        results = Pair(before, candidate, found, draws).results(seed)
    except Refused as refused:
        results = [refused.result]
    if all(one.passed for one in results):
        results += other_sizes(before, candidate, found, seed)
    first = Draw("", "run", draws[0].regime, seed)
    return tuple(one if one.draw else replace(one, draw=first) for one in results)


def other_sizes(before: Bench, candidate: Bench, found: Candidate, seed: int) -> list[Result]:
    """What differs in a model of other sizes, where the code before the break makes one: a number that is
    right for one width or depth alone.
    """
    if found.larger or found.own or not before.pack.other:
        return []
    other = replace(found, other=True)
    context = experiments.sizes(before.pack, other)["context"]
    try:
        pair = Pair(before, candidate, other, compared.drawn(seed, FURTHER, context, found.full))
        cases = pair.cases(seed)
    except NotApplicable:
        return []
    except Refused as refused:
        return [refused.result]
    cases = [replace(one, inputs=elsewhere(one.inputs), draw=sized(one.draw)) for one in cases]
    return [one for one in torch_compare.compared(cases) if not one.passed]


def elsewhere(inputs: Said) -> Said:
    return Message("{inputs}, in a model of other sizes", inputs=inputs)


def sized(draw: Draw | None) -> Draw | None:
    """A draw in a model of other sizes."""
    return draw and replace(draw, probe=SIZES)


class Pair:
    """What both trees answered for these draws. Raises Refused and NotApplicable."""

    def __init__(
        self, before: Bench, candidate: Bench, found: Candidate, draws: Sequence[Drawn]
    ) -> None:
        self._before, self._candidate, self._found = before, candidate, found
        self._draws = draws
        self._dropout = before.pack.dropout
        self._rename: dict[str, str] = {}
        self.healthy, self.other = self._measured(draws, torch_parts.FEW)
        if self.healthy.noisy:
            self._dropout = 0.0
            self.healthy, self.other = self._measured(draws, 0)
        self._check_names()
        renamed = torch_parts.renamed(self.healthy.parameters, self.other.parameters)
        if renamed is None:
            parameters = self.healthy.parameters, self.other.parameters
            raise Refused("parameters", torch_parts.other_parameters(*parameters))
        if renamed:
            self._rename = renamed
            self.other = mended_side(candidate, self._asked(draws, False, torch_parts.FEW))

    def results(self, seed: int) -> list[Result]:
        """A result for each thing that must be as it was. seed: of the draws."""
        evaluation = self.evaluation()
        if not evaluation.passed:  # then nothing else can be compared
            return [evaluation]
        cases = self.cases(seed)
        if len(cases) < LEAST:
            raise silent(Message("it gives numbers in {count} draws alone", count=len(cases)))
        values = torch_compare.compared(cases)
        agree = all(one.passed for one in values)
        return [
            torch_compare.result("parameters", len(self._draws)),
            *values,
            evaluation,
            *([self.dropout()] if agree else []),  # else what is dropped differs for another reason
            self.start(),
        ]

    def _asked(
        self, draws: Sequence[Drawn], healthy: bool, repeats: int, double: bool = False
    ) -> dict[str, Any]:
        return compared.job(
            self._before.pack, self._found, draws, dropout=self._dropout, double=double,
            repeats=repeats, rename={} if healthy else self._rename,
        )  # fmt: skip

    def _measured(self, draws: Sequence[Drawn], repeats: int) -> tuple[Side, Side]:
        """Both sides; what they answered is looked at in one thread."""
        jobs = [self._asked(draws, healthy, repeats) for healthy in (True, False)]
        answers = run_both(
            lambda: answer(self._before, jobs[0]), lambda: answer(self._candidate, jobs[1])
        )
        return healthy_side(answers[0]), side_of(answers[1], self._candidate)

    def _check_names(self) -> None:
        """What is made up in the candidate alone, as no file defines it, is an error there."""
        known = {found[1] for note in self.healthy.notes if (found := INVENTED.match(note))}
        for note in self.other.notes:
            found = INVENTED.match(note)
            if found and found[1] not in known:
                error = f"NameError: name '{found[1]}' is not defined"
                raise Refused("raised", Difference("raised", "", NO_ERROR, error))

    def cases(self, seed: int) -> list[Case]:
        """The draws that count: those in which the code before the break gave numbers."""
        found = [
            Case(
                draw.regime,
                inputs(draw),
                wanted.values,
                None,
                None if got.failed else got.values,
                None if got.failed is None else raised_of(got.failed, self._candidate.files),
                Draw("", "run", draw.regime, seed, turn=turn),
            )
            for turn, (draw, wanted, got) in enumerate(
                zip(self._draws, self.healthy.draws, self.other.draws, strict=True)
            )
        ]
        doubtful = [i for i, case in enumerate(found) if torch_compare.doubtful(case)]
        for i, exact, other in zip(doubtful, *self._exact(doubtful), strict=True):
            found[i] = replace(found[i], exact=exact.values or None, exact_got=other.values or None)
        pairs = zip(self.healthy.draws, found, strict=True)
        return [
            case
            for wanted, case in pairs
            if wanted.failed is None and torch_compare.finite(wanted.values)
        ]

    def _exact(self, places: Sequence[int]) -> tuple[list[Given], list[Given]]:
        """What both trees give for these draws in float64; nothing of one that cannot run so."""
        nothing = [Given(None, {})] * len(places)
        if not places:
            return nothing, nothing

        def given(bench: Bench, healthy: bool) -> list[Given]:
            job = self._asked([self._draws[i] for i in places], healthy, 0, double=True)
            try:
                found = answer(bench, job)
                draws = nothing if why_not(found) else compared.side(found.data).draws
            except BadAnswer:
                return nothing
            return draws if len(draws) == len(places) else nothing

        return run_both(lambda: given(self._before, True), lambda: given(self._candidate, False))

    def evaluation(self) -> Result:
        """Whether evaluation is free of chance, if it was."""
        passed = self.healthy.noisy or not self.other.noisy
        difference = Difference(
            "value",
            Message("the result of the same call in eval mode, with dropout"),
            Message("the same each time"),
            Message("another one some time"),
        )
        return check("evaluation", None if passed else difference)

    def dropout(self) -> Result:
        """Whether as much is dropped in train mode, as often, and in the same places."""
        if torch_parts.same_rows(self.healthy.train, self.other.train):
            return check("dropout", None, torch_parts.FEW)
        difference = torch_parts.dropped_nothing(self.healthy.likeliest, self.other.likeliest)
        if difference is not None:
            return check("dropout", difference, torch_parts.FEW)
        healthy, other = self._measured(self._draws[:1], torch_parts.MANY)
        difference = torch_parts.dropped_otherwise(healthy.train, other.train)
        if difference is None:
            places = (self._places(bench) for bench in (self._before, self._candidate))
            difference = torch_parts.dropped_elsewhere(*places)
        return check("dropout", difference, torch_parts.MANY)

    def _places(self, bench: Bench) -> torch_parts.Dropped | None:
        """What a tree drops in train mode, None where that is not seen."""
        job = experiments.job(bench.pack, self._found, experiments.DROPPED, self._dropout)
        given = answer(bench, job)
        if why_not(given):
            return None
        try:
            recorded = trace.recorded(*trace.measured(given.data))
        except BadAnswer:
            return None
        known = told(bench, self._found, recorded, [experiments.DROPPED[0].name])
        asked = bench.ask("places", known, "dropout_facts")
        places: torch_parts.Dropped | None = msgspec.convert(asked, torch_parts.Dropped | None)
        if places is None:
            return None
        return {bench.value("eval_dropout", place): counts for place, counts in places.items()}

    def start(self) -> Result:
        """Whether weights at the start are spread as they were."""
        sides = []
        for side, rename in ((self.healthy, {}), (self.other, self._rename)):
            names = [rename.get(names[0], names[0]) for names, _ in side.parameters]
            sides.append(dict(zip(names, side.first, strict=True)))
        return check("first", torch_parts.started_otherwise(*sides))


def check(kind: str, difference: Difference | None, count: int = 1) -> Result:
    return Result(kind, "", SHOWS[kind], difference is None, count, difference=difference)
