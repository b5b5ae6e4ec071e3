"""What counts as the same, and what does not."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.judge.compare import difference, mentioned, show
from engine.judge.explain import pattern
from engine.run.types import Outcome, Raised

X = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


def outcome(value, **more):
    return Outcome(values={"y": value}, **more)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rounding_is_no_difference(dtype):
    """Values a few units in the last place apart agree."""
    x = X.astype(dtype)
    assert difference(outcome(x), outcome(x * (1 + 8 * np.finfo(dtype).eps)), dtype=dtype) is None


@pytest.mark.parametrize(
    ("got", "aspect"),
    [
        (X + 1e-3, "value"),
        (X[:, :2], "shape"),
        (X.astype("float32"), "dtype"),
        (np.where(X > 4, np.nan, X), "value"),
        (np.where(X > 4, np.inf, X), "value"),
        ("text", "value"),
        ({"odd": "an object of type Liar"}, "value"),
        (3.0, "value"),
    ],
)
def test_each_aspect_is_told(got, aspect):
    """A wrong value, shape, dtype or kind of thing is a difference of that aspect."""
    found = difference(outcome(X), outcome(got))
    assert found is not None
    assert found.aspect == aspect


def test_a_small_row_beside_a_large_one_is_still_compared():
    """The bound follows each row, so a row of 1e-4 is not lost beside one of 1e4."""
    wide = np.array([[1e4, 2e4], [1e-4, 2e-4]])
    wrong = wide.copy()
    wrong[1] *= 1.01
    assert difference(outcome(wide), outcome(wrong)) is not None


@pytest.mark.parametrize("stopped", ["timeout", "died", "output", "not run"])
def test_no_answer_is_never_agreement(stopped):
    """A run that stopped differs from any answer, even from one with no values."""
    assert difference(Outcome(), Outcome(stopped=stopped)).aspect == "stopped"


def test_a_missing_value_and_a_changed_input_are_differences():
    """What the reference records must be there, and inputs must be as they were."""
    assert difference(outcome(X), Outcome()).aspect == "missing"
    assert difference(outcome(X), outcome(X, changed=("h",))).aspect == "inputs"


def test_an_error_must_be_of_the_kind_and_name_what_is_asked():
    """A subclass will do; a message without the number will not."""
    wanted = Outcome(raised=Raised("IndexError", mentions=("700", "512")))
    good = Raised("MyError", ("MyError", "IndexError", "LookupError"), "id 700, vocabulary 512")
    assert difference(wanted, Outcome(raised=good)) is None
    for bad in (
        Raised("IndexError", ("IndexError",), "id 700"),
        Raised("ValueError", ("ValueError",), "700 512"),
    ):
        assert difference(wanted, Outcome(raised=bad)) is not None
    assert difference(wanted, Outcome()) is not None
    assert difference(Outcome(), Outcome(raised=good)) is not None


@pytest.mark.parametrize(
    "text", ["got (3, 4)", "3x4", "[3,4]", "shape=(3,4), wanted (12,)", "-1 (3, 4)"]
)
def test_a_shape_may_be_written_in_any_way(text):
    """The numbers in a row are what is looked for."""
    assert mentioned("(3, 4)", text)
    assert not mentioned("(3, 5)", text)


def test_numbers_inside_longer_numbers_do_not_count():
    """12 does not name 1, and 512 does not name 51."""
    assert not mentioned("1", "12")
    assert not mentioned("51", "512")
    assert mentioned("-3", "id -3 is negative")
    assert mentioned("1000", "1,000 tokens")


@given(st.floats(1e-6, 1e6), st.floats(-0.5, 0.5).filter(lambda e: abs(e) > 1e-3))
def test_a_relative_error_of_a_thousandth_is_seen_at_every_size(size, error):
    """The tolerance follows the values."""
    x = np.array([size])
    assert difference(outcome(x), outcome(x * (1 + 2 * error))) is not None


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (X * 1.414, "1.414 times"),
        (X + 0.25, "+0.25"),
        (X.T.copy(), "transposed"),
        (X * 0, "is 0"),
        (np.where(X > 100, X, np.nan), "NaN"),
        (np.roll(X, 1, 1), "shifted by one along axis 1"),
        (X * np.array([[1.0], [2.0]]), "one factor of its own"),
        (X * (1 + 5e-6), "agree in the first 5 digits"),
        (X + np.array([[0.0], [0.1]]) * X**2, "axis 0 only these of the 2 positions differ: 1."),
        (
            X + (np.arange(X.shape[1]) == 1) * X**2,
            "axis 1 only these of the 3 positions differ: 1.",
        ),
    ],
)
def test_the_explanation_names_the_pattern(got, words):
    """A person would say what is systematic about the numbers."""
    expected, given_ = outcome(X), outcome(got)
    found = difference(expected, given_)
    assert words in str(pattern(found, expected, given_))


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        (X, X * (1 + 0.05 * np.arange(6).reshape(2, 3))),  # nearly a factor is none
        (np.array([1.0]), np.array([8.0])),  # one number fits any factor
        (np.full((3, 3), 0.1), np.full((3, 3), 0.2) + 1e-3 * np.eye(3)),
        (np.full((2, 4), 0.5), np.full((2, 4), 0.25)),  # of equal numbers nobody can say
        (np.arange(6), 2 * np.arange(6)),  # ids are no quantities
    ],
)
def test_a_pattern_that_does_not_hold_is_not_told(wanted, got):
    """A hint that misleads is worse than none."""
    told = str(pattern(difference(outcome(wanted), outcome(got)), outcome(wanted), outcome(got)))
    assert not re.search("times|factor|shifted|transposed|away", told), told


def test_a_row_of_zeros_has_no_factor_and_gives_no_warning():
    """Filters of warnings are all threads' own: whoever sets them aside does so for the others too."""
    x = np.array([[1.0, 2.0, 5.0], [0.0, 0.0, 0.0], [3.0, 4.0, 7.0]])
    expected, given_ = outcome(x), outcome(x * np.array([[2.0], [1.0], [3.0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = pattern(difference(expected, given_), expected, given_)
    assert "one factor of its own" in str(told)


def test_numbers_that_look_alike_are_told_apart():
    """ "-0.340867, expected -0.340867" helps nobody."""
    found = difference(outcome(np.array([1 / 3])), outcome(np.array([1 / 3 + 1e-6])))
    assert found is not None and float(found.got) - float(found.expected) == pytest.approx(1e-6)


PLAIN = [
    (3.0, 3.0 + 1e-12, True),
    (3.0, 3, True),
    (3.0, 3.001, False),
    (3.0, float("nan"), False),
    (float("nan"), float("nan"), True),
    (3, 3, True),
    (3, 4, False),
    (3, 3.0, False),
    (1, True, False),
    (True, True, True),
    (True, False, False),
    ("abc", "abc", True),
    ("abc", "abd", False),
    (None, None, True),
    (None, 0, False),
    ({"list": [1, 2]}, {"list": [1, 2]}, True),
    ({"list": [1, 2]}, {"list": [1, 3]}, False),
    ({"list": [1, 2]}, {"list": [1]}, False),
    ({"list": [1, 2]}, 3, False),
    ({"within": [1.0, 2.0]}, 1.0, True),
    ({"within": [1.0, 2.0]}, 2.0, True),
    ({"within": [1.0, 2.0]}, 2.01, False),
    ({"within": [0.0, 2.0]}, True, False),
    ({"within": [1.0, 2.0]}, float("nan"), False),
    ({"within": [1.0, 2.0]}, "1.5", False),
    ({"offered": X}, "TypeError", True),
    ({"offered": X}, X, True),
    ({"offered": X}, X * 1.01, False),
    ({"offered": {"list": [X, 2.0]}}, {"list": [X, 2.0]}, True),
    ({"offered": {"list": [X, 2.0]}}, {"list": [X, 2.1]}, False),
    ({"offered": X}, None, False),
]


@pytest.mark.parametrize(("expected", "got", "same"), PLAIN)
def test_plain_values_agree_or_do_not(expected, got, same):
    """Numbers up to rounding, everything else by kind and value."""
    found = difference(outcome(expected), outcome(got))
    assert (found is None) == same
    if found:
        assert found.expected != found.got
        assert difference(outcome(expected), outcome(got), values=("other",)) is None


@pytest.mark.parametrize(("expected", "got"), [(3.0, 4.0), (X, X + 1), ("a", "b")])
def test_an_aspect_that_does_not_count_is_not_compared(expected, got):
    """A check that asks for errors alone is not failed by a value."""
    assert difference(outcome(expected), outcome(got), aspects=("raised", "shape")) is None
    assert difference(outcome(expected), outcome(got), aspects=("value",)) is not None


def test_a_shape_counts_where_shape_or_value_does():
    """And nowhere else."""
    for aspects, differs in ((("shape",), True), (("value",), True), (("dtype",), False)):
        found = difference(outcome(X), outcome(X[:1]), aspects=aspects)
        assert (found is not None) == differs


def test_an_error_where_none_belongs_counts_whatever_is_asked_for():
    """A check of values cannot be passed by raising."""
    raised = Outcome(raised=Raised("ValueError", ("ValueError",), "no"))
    found = difference(outcome(X), raised, aspects=("value",))
    assert found is not None and found.aspect == "raised" and found.got == "ValueError: no"
    assert difference(raised, raised, aspects=("value",)) is None
    assert difference(outcome(X), outcome(X), aspects=("value",)) is None


@pytest.mark.parametrize(
    ("mentions", "told"), [((), "ValueError"), (("7",), "ValueError naming 7")]
)
def test_the_error_that_was_expected_is_told_in_words(mentions, told):
    """Its kind, and what it should have named."""
    found = difference(Outcome(raised=Raised("ValueError", mentions=mentions)), Outcome())
    assert found is not None and (found.expected, found.got) == (told, "no error")


def test_the_first_differing_place_and_how_many_there_are():
    """Position, numbers and shape, as the explanation needs them."""
    found = difference(outcome(X), outcome(X + np.array([[0, 0, 1.0], [0, 2.0, 0]])))
    assert found is not None
    assert (found.index, found.expected, found.got) == ((0, 2), "3", "4")
    assert (found.differing, found.total, found.shape) == (2, 6, (2, 3))
    one = difference(outcome(np.array(2.0)), outcome(np.array(3.0)))
    assert one is not None and (one.index, one.expected, one.got) == ((), "2", "3")
    assert difference(outcome(np.arange(3)), outcome(np.array([0, 1, 3]))) is not None


def test_a_number_that_cancels_is_compared_with_the_array_it_came_from():
    """1e-14 beside a row of 1 is rounding, beside a row of 1e-13 it is not."""
    assert difference(outcome(np.array([[1e-14, 1.0]])), outcome(np.array([[0.0, 1.0]]))) is None
    wanted, got = np.array([[1e-14, 1e-13]]), np.array([[0.0, 1e-13]])
    assert difference(outcome(wanted), outcome(got)) is not None


STATED = {
    "float64": (1e-7, 1e-9, 1e-13),
    "float32": (1e-3, 1e-4, 2e-6),
    "float16": (3e-2, 1e-2, 2e-3),
}


@pytest.mark.parametrize("times", [None, 100.0])
@pytest.mark.parametrize("dtype", STATED)
@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 1)], ids=["itself", "its row", "the array"])
def test_a_result_may_differ_by_what_is_stated_and_no_more(dtype, place, times):
    """Of an element of 1, of a 0 beside it, and of a 0 in another row; and so many times as much where a
    build says so.
    """
    wanted, how = np.zeros((2, 2)), {} if times is None else {"times": times}
    wanted[0, 0] = 1.0
    element, row, array = STATED[dtype]
    bound = {(0, 0): element + row + array, (0, 1): row + array, (1, 1): array}[place]
    for part, same in ((0.99, True), (1.01, False)):
        got = wanted.copy()
        got[place] += part * bound * (times or 1.0)
        found = difference(outcome(wanted), outcome(got), dtype=dtype, **how)
        assert (found is None) is same


def test_what_a_call_replaced_is_told_from_an_input_that_it_changed():
    """A name with a dot is one of a module."""
    for name, told in (
        ("x", "modified"),
        ("numpy.exp", "replaced"),
        ("threading.threads", "goes on"),
    ):
        found = difference(outcome(1.0), outcome(1.0, changed=(name,)))
        assert found is not None and told in found.got


@pytest.mark.parametrize(("value", "words"), [
    ({"within": (0.25, 0.5)}, "between 0.25 and 0.5"), ({"offered": 2.0}, "2"),
    ({"odd": "an object"}, "an object"), ({"list": [1, 2.5]}, "[1, 2.5]"),
    (np.zeros((3,)), "an array (3,)"), (np.zeros((3, 4)), "an array (3, 4)"),
])  # fmt: skip
def test_a_value_is_shown_in_a_few_words(value, words):
    """As an explanation has it."""
    assert show(value) == words


def test_a_list_that_differs_where_an_array_would_not_is_told_without_a_pattern():
    """Numbers of a list are compared one by one: 1e-30 is not 0, which beside 1 in an array it is."""
    wanted = outcome({"list": [1.0, *[0.0] * 10]})
    got = outcome({"list": [1.0, *[1e-30] * 10]})
    found = difference(wanted, got)
    assert found is not None
    assert str(pattern(found, wanted, got)) == ""


def test_lists_of_arrays_of_other_lengths_name_the_first_item_that_differs():
    """Arrays are compared as arrays, and what only goes on has no such item."""
    lists = [{"list": [X, X]}, {"list": [X, X + 1, X]}, {"list": [X, X, X]}]
    found = [difference(outcome(lists[0]), outcome(got)) for got in lists[1:]]
    assert [one.index for one in found] == [(1,), ()]
    assert found[1].expected == "2 items" and found[1].got == "3 items"


def told(wanted, got, **known):
    """The pattern of one value, with what is known beside it."""
    expected, given_ = outcome(np.asarray(wanted)), outcome(np.asarray(got))
    return str(pattern(difference(expected, given_), expected, given_, known=known))


LEFT = np.tril(np.arange(1.0, 17.0).reshape(4, 4))
RIGHT = np.triu(np.arange(2.0, 18.0).reshape(4, 4), 1)
TERM = np.array([[0.3, -0.7, 1.1], [0.2, 0.9, -1.3]])


@pytest.mark.parametrize(
    ("wanted", "got", "known", "words"),
    [
        (X, X - TERM, {"x": TERM}, "`x` is not added"),
        (X, X + TERM, {"x": TERM}, "`x` is added once too often"),
        (X, X - 2 * TERM, {"x": TERM}, "`x` is subtracted where it should be added"),
        (X, TERM, {"x": TERM}, "exactly `x`, and nothing else"),
        (X, X * TERM, {"x": TERM}, "the expected ones times `x`"),
        (X, X * np.sqrt(2 / 3), {"x": TERM}, "which is sqrt((x.shape[-1] - 1) / x.shape[-1])"),
        (X * TERM, X * np.tanh(TERM), {"x": TERM}, "Where `x` should stand, `tanh(x)` does"),
        (LEFT, RIGHT, {}, "0 wherever they should not be"),
        (LEFT, LEFT - np.diag(np.diag(LEFT)), {}, "On the diagonal of the last two axes, all of yours are 0"),
        (LEFT**2, LEFT, {}, "the expected ones**0.5"),
    ],
)  # fmt: skip
def test_what_is_known_is_what_a_difference_is_told_by(wanted, got, known, words):
    """Inputs, the steps of the reference, sizes."""
    assert words in told(wanted, got, **known)


@pytest.mark.parametrize(
    ("wanted", "got", "known"),
    [
        (X, X * 1.5, {"a": np.zeros((3, 2, 4))}),  # 3 / 2 is a quotient of sizes by chance
        (X, X - 5e-6 * TERM, {"x": TERM}),  # so little of a term is none that was forgotten
        (X, X + 0.37 * TERM**2, {"x": TERM}),
        (X, X - 1e-3, {"x": np.full((2, 3), 1e-3)}),  # a constant is no term that one would name
    ],
)
def test_what_is_known_by_chance_is_not_named(wanted, got, known):
    """A wrong name misleads more than none."""
    assert not re.search("`|which is|factor is", told(wanted, got, **known))


IDS = np.array([3, 5, 3, 8, 8, 1])
TABLE = np.zeros((30, 4))
TABLE[[1, 3, 5, 8]] = np.arange(1.0, 17.0).reshape(4, 4) ** 1.5


@pytest.mark.parametrize("lost", [[3, 8], [8]])
def test_rows_that_ids_name_twice_are_told_even_where_they_hold_zeros(lost):
    """And where the last use of one of them had no gradient at all, so that it agrees."""
    got = TABLE.copy()
    got[lost] = 0
    said = told(TABLE, got, ids=IDS)
    assert (
        f"Only rows differ that come up more than once in ids: {', '.join(map(str, lost))}." in said
    )
    assert "more than once" not in told(
        TABLE, np.where(TABLE > 0, TABLE + 1e-3 * (TABLE > 20), 0), ids=IDS
    )


def test_a_single_row_among_many_repeated_ones_may_be_chance():
    """Half of the rows come up twice."""
    ids = np.repeat(np.arange(5), [2, 2, 2, 1, 1])
    wanted = np.arange(20.0).reshape(5, 4) ** 1.5
    got = wanted.copy()
    got[0] += [0.3, 0.1, 0.7, 0.2]
    assert "more than once" not in told(wanted, got, ids=ids)
