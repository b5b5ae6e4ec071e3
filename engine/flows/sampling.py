"""The third part of a check: the sampler, called with declared arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.facts import candidates, events, experiments
from engine.facts.experiments import Candidate
from engine.facts.trace import BadAnswer
from engine.flows.training import Half, distance

if TYPE_CHECKING:
    from engine.flows.check import Bench

SAMPLERS = 3  # that are tried


def sampler(bench: Bench, found: Candidate, progress: Callable[[str], None]) -> Half | None:
    """The facts of the first sampler that can be called; None where there is none."""
    for one in samplers(bench, found):
        progress("calling the sampler")
        half = one_sampler(bench, found, one)
        if half is not None:
            return half
    return None


def option(
    bench: Bench, found: Candidate, progress: Callable[[str], None]
) -> tuple[str, str] | None:
    """The first sampler that can be called: its file and name, both "" for a method of the model."""
    for one in samplers(bench, found):
        progress("calling the sampler")
        if sampled(bench, found, one) is not None:
            return one or ("", "")
    return None


def samplers(bench: Bench, found: Candidate) -> list[tuple[str, str] | None]:
    """Samplers to try: a method of the model, then functions, the nearest first."""
    named = candidates.functions(bench.files, bench.pack.generation)
    return [None, *sorted(named, key=lambda one: distance(one[0], found.path))[:SAMPLERS]]


SEED, BEYOND = 9, 3  # of tokens and draws; tokens more than the context
ONCE = {
    "rows": 1,
    "count": 1,
    "length": 4,
    "top_k": None,
    "top_p": None,
    "temperature": 1.0,
    "whole": False,
}
RUNS = {
    "plain": ONCE,
    "warm": {**ONCE, "temperature": 2.0},
    "top_k": {**ONCE, "top_k": 5},
    "top_p": {**ONCE, "top_p": 0.5},
    "long": {**ONCE, "length": 0},
    "several": {**ONCE, "count": 4, "whole": True},
    **{f"again {n}": {**ONCE, "seed": SEED + n} for n in range(1, 6)},
}
NEEDS = {"warm": "temperature", "top_k": "top_k", "top_p": "top_p"}


def sampler_job(
    bench: Bench, found: Candidate, option: tuple[str, str] | None, runs: list[dict[str, Any]]
) -> dict[str, Any]:
    """These calls of a method of the model, or of a function (path, name)."""
    pack = bench.pack
    return {
        **experiments.job(pack, found, ()),
        "kind": "generate",
        "function": list(option) if option else None,
        "methods": pack.generation["methods"],
        "arguments": pack.generation["arguments"],
        "text": pack.generation["text"],
        "context": experiments.sizes(pack, found)["context"],
        "runs": runs,
    }


def one_sampler(bench: Bench, found: Candidate, option: tuple[str, str] | None) -> Half | None:
    """The facts of a method of the model, or of a function (path, name); None where it cannot be called."""
    recorded = sampled(bench, found, option)
    if recorded is None:
        return None
    return Half(str(recorded["what"]), bench.ask("measure", recorded, "sampler_facts"))


def sampled(
    bench: Bench, found: Candidate, option: tuple[str, str] | None
) -> dict[str, Any] | None:
    """The runs of a sampler as the pack's functions take them; None where it cannot be called."""
    found_or_why = called(bench, found, option)
    return None if isinstance(found_or_why, str) else found_or_why


def called(bench: Bench, found: Candidate, option: tuple[str, str] | None) -> dict[str, Any] | str:
    """As `sampled`; why not, where it cannot be called."""
    context = experiments.sizes(bench.pack, found)["context"]
    runs = [
        {"seed": SEED, **run, "length": run["length"] or context + BEYOND} for run in RUNS.values()
    ]
    job = sampler_job(bench, found, option, runs)
    from engine.flows.check import LIMIT, why_not

    answer = bench.learner.run(bench.server, [job], LIMIT)[0]
    why = why_not(answer)
    if why:
        return why
    try:
        seen, blobs = events.sampled(answer.data)
        recorded = events.plain_runs(seen, blobs)
    except BadAnswer as error:
        return f"what it answered cannot be used ({error})"
    if seen.runs and (failed := seen.runs[0].failed) is not None:
        at = f" ({failed.at[-1][0]}:{failed.at[-1][1]})" if failed.at else ""
        return f"{failed.type}: {failed.message[:300]}{at}"
    wanted = [n for n in RUNS if NEEDS.get(n, "tokens") in {*seen.takes, "tokens"}]
    kept = {name: run for name, run in zip(RUNS, recorded["runs"], strict=True) if name in wanted}
    return {
        **recorded, "names": list(kept), "runs": list(kept.values()), "why": "", "what": seen.what,
    }  # fmt: skip
