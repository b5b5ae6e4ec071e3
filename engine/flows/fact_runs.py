"""What two trees do when their training script runs in its small world, or their sampler is called."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import msgspec

from engine.errors import Message, NotApplicable, Said
from engine.facts import events, experiments
from engine.facts.experiments import Candidate
from engine.facts.report import Raw
from engine.facts.trace import BadAnswer, array
from engine.flows import sampling, training
from engine.flows.check import LIMIT, Bench, raw_facts, why_not
from engine.flows.fact_sides import silent
from engine.flows.training import Invocation
from engine.judge import torch_runs, torch_steps
from engine.judge.compare import Difference
from engine.judge.result import Result
from engine.judge.torch_compare import both
from engine.judge.torch_runs import Called
from engine.run.concurrent import run_both
from engine.run.forks import Answer
from engine.run.types import Draw

Sampler = tuple[str, str] | None
LONG = 300  # characters of an error
LONGER = 2  # tokens that are drawn one after the other
# The scales of the first and of the last gradients: a limit of their norm is not reached, and is.
FAINT, LOUD = 1e-3, 1e3


def scripts(
    before: Bench, candidate: Bench, invocation: Invocation
) -> tuple[list[Result], list[Raw], bool]:
    """(what differs, the candidate's facts, whether both could be compared number by number). Raises
    NotApplicable where the script before the break makes no steps any more.
    """
    scales = [FAINT, *[1.0] * (before.pack.scripts["steps"] - 2), LOUD]
    answers = run_both(
        lambda: training.script_answer(before, invocation, scales),
        lambda: training.script_answer(candidate, invocation, scales),
    )
    healthy, other = (training.script_told(invocation, answer) for answer in answers)
    if healthy.steps < training.LEAST:
        raise silent(healthy.recorded["why"])
    ran = torch_runs.check("runs", None, healthy.steps)
    facts = raw_facts(candidate.ask("measure", other.recorded, "script_facts"))
    if other.steps < healthy.steps:
        counts = both(steps, healthy.steps, other.steps)
        told = Difference("value", Message("the training script"), *counts)
        why = other.recorded["why"]
        return [torch_runs.check("runs", told, inputs=why)], facts, False
    wanted, got = (torch_steps.trained(one.recorded["events"]) for one in (healthy, other))
    alike = torch_steps.same_batches(wanted, got)
    return [ran, *torch_steps.trainings(wanted, got, alike)], facts, alike


def steps(count: int) -> Said:
    return Message("{count} steps", count=count)


def continued(
    before: Bench, candidate: Bench, found: Candidate, option: Sampler, seed: int
) -> list[Result]:
    """What differs between two samplers that draw several tokens: a model that keeps keys and values has
    another way there. Nothing where the one before the break fails.
    """
    try:
        return samplers(before, candidate, found, option, seed, LONGER)
    except NotApplicable:
        return []


def samplers(
    before: Bench, candidate: Bench, found: Candidate, option: Sampler, seed: int, least: int = 1
) -> list[Result]:
    """What differs between two samplers in the calls for so many tokens or more. Raises NotApplicable where
    the one before the break fails.
    """
    sizes = experiments.sizes(before.pack, found)
    every = enumerate(declared(seed, sizes["context"], sizes["vocabulary"]))
    runs = {turn: run for turn, run in every if run["count"] >= least}
    asked = [*runs.values()]
    jobs = [sampling.sampler_job(one, found, option, asked) for one in (before, candidate)]
    answers = run_both(
        lambda: before.learner.run(before.server, [jobs[0]], LIMIT)[0],
        lambda: candidate.learner.run(candidate.server, [jobs[1]], LIMIT)[0],
    )
    told = {turn: inputs(run) for turn, run in runs.items()}
    healthy = called(answers[0], told, seed)
    if isinstance(healthy, str):
        raise silent(healthy)
    if all(one.error for one in healthy):
        raise silent(healthy[0].error)
    other = called(answers[1], told, seed)
    if isinstance(other, str):
        failed = torch_runs.check("called", Difference("raised", "", Message("no error"), other))
        return [msgspec.structs.replace(failed, draw=Draw("", "sampling", "", seed))]
    return torch_runs.samplings(healthy, other)


def declared(seed: int, context: int, vocabulary: int) -> list[dict[str, Any]]:
    """Calls of a sampler: lengths beyond the context, temperatures, numbers of tokens that may come, up to
    more than there are.
    """
    rng, once = random.Random(seed), sampling.ONCE
    changes: list[dict[str, Any]] = [
        *({"length": n} for n in (1, context, context + 1, context + 3, 2 * context)),
        *({"temperature": t} for t in (0.5, 2.0)),
        *({"top_k": k} for k in (1, 5, 50, vocabulary, vocabulary + 9)),
        {"top_k": 5, "temperature": 0.7},
        *({"top_p": p} for p in (0.5, 0.9)),
        *({"top_p": 0.7, "temperature": t} for t in (0.5, 2.0)),
        {"count": 4, "length": 3},
        {"count": 6, "length": context - 3},
        {"rows": 3, "top_k": 5},
        {"rows": 3, "top_p": 0.5},
    ]
    return [{**once, **change, "seed": rng.getrandbits(30)} for change in changes]


def inputs(run: dict[str, Any]) -> Said:
    """What a sampler was called with, in words."""
    if run["rows"] > 1:
        return Message("{rows} texts of {length} tokens", rows=run["rows"], length=run["length"])
    return Message(
        "a text of {length} tokens, temperature {temperature}, top-k {top_k}, top-p {top_p}",
        length=run["length"],
        temperature=run["temperature"],
        top_k="-" if run["top_k"] is None else run["top_k"],
        top_p="-" if run["top_p"] is None else run["top_p"],
    )


def called(answer: Answer, told: Mapping[int, Said], seed: int) -> list[Called] | str:
    """The calls of a sampler as arrays; why there are none. told: of each call, by its place among those that
    were declared from the seed.
    """
    why = why_not(answer)
    if why:
        return why
    try:
        sampled, blobs = events.sampled(answer.data)
        if len(sampled.runs) != len(told):
            raise BadAnswer("another number of calls")

        def decoded(value: Any) -> Any:
            return None if value is None else array(value, blobs)

        return [
            Called(
                words,
                f"{run.failed.type}: {run.failed.message}"[:LONG] if run.failed else "",
                Draw("", "sampling", "", seed, turn=turn),
                decoded(run.tokens),
                [one for value in run.drawn if (one := decoded(value)) is not None],
                [decoded(value) for value in run.read],
                decoded(run.output),
            )
            for (turn, words), run in zip(told.items(), sampled.runs, strict=True)
        ]
    except BadAnswer as error:
        return f"what it answered cannot be used ({error})"


def sampler_facts(bench: Bench, found: Candidate, option: Sampler) -> list[Raw]:
    """The facts of a sampler; none where it cannot be called."""
    half = sampling.one_sampler(bench, found, option)
    return [] if half is None else raw_facts(half.facts)
