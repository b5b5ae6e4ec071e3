"""The second half of a check: the training script in a small world, and the sampler."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from engine.errors import Message, NotApplicable
from engine.facts import candidates, events, experiments
from engine.facts.experiments import Candidate
from engine.facts.trace import BadAnswer

if TYPE_CHECKING:
    from engine.flows.check import Bench
    from engine.run.forks import Answer

SCRIPTS, SAMPLERS = 3, 3  # that are tried
SECONDS = 12  # for a script to make its steps
GRACE = 8.0  # seconds more for what it does when it is told to stop
LEAST = 3  # steps, from which on facts can be told
TRAIN_LINE = 'engine check PATH --train "train.py --data input.txt"'


class Half(msgspec.Struct, frozen=True):
    """Facts of a script or a sampler, and what was taken for it."""

    what: str
    facts: list[Any]
    made_up: tuple[str, ...] = ()


def script(
    bench: Bench, named: str, found: Candidate, progress: Callable[[str], None]
) -> Half | None:
    """The facts of the first script that makes steps; None where there is no script. Raises NotApplicable
    where the one that was named is not there.
    """
    words = shlex.split(named)
    if words and words[0] not in bench.files:
        raise NotApplicable(
            Message("There is no file {file} in the tree.", file=words[0]), next=TRAIN_LINE
        )
    options = words[:1] or candidates.scripts(bench.files, bench.pack.scripts)
    options = sorted(
        options,
        key=lambda path: (
            path != found.path or b".step(" not in bench.files.get(path, b""),
            distance(path, found.path),
        ),
    )
    options = options[:SCRIPTS]
    best: tuple[int, str, dict[str, Any], tuple[str, ...]] | None = None
    for path in options:
        progress(f"running {path} in a small world")
        steps, recorded, made_up = one_script(bench, path, words[1:])
        if best is None or steps > best[0]:
            best = (steps, path, recorded, made_up)
        if steps >= LEAST:
            break
    if best is None:
        return None
    _, path, recorded, made_up = best
    facts = bench.ask("measure", recorded, "script_facts")
    return Half(path, facts, made_up)


def distance(path: str, model: str) -> int:
    """How far two files lie apart: the folders that only one of them is in."""
    a, b = path.split("/")[:-1], model.split("/")[:-1]
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    return len(a) + len(b) - 2 * shared


def one_script(
    bench: Bench, path: str, arguments: list[str]
) -> tuple[int, dict[str, Any], tuple[str, ...]]:
    """(steps, what the pack's functions take, what was made up)."""
    return script_told(path, script_answer(bench, path, arguments))


def script_answer(bench: Bench, path: str, arguments: list[str]) -> Answer:
    """What a script did in its small world."""
    pack = bench.pack
    job = {
        "kind": "script",
        "path": path,
        "arguments": arguments,
        "rules": experiments.rules(pack),
        "small": pack.scripts["small"],
        "steps": pack.scripts["steps"],
        "splits": pack.scripts["splits"],
        "progress": pack.scripts["progress"],
        "letters": pack.scripts["letters"],
        "vocabulary": pack.sizes["vocabulary"],
        "seconds": SECONDS,
        "seed": 7,
        "call": "",
    }
    return bench.learner.run(bench.script_server, [job], SECONDS + GRACE)[0]


def script_told(path: str, answer: Answer) -> tuple[int, dict[str, Any], tuple[str, ...]]:
    """As `one_script`, of what was answered."""
    if answer.stopped or answer.data.get("failed"):
        from engine.flows.check import why_not

        return 0, {"events": [], "why": why_not(answer)}, ()
    try:
        seen = events.seen(answer.data)
    except BadAnswer as error:
        return 0, {"events": [], "why": f"what it answered cannot be used ({error})"}, ()
    steps = sum(event.kind == "S" for event in seen.events)
    recorded = {"events": events.plain_events(seen), "why": ended(path, seen)}
    return steps, recorded, tuple(seen.made_up)


def ended(path: str, seen: events.Seen) -> str:
    """How a script ended, and the line that may help."""
    if seen.ended == "time":
        return f"{path} needs more than {SECONDS} s"
    if seen.error is not None:
        at = f" ({seen.error.at[-1][0]}:{seen.error.at[-1][1]})" if seen.error.at else ""
        what = f"{seen.error.type}: {seen.error.message[:160]}"
        return f"{path} ended with {what}{at}. Try: {TRAIN_LINE}"
    return f"{path} ended by itself"


def sampler(bench: Bench, found: Candidate, progress: Callable[[str], None]) -> Half | None:
    """The facts of the first sampler that can be called; None where there is none."""
    options: list[tuple[str, str] | None] = [None]
    named = candidates.functions(bench.files, bench.pack.generation)
    options += sorted(named, key=lambda one: distance(one[0], found.path))[:SAMPLERS]
    for option in options:
        progress("calling the sampler")
        half = one_sampler(bench, found, option)
        if half is not None:
            return half
    return None


SEED, BEYOND = 9, 3  # of tokens and draws; tokens more than the context
ONCE = {"count": 1, "length": 4, "top_k": None, "top_p": None, "temperature": 1.0, "whole": False}
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
        "context": experiments.sizes(pack, found)["context"],
        "runs": runs,
    }


def one_sampler(bench: Bench, found: Candidate, option: tuple[str, str] | None) -> Half | None:
    """The facts of a method of the model, or of a function (path, name); None where it cannot be called."""
    context = experiments.sizes(bench.pack, found)["context"]
    runs = [
        {"seed": SEED, **run, "length": run["length"] or context + BEYOND} for run in RUNS.values()
    ]
    job = sampler_job(bench, found, option, runs)
    from engine.flows.check import LIMIT

    answer = bench.learner.run(bench.model_server, [job], LIMIT)[0]
    if answer.stopped or answer.data.get("failed"):
        return None
    try:
        sampled, blobs = events.sampled(answer.data)
        recorded = events.plain_runs(sampled, blobs)
    except BadAnswer:
        return None
    if sampled.runs and sampled.runs[0].failed is not None:
        return None
    wanted = [n for n in RUNS if NEEDS.get(n, "tokens") in {*sampled.takes, "tokens"}]
    kept = {name: run for name, run in zip(RUNS, recorded["runs"], strict=True) if name in wanted}
    told = {**recorded, "names": list(kept), "runs": list(kept.values()), "why": ""}
    return Half(sampled.what, bench.ask("measure", told, "sampler_facts"))
