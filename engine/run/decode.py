"""What a child answered, which may be anything, as an outcome: nothing of it is believed unchecked."""

from __future__ import annotations

import math
import re
import sys
import threading
from collections.abc import Mapping
from typing import Any

import msgspec

from engine.run.types import Frame, Outcome, Raised, Tree

# msgspec looks at a type when it is first converted to; two threads that both do end the process
_one_at_a_time = threading.Lock()


PRINTED = 4000  # characters
MARK = "\n-- running --\n"  # as run/child/supervisor.py writes it
FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')


def stopped_of(end: Mapping[str, Any], stopped: str, tree: Tree) -> Outcome:
    """How a run ended that gave no answer; lines of the tree that were running are told, outermost first."""
    printed, _, running = str(end["output"]).partition(MARK)
    frames = []
    for path, line, function in FRAME.findall(running):
        own = path.removeprefix(f"{tree.root}/")
        if own in tree.files:
            frames.append(Frame(own, int(line), function, _line(tree.files[own], int(line))))
    status = end["status"]
    return Outcome(stopped=stopped, status=status, output=printed, running=tuple(frames[::-1]))


def _line(source: bytes, number: int) -> str:
    lines = source.decode("utf-8", "replace").splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def raised_of(found: Any) -> Raised | None:
    """An exception as `jobs.describe` tells of it. Raises msgspec.ValidationError."""
    if found is None:
        return None
    with _one_at_a_time:
        return msgspec.convert(found, Raised)


def outcome_of(answer: Any, limit: float) -> Outcome:
    """What a child answered, which may be anything, as an outcome."""
    try:
        if answer.get("wire"):
            return Outcome(values={"answer": {"odd": str(answer["wire"])}})
        seconds = float(answer["seconds"])
        return Outcome(
            values={str(name): _value(value) for name, value in answer["values"].items()},
            raised=raised_of(answer["raised"]),
            changed=tuple(str(name) for name in answer["changed"]),
            output=str(answer.get("output", ""))[:PRINTED],
            seconds=min(max(seconds, 0.0), limit) if math.isfinite(seconds) else limit,
            trace=tuple(_traced(row) for row in answer.get("trace", ())),
            ran=frozenset(map(str, answer["ran"])) if "ran" in answer else None,
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return Outcome(stopped="died", output="(the answer was not of the right form)")


def _value(value: Any) -> Any:
    """A recorded value, as `jobs.snapshot` makes them. Raises TypeError for anything else."""
    if isinstance(value, int) and abs(value) >= 1 << 63:
        raise TypeError("a number beyond 64 bits")
    if value is None or isinstance(value, (bool, int, float, str)) or _is_array(value):
        return value
    if isinstance(value, dict) and len(value) == 1:
        if isinstance(value.get("list"), list):
            return {"list": [_value(item) for item in value["list"]]}
        if isinstance(value.get("odd"), str):
            return value
    raise TypeError("not a recorded value")


def _traced(row: Any) -> Any:
    """One row of a trace, as `tracer.Recorder.found` makes them. Raises TypeError."""
    path, *place, kind = row["site"]
    numbers = [*place, row["times"], *row["frames"]]
    whole = len(place) == 4 and all(type(n) is int for n in numbers)
    named = isinstance(path, str) and isinstance(kind, str)
    arrays = all(_is_array(value) for value in row["values"])
    if not (whole and named and arrays and len(row["frames"]) == len(row["values"])):
        raise TypeError("not a row of a trace")
    return row


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)
