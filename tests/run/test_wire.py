"""The wire format: everything that may cross arrives as it was, everything else is refused."""

from __future__ import annotations

import json
import math
import os
import struct
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from engine.run.child import wire

PLAIN = st.none() | st.booleans() | st.integers(-(1 << 200), 1 << 200) | st.floats() | st.text()


def arrays() -> st.SearchStrategy[np.ndarray]:
    """Arrays of each dtype that may cross, in both byte orders, 0-d and empty ones among them."""
    dtypes = st.sampled_from(wire.DTYPES).flatmap(
        lambda name: st.sampled_from([np.dtype(name), np.dtype(name).newbyteorder(">")])
    )
    shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
    return hnp.arrays(dtypes, shapes)


MESSAGES = st.recursive(
    PLAIN | st.binary() | arrays(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc_", min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Equal, with NaN equal to NaN, and arrays alike in dtype, shape and every bit."""
    if isinstance(a, np.ndarray):
        if not isinstance(b, np.ndarray) or a.dtype.name != b.dtype.name or a.shape != b.shape:
            return False
        return a.astype(a.dtype.newbyteorder("<")).tobytes() == b.tobytes()
    if isinstance(a, dict):
        return (
            isinstance(b, dict) and list(a) == list(b) and all(same(v, b[k]) for k, v in a.items())
        )
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    return type(a) is type(b) and a == b


def received(data: bytes) -> list[Any]:
    """Every message in `data`."""
    buffer = wire.Buffer()
    buffer.feed(data)
    found = []
    while (frame := buffer.frame()) is not None:
        found.append(wire.decode(*frame))
    return found


def frame(head: Any, body: bytes = b"") -> bytes:
    """A frame with this head, whatever it says."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return wire.HEADER.pack(wire.MAGIC, len(text), len(body)) + text + body


@given(MESSAGES)
@settings(max_examples=100, deadline=None)
def test_a_message_arrives_as_it_was_sent(message: Any) -> None:
    """Names, numbers, text, bytes and arrays, nested in any way, come out as they went in."""
    assert same(message, received(wire.encode(message))[0])


@given(st.lists(MESSAGES, min_size=1, max_size=4), st.data())
@settings(max_examples=40, deadline=None)
def test_messages_arrive_whole_and_in_order_however_they_are_cut(
    messages: list[Any], data: st.DataObject
) -> None:
    """The stream may be split at any byte."""
    stream = b"".join(wire.encode(message) for message in messages)
    buffer = wire.Buffer()
    found = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        buffer.feed(stream[:size])
        stream = stream[size:]
        while (whole := buffer.frame()) is not None:
            found.append(wire.decode(*whole))
    assert same(messages, found)
    assert buffer.frame() is None


@pytest.mark.parametrize("name", wire.DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4)])
def test_every_dtype_crosses_in_every_shape(name: str, shape: tuple[int, ...]) -> None:
    """0-d arrays stay 0-d and empty ones keep their axes."""
    sent = np.arange(math.prod(shape)).reshape(shape).astype(name)
    got = received(wire.encode({"a": sent}))[0]["a"]
    assert (got.dtype, got.shape) == (sent.dtype, sent.shape)
    assert np.array_equal(got, sent)


def test_not_a_number_infinity_and_negative_zero_cross_bit_by_bit() -> None:
    """The odd values of a float64 keep their bits, a NaN its payload."""
    bits = np.array([0x7FF8000000000123, 0x7FF0000000000000, 0xFFF0000000000000, 1 << 63], "u8")
    sent = bits.view(np.float64)
    got = received(wire.encode(sent))[0]
    assert np.array_equal(got.view("u8"), bits)
    numbers = received(wire.encode([math.nan, math.inf, -math.inf, -0.0]))[0]
    assert math.isnan(numbers[0]) and numbers[1:] == [math.inf, -math.inf, 0.0]
    assert math.copysign(1, numbers[3]) == -1


def test_arrays_that_do_not_lie_in_order_cross_by_value() -> None:
    """Transposed, reversed, broadcast and strided arrays arrive as what they show."""
    base = np.arange(24.0).reshape(2, 3, 4)
    for sent in (base.T, base[:, ::-1], base[..., ::2], np.broadcast_to(base[0], (5, 3, 4))):
        assert np.array_equal(received(wire.encode(sent))[0], sent)


def test_numpy_scalars_cross_as_arrays_without_axes() -> None:
    """A float32 scalar stays a float32."""
    got = received(wire.encode([np.float32(1.5), np.int8(-3), np.bool_(True)]))[0]
    assert [(g.dtype.name, g.shape, g.item()) for g in got] == [
        ("float32", (), 1.5), ("int8", (), -3), ("bool", (), True),
    ]  # fmt: skip


def test_an_array_that_arrived_is_read_only() -> None:
    """What came over the wire is nobody's to change."""
    got = received(wire.encode(np.zeros(3)))[0]
    with pytest.raises(ValueError, match="read-only"):
        got[0] = 1


@pytest.mark.parametrize(
    "value",
    [
        np.array([object()]),
        np.array(["text"]),
        np.array([1j]),
        np.array(["2020-01-01"], "M8[D]"),
        np.zeros(2, [("a", "f8")]),
        np.zeros(2, np.longdouble) if np.longdouble(0).dtype.name != "float64" else {1},
        {1, 2},
        object(),
        len,
    ],
    ids=lambda value: f"{type(value).__name__}-{getattr(value, 'dtype', '')}",
)
def test_what_may_not_cross_is_refused_by_the_sender(value: Any) -> None:
    """Objects, text arrays, complex numbers, dates and records do not cross."""
    with pytest.raises(wire.WireError, match="cannot cross"):
        wire.encode({"a": [value]})


HUGE = [
    struct.pack("<4sIQ", b"EWF1", (1 << 32) - 1, 0),
    struct.pack("<4sIQ", b"EWF1", 0, (1 << 64) - 1),
    struct.pack("<4sIQ", b"EWF1", wire.MAX_HEAD + 1, 0),
    struct.pack("<4sIQ", b"EWF1", 0, wire.MAX_BODY + 1),
]


@pytest.mark.parametrize("start", [b"EWF2", b"\0\0\0\0", b"ewf1", b"GET ", *HUGE])
def test_a_frame_with_the_wrong_start_or_a_huge_size_is_refused_at_once(start: bytes) -> None:
    """The size is judged before anything is waited for."""
    buffer = wire.Buffer()
    buffer.feed(start.ljust(wire.HEADER.size, b"\0"))
    with pytest.raises(wire.WireError):
        buffer.frame()


EIGHT = b"\0" * 8
ARRAY = {
    "a dtype that is no number": ["object", [1], 0, 8],
    "a dtype of raw bytes": ["V8", [1], 0, 8],
    "a dtype in another spelling": ["<f8", [1], 0, 8],
    "a dtype of text": ["str", [1], 0, 8],
    "a dtype that is no name": [8, [1], 0, 8],
    "a dtype that is a list": [["float64"], [1], 0, 8],
    "a shape that needs more": ["float64", [2], 0, 8],
    "a shape that needs less": ["float64", [0], 0, 8],
    "a shape with a negative axis": ["float64", [-1], 0, 8],
    "a shape with two negative axes": ["float64", [-1, -1], 0, 8],
    "a shape with a fraction": ["float64", [1.0], 0, 8],
    "a shape with a truth value": ["float64", [True], 0, 8],
    "a shape with an enormous axis": ["float64", [0, 1 << 70], 0, 0],
    "a shape with a hundred axes": ["float64", [1] * 100, 0, 8],
    "a shape that is a number": ["float64", 1, 0, 8],
    "a shape that is a name": ["float64", "a", 0, 8],
    "a shape that is nothing": ["float64", None, 0, 8],
    "a span that starts outside": ["float64", [1], 8, 8],
    "a span that ends outside": ["float64", [1], 1, 8],
    "a span that starts before": ["float64", [1], -8, 8],
    "a span of negative size": ["float64", [1], 0, -8],
    "a span far outside": ["float64", [1], 1 << 80, 8],
    "a span with a fraction": ["float64", [1], 0.0, 8],
    "an empty array outside": ["float64", [0], 9, 0],
    "too few parts": ["float64", [1], 0],
    "too many parts": ["float64", [1], 0, 8, 0],
    "no parts": [],
    "a number": 5,
    "nothing": None,
    "text of four letters": "abcd",
    "a mapping": {"a": 1},
}


@pytest.mark.parametrize("found", ARRAY.values(), ids=ARRAY.keys())
def test_an_array_that_does_not_fit_its_bytes_is_refused(found: Any) -> None:
    """A head that promises what the body does not hold is not a message."""
    with pytest.raises(wire.WireError):
        received(frame({"values": {"$array": found}}, EIGHT))


@pytest.mark.parametrize(
    "found", [[0, 9], [9, 0], [-1, 1], [0, -1], [0.0, 1], [True, 1], [0], [0, 1, 2], 5, None, "ab"]
)
def test_bytes_that_lie_outside_the_frame_are_refused(found: Any) -> None:
    """The same for plain bytes."""
    with pytest.raises(wire.WireError):
        received(frame({"$bytes": found}, EIGHT))


@pytest.mark.parametrize(
    "head",
    [b"", b"{", b"\xff\xfe", b"nothing", b"{'a': 1}", b"[" * 200_000, b"9" * 100_000, b"[1] [2]"],
    ids=["empty", "cut", "not-utf8", "word", "quotes", "deep", "digits", "two"],
)
def test_a_head_that_is_not_json_is_refused(head: bytes) -> None:
    """Whatever the parser thinks of it, it leaves as a WireError."""
    with pytest.raises(wire.WireError):
        received(frame(head))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(wire.DTYPES),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.sampled_from(["$array", "$bytes", "a"]), inner, max_size=2)
    ),
    max_leaves=15,
)


@given(JSON, st.binary(max_size=64))
@settings(max_examples=100, deadline=None)
def test_any_head_over_any_body_is_a_message_or_refused(head: Any, body: bytes) -> None:
    """Nothing else ever leaves the decoder."""
    try:
        received(frame(head, body))
    except wire.WireError:
        pass


@given(MESSAGES, st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_frame_is_a_message_or_refused(message: Any, data: st.DataObject) -> None:
    """Bytes that were changed on the way cannot do anything worse."""
    stream = bytearray(wire.encode(message))
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    try:
        received(bytes(stream))
    except wire.WireError:
        pass


def test_a_large_message_crosses_a_pipe_in_pieces() -> None:
    """Writing and reading go on until all of it is there, and the end of the pipe is None."""
    reader, writer = os.pipe()
    sent = {"a": np.arange(300_000.0), "b": b"x" * 100_000}

    def send() -> None:
        wire.write(writer, wire.encode(sent))
        os.close(writer)

    thread = threading.Thread(target=send)
    thread.start()
    buffer = wire.Buffer()
    try:
        assert same(wire.receive(reader, buffer), sent)
        assert wire.receive(reader, buffer) is None
    finally:
        thread.join()
        os.close(reader)
