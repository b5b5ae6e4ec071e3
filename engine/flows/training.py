"""The second part of a check: the training script in a small world."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from engine.errors import Message, NotApplicable
from engine.facts import candidates, events, experiments, usage
from engine.facts.experiments import Candidate
from engine.facts.trace import BadAnswer

if TYPE_CHECKING:
    from engine.flows.check import Bench
    from engine.run.forks import Answer

SCRIPTS = 3  # that are tried
LATE = 2  # scripts that run out of time, after which no other is tried
SECONDS = 12  # for a script to make its steps
GRACE = 8.0  # seconds more for what it does when it is told to stop
LEAST = 3  # steps, from which on facts can be told
ABSENT = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
TRAIN_LINE = 'engine check PATH --train "train.py --data input.txt"'


class Invocation(msgspec.Struct, frozen=True):
    """One way to run a script. told: its arguments are from the tree's texts, and their numbers shrink;
    before: scripts that are run first, with theirs, as they make files; lenient: without assertions, and
    every file that is asked for is there.
    """

    path: str
    arguments: list[str]
    told: bool = False
    before: tuple[tuple[str, list[str]], ...] = ()
    lenient: bool = False


class Half(msgspec.Struct, frozen=True):
    """Facts of a script or a sampler, and what was taken for it; invocation: how the script ran."""

    what: str
    facts: list[Any]
    made_up: tuple[str, ...] = ()
    invocation: Invocation | None = None


class Ran(msgspec.Struct, frozen=True):
    """What one run of a script gave: steps, and what the pack's functions take. late: out of time;
    absent: files that it did not find.
    """

    invocation: Invocation
    steps: int
    recorded: dict[str, Any]
    made_up: tuple[str, ...] = ()
    late: bool = False
    absent: tuple[str, ...] = ()

    @property
    def shows(self) -> tuple[bool, int]:
        """Whether a model was called, which a script that only tries an optimizer out does not, and steps."""
        called = any(event["kind"] == "F" for event in self.recorded["events"])
        return called and self.steps >= LEAST, self.steps


def script(
    bench: Bench, named: str, found: Candidate, progress: Callable[[str], None]
) -> Half | None:
    """The facts of the first script that makes steps; None where there is no script. Raises NotApplicable
    where the one that was named is not there.
    """
    typed = shlex.split(named)
    if typed and typed[0] not in bench.files:
        raise NotApplicable(
            Message("There is no file {file} in the tree.", file=typed[0]), next=TRAIN_LINE
        )
    options = typed[:1] or candidates.scripts(bench.files, bench.pack.scripts)
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
    late = 0
    for path in options:
        ran = best_run(bench, path, typed[1:], progress)
        if best is None or ran.shows > best.shows:
            best = ran
        late += ran.late
        if best.shows >= (True, LEAST) or late == LATE:
            break
    if best is None:
        return None
    facts = bench.ask("measure", best.recorded, "script_facts")
    return Half(best.invocation.path, facts, best.made_up, best.invocation)


def best_run(bench: Bench, path: str, typed: list[str], progress: Callable[[str], None]) -> Ran:
    """The run of a script with most steps: as asked; else without arguments, then as the tree's texts say; at
    last after the scripts that make its files, without assertions.
    """
    progress(f"running {path} in a small world")
    runs = [one_script(bench, Invocation(path, typed))]
    for given in () if typed else usage.arguments(bench.files, path):
        if runs[-1].steps < LEAST and not runs[-1].late:
            runs.append(one_script(bench, Invocation(path, given, told=True)))
    if max(ran.steps for ran in runs) < LEAST and not any(ran.late for ran in runs):
        first = runs[min(1, len(runs) - 1)]
        before = tuple(
            (file, next(iter(usage.arguments(bench.files, file)), []))
            for file in usage.makers(bench.files, path, first.absent)
        )
        invocation = msgspec.structs.replace(first.invocation, before=before, lenient=True)
        runs.append(one_script(bench, invocation))
    return max(runs, key=lambda ran: ran.steps)


def distance(path: str, model: str) -> int:
    """How far two files lie apart: the folders that only one of them is in."""
    a, b = path.split("/")[:-1], model.split("/")[:-1]
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    return len(a) + len(b) - 2 * shared


def one_script(bench: Bench, invocation: Invocation) -> Ran:
    """What a script did in one run."""
    return script_told(invocation, script_answer(bench, invocation))


def script_answer(bench: Bench, invocation: Invocation, scales: Sequence[float] = ()) -> Answer:
    """What a script did in its small world, as it was answered. scales: what the gradients of each of the
    first steps are multiplied by.
    """
    pack = bench.pack
    job = {
        "kind": "script",
        "path": invocation.path,
        "arguments": invocation.arguments,
        "told": invocation.told,
        "before": [list(one) for one in invocation.before],
        "lenient": invocation.lenient,
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
        "scales": list(scales),
    }
    return bench.learner.run(bench.script_server, [job], SECONDS + GRACE)[0]


def script_told(invocation: Invocation, answer: Answer) -> Ran:
    """As `one_script`, of what was answered."""
    if answer.stopped or answer.data.get("failed"):
        from engine.flows.check import why_not

        late = answer.stopped == "timeout"
        return Ran(invocation, 0, {"events": [], "why": why_not(answer)}, late=late)
    try:
        seen = events.seen(answer.data)
    except BadAnswer as error:
        why = f"what it answered cannot be used ({error})"
        return Ran(invocation, 0, {"events": [], "why": why})
    steps = sum(event.kind == "S" for event in seen.events)
    recorded = {"events": events.plain_events(seen), "why": ended(invocation.path, seen)}
    late = seen.ended == "time"
    return Ran(invocation, steps, recorded, tuple(seen.made_up), late, tuple(seen.absent))


def ended(path: str, seen: events.Seen) -> str:
    """How a script ended, and the line that may help."""
    if seen.ended == "time":
        return f"{path} needs more than {SECONDS} s"
    if seen.error is not None:
        at = f" ({seen.error.at[-1][0]}:{seen.error.at[-1][1]})" if seen.error.at else ""
        absent = ABSENT.search(f"{seen.error.type}: {seen.error.message}")
        if absent:
            install = f"python3 -m pip install {absent[1]}"
            return f"{path} needs the package {absent[1]}, which is not there{at}. Try: {install}"
        what = f"{seen.error.type}: {seen.error.message[:160]}"
        line = f'engine check PATH --train "{shlex.quote(path)} ARGUMENTS"'
        return f"{path} ended with {what}{at}. Try: {line}"
    return f"{path} ended by itself"
