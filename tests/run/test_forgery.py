"""A child may write anything to its result descriptor: the parent lives, and no other job is touched."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from lab import Lab, gone

from engine.inject import places
from engine.run.child import wire
from engine.run.servers import RunOptions
from engine.run.types import Outcome

RESULTS = 200  # the descriptor that answers leave by
LEARNER = f"""
import os

def main(x, written=None):
    if written is not None:
        os.write({RESULTS}, written)
    return {{"x": x}}
"""
# The same, by someone who knows how answers are marked and looks for the mark in their own process.
INSIDER = f"""
import os, struct, sys

def mark():
    frame = sys._getframe()
    while frame is not None:
        if isinstance(frame.f_locals.get("token"), bytes):
            return frame.f_locals["token"]
        frame = frame.f_back
    return b""

def main(x, written=None):
    if written is not None:
        os.write({RESULTS}, mark() + struct.pack("<I", 0) + written)
    return {{"x": x}}
"""
ANSWER = {"values": {"x": 666}, "raised": None, "changed": [], "seconds": 0.0}


def frame(head: Any, body: bytes = b"") -> bytes:
    """A frame with a right start and whatever head."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return wire.HEADER.pack(wire.MAGIC, len(text), len(body)) + text + body


def array(*found: Any) -> dict[str, Any]:
    """An answer whose value claims to be an array."""
    return {**ANSWER, "values": {"x": {"$array": list(found)}}}


RAISED = {"type": "E", "ancestors": [], "message": "", "frames": [], "mentions": []}
GARBAGE = {
    "zeros": bytes(1000),
    "noise": random.Random(0).randbytes(5000),
    "a single byte": b"E",
    "text": b"HTTP/1.1 200 OK\r\n\r\n",
    "a start and nothing more": wire.MAGIC,
    "a huge head": wire.HEADER.pack(wire.MAGIC, (1 << 32) - 1, 0),
    "a huge body": wire.HEADER.pack(wire.MAGIC, 2, (1 << 64) - 1),
    "a frame without its end": frame(ANSWER)[:-3],
    "a head that wants a little more": wire.HEADER.pack(wire.MAGIC, 40, 0),
}
FORGED = {
    "no JSON": b"{{{",
    "not UTF-8": b"\xff\xfe\xfd",
    "an empty head": b"",
    "deep nesting": b"[" * 100_000,
    "nothing": None,
    "a list": [],
    "a number": 5,
    "a text": "answer",
    "a truth value": True,
    "an empty mapping": {},
    "the end of a run": {"end": "done", "status": 0, "output": ""},
    "the mark of an answer": {"answer": True},
    "a note about the wire": {"wire": ["a", "list"]},
    "values that are a number": {**ANSWER, "values": 5},
    "values that are a list": {**ANSWER, "values": [1]},
    "values that are a text": {**ANSWER, "values": "xy"},
    "changed names that are a number": {**ANSWER, "changed": 5},
    "seconds that are a text": {**ANSWER, "seconds": "soon"},
    "seconds that are a list": {**ANSWER, "seconds": []},
    "seconds without a number": {**ANSWER, "seconds": None},
    "seconds of 400 digits": {**ANSWER, "seconds": 10**400},
    "an exception that is a list": {**ANSWER, "raised": [1]},
    "an exception that is a text": {**ANSWER, "raised": "E"},
    "an exception without a type": {**ANSWER, "raised": {}},
    "an exception whose type is a number": {**ANSWER, "raised": {**RAISED, "type": 5}},
    "frames that are numbers": {**ANSWER, "raised": {**RAISED, "frames": [5]}},
    "frames that are too short": {**ANSWER, "raised": {**RAISED, "frames": [["a"]]}},
    "a trace that is a number": {**ANSWER, "trace": 5},
    "an object array": array("object", [1], 0, 8),
    "an array outside": array("float64", [2], 0, 16),
    "an array of a negative size": array("float64", [-1], 0, 8),
    "an array with an enormous axis": array("float64", [0, 1 << 70], 0, 0),
    "an array with a hundred axes": array("float64", [1] * 100, 0, 8),
    "an array that is nothing": {**ANSWER, "values": {"x": {"$array": None}}},
}
WRITTEN = {**GARBAGE, **{name: frame(head, bytes(8)) for name, head in FORGED.items()}}


