"""What a learner's child answers is believed only where it has the right form. Needs no torch."""

from __future__ import annotations

import numpy as np
import pytest

from engine.facts import events, trace

GOOD = {
    "how": "GPT()",
    "notes": [],
    "targets": False,
    "mask": "",
    "shared": [],
    "parameters": 1,
    "experiments": [
        {
            "failed": None,
            "runs": [],
            "trace": {
                "values": [{"shape": [2], "dtype": "float32", "blob": 0}],
                "calls": [
                    {"name": "add", "args": [{"v": 0}], "kwargs": {}, "outs": [0], "frames": [0]}
                ],
                "frames": [["a.py", "f", 1, 1, 0, 3]],
                "tokens": 0,
            },
        }
    ],
    "blobs": [np.float32([1, 2]).tobytes()],
}


def changed(path, value):
    """A copy of GOOD with another value at a path."""
    import copy

    made = copy.deepcopy(GOOD)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


def test_a_good_answer_becomes_arrays():
    found, blobs = trace.measured(GOOD)
    recorded = trace.recorded(found, blobs)
    place = recorded["experiments"][0]["trace"]["values"][0]["array"]
    assert recorded["arrays"][place].tolist() == [1, 2]


TRACE = ("experiments", 0, "trace")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("blobs",), ["text"]),
        (("how",), 3),
        (("experiments",), [{}] * 99),
        ((*TRACE, "tokens"), 7),
        ((*TRACE, "calls", 0, "outs"), [5]),
        ((*TRACE, "calls", 0, "frames"), [5]),
        ((*TRACE, "calls", 0, "args"), [{"v": -1}]),
        ((*TRACE, "calls", 0, "args"), [[[[[[[[1]]]]]]]]),
        ((*TRACE, "calls", 0, "args"), [{"v": "0"}]),
        ((*TRACE, "frames"), [["a.py"]]),
    ],
)
def test_an_answer_of_another_form_is_refused(path, value):
    with pytest.raises(trace.BadAnswer):
        trace.measured(changed(path, value))


@pytest.mark.parametrize(
    ("key", "value"), [("shape", [3]), ("shape", [-2]), ("blob", 4), ("shape", [1] * 20)]
)
def test_bytes_must_fill_their_shape(key, value):
    found, blobs = trace.measured(changed((*TRACE, "values", 0, key), value))
    with pytest.raises(trace.BadAnswer):
        trace.recorded(found, blobs)


def test_low_precision_arrives_without_numpy_of_the_learner():
    raw = (np.float32([1.5, -2]).view("<u4") >> 16).astype("<u2").tobytes()
    value = trace.Value([2], "bfloat16", 0)
    assert trace.array(value, [raw]).tolist() == [1.5, -2]


def test_tokens_of_a_batch_are_whole_numbers():
    with pytest.raises(trace.BadAnswer):
        events.seen(
            {
                "events": [{"kind": "F", "at": [], "x": [["a"]]}],
                "ended": "",
                "error": None,
                "made_up": [],
            }
        )
