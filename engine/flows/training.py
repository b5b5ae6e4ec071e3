"""The second half of a check: the training script in a small world, and the sampler."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from engine.errors import Message, NotApplicable
from engine.facts import candidates, events, experiments, usage
from engine.facts.experiments import Candidate
from engine.facts.trace import BadAnswer

if TYPE_CHECKING:
    from engine.flows.check import Bench

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


class Attempt(msgspec.Struct, frozen=True):
    """One way to run a script. told: its arguments are from the tree's texts, and their numbers shrink;
    before: scripts that are run first, with theirs, as they make files; lenient: without assertions, and
    every file that is asked for is there.
    """

    path: str
    arguments: list[str]
    told: bool = False
    before: tuple[tuple[str, list[str]], ...] = ()
    lenient: bool = False


class Ran(msgspec.Struct, frozen=True):
    """What one run of a script gave: steps, and what the pack's functions take. late: out of time;
    absent: files that it did not find.
    """

    attempt: Attempt
    steps: int
    recorded: dict[str, Any]
    made_up: tuple[str, ...] = ()
    late: bool = False
    absent: tuple[str, ...] = ()


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
            found.cls.encode() not in bench.files.get(path, b""),
            distance(path, found.path),
        ),
    )
    options = options[:SCRIPTS]
    best: Ran | None = None
    for path in options:
        ran = best_run(bench, path, words[1:], progress)
        if best is None or ran.steps > best.steps:
            best = ran
        if best.steps >= LEAST:
            break
    if best is None:
        return None
    facts = bench.ask("measure", best.recorded, "script_facts")
    return Half(best.attempt.path, facts, best.made_up)


def best_run(bench: Bench, path: str, words: list[str], progress: Callable[[str], None]) -> Ran:
    """The run of a script with most steps: as asked; else without arguments, then as the tree's texts say; at
    last after the scripts that make its files, without assertions.
    """
    progress(f"running {path} in a small world")
    runs = [one_script(bench, Attempt(path, words))]
    for given in () if words else usage.arguments(bench.files, path):
        if runs[-1].steps < LEAST and not runs[-1].late:
            runs.append(one_script(bench, Attempt(path, given, told=True)))
    if max(ran.steps for ran in runs) < LEAST and not any(ran.late for ran in runs):
        first = runs[min(1, len(runs) - 1)]
        before = tuple(
            (file, next(iter(usage.arguments(bench.files, file)), []))
            for file in usage.makers(bench.files, path, first.absent)
        )
        attempt = msgspec.structs.replace(first.attempt, before=before, lenient=True)
        runs.append(one_script(bench, attempt))
    return max(runs, key=lambda ran: ran.steps)


def distance(path: str, model: str) -> int:
    """How far two files lie apart: the folders that only one of them is in."""
    a, b = path.split("/")[:-1], model.split("/")[:-1]
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    return len(a) + len(b) - 2 * shared


def one_script(bench: Bench, attempt: Attempt) -> Ran:
    """What a script did in one run."""
    pack = bench.pack
    job = {
        "kind": "script",
        "path": attempt.path,
        "arguments": attempt.arguments,
        "told": attempt.told,
        "before": [list(one) for one in attempt.before],
        "lenient": attempt.lenient,
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
    answer = bench.learner.run("script", [job], SECONDS + GRACE)[0]
    if answer.stopped or answer.data.get("failed"):
        from engine.flows.check import why_not

        late = answer.stopped == "timeout"
        return Ran(attempt, 0, {"events": [], "why": why_not(answer)}, late=late)
    try:
        seen = events.seen(answer.data)
    except BadAnswer as error:
        why = f"what it answered cannot be used ({error})"
        return Ran(attempt, 0, {"events": [], "why": why})
    steps = sum(event.kind == "S" for event in seen.events)
    recorded = {"events": events.plain_events(seen), "why": ended(attempt.path, seen)}
    late = seen.ended == "time"
    return Ran(attempt, steps, recorded, tuple(seen.made_up), late, tuple(seen.absent))


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


def one_sampler(bench: Bench, found: Candidate, option: tuple[str, str] | None) -> Half | None:
    """The facts of a method of the model, or of a function (path, name); None where it cannot be called."""
    pack = bench.pack
    context = experiments.sizes(pack, found)["context"]
    runs = [
        {"seed": SEED, **run, "length": run["length"] or context + BEYOND} for run in RUNS.values()
    ]
    job = {
        **experiments.job(pack, found, ()),
        "kind": "generate",
        "function": list(option) if option else None,
        "methods": pack.generation["methods"],
        "arguments": pack.generation["arguments"],
        "context": context,
        "runs": runs,
    }
    from engine.flows.check import LIMIT

    answer = bench.learner.run("model", [job], LIMIT)[0]
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