def is_right(outcome: Outcome, x: int) -> bool:
    """An outcome that says what `main(x)` does, or that there is no answer."""
    if outcome.stopped is not None:
        return outcome.values == {} and outcome.raised is None
    return outcome.values == {"x": x} and outcome.raised is None


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN.keys())
def test_the_parent_outlives_whatever_a_job_writes_to_its_descriptor(
    lab: Lab, written: bytes
) -> None:
    """There is an outcome for each job, and the next batch has its right answers."""
    tree = lab.tree(LEARNER)
    lab.runs(tree, {"x": 0})
    outcomes = lab.runs(tree, {"x": 1, "written": written}, {"x": 2}, {"x": 3}, limit=2.0)
    assert len(outcomes) == 3
    assert [o.values for o in lab.runs(tree, {"x": 4}, {"x": 5})] == [{"x": 4}, {"x": 5}]


@pytest.mark.parametrize(
    "name",
    [*GARBAGE, "no JSON", "nothing", "a list", "an empty mapping", "values that are a number",
     "an array outside"],
)  # fmt: skip
def test_what_a_job_writes_to_its_descriptor_costs_no_job_but_itself(lab: Lab, name: str) -> None:
    """Each other job has its own answer or none: nothing is laid at its door."""
    tree = lab.tree(LEARNER)
    lab.runs(tree, {"x": 0})
    outcomes = lab.runs(tree, {"x": 1, "written": WRITTEN[name]}, {"x": 2}, {"x": 3}, limit=2.0)
    assert all(is_right(outcome, x) for outcome, x in zip(outcomes[1:], (2, 3), strict=True)), [
        (o.stopped, o.values, o.raised and o.raised.message) for o in outcomes
    ]


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_a_forged_answer_does_not_count_for_another_job(lab: Lab, copies: int) -> None:
    """Answers of the right form that a job adds to its own are not taken for those of the next."""
    tree = lab.tree(LEARNER)
    lab.runs(tree, {"x": 0})
    forged = frame(ANSWER) * copies
    outcomes = lab.runs(tree, {"x": 1, "written": forged}, {"x": 2}, {"x": 3}, {"x": 4})
    assert len(outcomes) == 4
    assert all(is_right(outcome, x) for outcome, x in zip(outcomes[1:], (2, 3, 4), strict=True)), [
        (outcome.stopped, outcome.values) for outcome in outcomes
    ]


def test_a_forged_answer_does_not_count_for_the_next_batch(lab: Lab) -> None:
    """What was written too much is gone with the child that wrote it."""
    tree = lab.tree(LEARNER)
    lab.runs(tree, {"x": 1, "written": frame(ANSWER) * 3})
    assert [outcome.values for outcome in lab.runs(tree, {"x": 2}, {"x": 3})] == [
        {"x": 2},
        {"x": 3},
    ]


@pytest.mark.parametrize("seconds", [math.inf, math.nan, -math.inf, -1e9, 1e308])
def test_forged_seconds_are_a_time_that_can_be_waited_for_or_no_answer(
    lab: Lab, seconds: float
) -> None:
    """The engine derives limits from what healthy code took, so the number must be one."""
    tree = lab.tree(LEARNER)
    (outcome,) = lab.runs(tree, {"x": 1, "written": frame({**ANSWER, "seconds": seconds})})
    assert 0 <= outcome.seconds < 3600
    again = lab.runs(tree, {"x": 2}, limit=max(10.0, 20 * outcome.seconds))
    assert again[0].values == {"x": 2}


@pytest.mark.parametrize(
    "written",
    [frame({}), frame([]), frame(b"{"), frame({"values": 5}), b"garbage " * 10, frame(None)],
    ids=["empty", "list", "no JSON", "number", "garbage", "nothing"],
)
def test_forging_while_the_roles_are_looked_for_does_not_fell_the_parent(
    lab: Lab, written: bytes
) -> None:
    """Code that writes to the descriptor when it is imported is code whose roles are in doubt."""
    lab.servers.missing_roles(lab.tree("main = dict"))
    tree = lab.tree(f"import os\nos.write({RESULTS}, {written!r})\nmain = dict")
    assert isinstance(lab.servers.missing_roles(tree), dict)
    assert lab.servers.missing_roles(lab.tree("main = dict")) == {}


def test_a_dead_server_is_replaced_and_the_rest_of_the_batch_is_right(lab: Lab) -> None:
    """When a server itself is killed, the jobs that are left run on a new one, on the same tree."""
    tree = lab.tree(
        """
import os, time

def main(x):
    if x == 2:
        time.sleep(1.5)
    return {"x": x, "server": os.getppid()}
"""
    )
    (first,) = lab.runs(tree, {"x": 0})
    timer = threading.Timer(0.5, os.kill, [first.values["server"], signal.SIGKILL])
    timer.start()
    outcomes = lab.runs(tree, {"x": 1}, {"x": 2}, {"x": 3})
    timer.join()
    assert [outcome.stopped for outcome in outcomes] == [None, "died", None]
    assert [outcome.values.get("x") for outcome in outcomes] == [1, None, 3]
    assert outcomes[2].values["server"] != first.values["server"]


@pytest.mark.parametrize(
    "written", [frame(head, bytes(8)) for head in FORGED.values()], ids=FORGED.keys()
)
def test_the_parent_outlives_an_answer_that_was_forged_with_its_mark(
    lab: Lab, written: bytes
) -> None:
    """Whatever the answer to the first job is made of: the others are right, and so is the next batch."""
    tree = lab.tree(INSIDER)
    lab.runs(tree, {"x": 0})
    outcomes = lab.runs(tree, {"x": 1, "written": written}, {"x": 2}, {"x": 3}, limit=2.0)
    assert len(outcomes) == 3
    assert all(is_right(outcome, x) for outcome, x in zip(outcomes[1:], (2, 3), strict=True)), [
        (o.stopped, o.values, o.raised and o.raised.message) for o in outcomes
    ]
    assert [o.values for o in lab.runs(tree, {"x": 4}, {"x": 5})] == [{"x": 4}, {"x": 5}]


SITE = ["src/mine.py", 1, 0, 1, 5, "Name"]
ONE = {"$array": ["float64", [1], 0, 8]}
ROW = {"site": SITE, "times": 1, "frames": [0], "values": [ONE]}
TRACES = {
    "numbers": [5],
    "texts": ["row"],
    "nothing": [None],
    "a text": "row",
    "a mapping": {"row": 1},
    "no site": [{"times": 1, "frames": [0], "values": [ONE]}],
    "not said how often": [{"site": SITE, "frames": [0], "values": [ONE]}],
    "a word for how often": [{**ROW, "times": "1"}],
    "a short site": [{**ROW, "site": SITE[:2]}],
    "a site that is a number": [{**ROW, "site": 5}],
    "a path that is a number": [{**ROW, "site": [1, *SITE[1:]]}],
    "a line that is a text": [{**ROW, "site": ["src/mine.py", "b", *SITE[2:]]}],
    "values that are a number": [{**ROW, "values": 5}],
    "values that are plain numbers": [{**ROW, "values": [1.0]}],
    "values that are texts": [{**ROW, "values": ["a"]}],
    "values that are mappings": [{**ROW, "values": [{}]}],
    "frames that are a number": [{**ROW, "frames": 5}],
    "fewer frames than values": [{**ROW, "values": [ONE, ONE]}],
    "frames that are lists": [{**ROW, "frames": [[1]]}],
}


def well_formed(row: Any) -> bool:
    """A row of a trace as the tracer makes it: a site, and as many frames as values."""
    kinds = [str, int, int, int, int, str]
    return (
        [type(part) for part in row["site"]] == kinds
        and all(type(number) is int for number in [row["times"], *row["frames"]])
        and all(isinstance(value, np.ndarray) for value in row["values"])
        and len(row["frames"]) == len(row["values"])
    )


@pytest.mark.parametrize("trace", [[ROW], *TRACES.values()], ids=["well formed", *TRACES])
def test_a_forged_trace_is_no_trace_or_one_that_can_be_searched(lab: Lab, trace: Any) -> None:
    """Who looks for a value in what was recorded is not felled by it."""
    tree = lab.tree(INSIDER)
    written = frame({**ANSWER, "trace": trace}, bytes(8))
    (outcome,) = lab.runs(
        tree, {"x": 1, "written": written}, options=RunOptions(trace={"sizes": [1], "cap": 1 << 20})
    )
    assert all(well_formed(row) for row in outcome.trace), outcome.trace
    assert len(places.Recording(outcome.trace).holding(np.asarray(0.0))) == (trace == [ROW])


VALUES = {
    "a list that is a number": {"list": 5},
    "a list that is nothing": {"list": None},
    "a list that is a mapping": {"list": {"a": 1}},
    "a list in a list that is none": {"list": [{"list": 7}]},
    "a bare list": [1, 2],
    "an empty mapping": {},
    "a mapping": {"a": 1, "b": 2},
    "bounds": {"within": [0, 1]},
    "a word on what it was, as a number": {"odd": 5},
    "a word on what it was, as a mapping": {"odd": {"a": 1}},
    "bytes": {"$bytes": [0, 8]},
    "a number of 400 digits": 10**400,
}


def recordable(value: Any) -> bool:
    """Whether `record` could have made it: a scalar, an array, a list of such, or a word on it."""
    if isinstance(value, dict) and list(value) == ["list"]:
        return isinstance(value["list"], list) and all(map(recordable, value["list"]))
    if isinstance(value, dict) and list(value) == ["odd"]:
        return isinstance(value["odd"], str)
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return False
    return value is None or isinstance(value, (bool, int, float, str, np.ndarray))


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_forged_values_are_of_a_form_that_can_be_compared(lab: Lab, value: Any) -> None:
    """Who compares what was recorded is not felled by it."""
    tree = lab.tree(INSIDER)
    written = frame({**ANSWER, "values": {"x": value}}, bytes(8))
    (outcome,) = lab.runs(tree, {"x": 1, "written": written})
    assert all(recordable(found) for found in outcome.values.values()), outcome.values


def test_a_flood_of_the_descriptor_ends_with_the_limit(lab: Lab) -> None:
    """Garbage without end is neither kept nor waited for any longer than a loop."""
    tree = lab.tree(f"""
        import os
        def main(x):
            while x:
                os.write({RESULTS}, bytes(1 << 16))
            return {{"x": x}}
    """)
    lab.runs(tree, {"x": 0})
    begun = time.monotonic()
    (outcome,) = lab.runs(tree, {"x": 1}, limit=1.0)
    assert time.monotonic() - begun < 8
    assert outcome.stopped is not None
    assert lab.runs(tree, {"x": 0})[0].values == {"x": 0}


@pytest.mark.parametrize("same_tree", [True, False], ids=["the same tree", "another tree"])
def test_a_server_that_died_between_two_batches_is_replaced(lab: Lab, same_tree: bool) -> None:
    """Nobody was there to see it, and the next batch runs all the same."""
    code = "import os\ndef main(x):\n    return {'x': x, 'server': os.getppid()}\n"
    tree = lab.tree(code)
    server = lab.runs(tree, {"x": 0})[0].values["server"]
    os.kill(server, signal.SIGKILL)
    assert gone(server)
    outcomes = lab.runs(tree if same_tree else lab.tree(code + "y = 1\n"), {"x": 1}, {"x": 2})
    assert outcomes[1].stopped is None and outcomes[1].values["x"] == 2
