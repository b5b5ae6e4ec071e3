"""A comment that states the healthy fact beside the bug goes with the edit, and nothing else does."""

from __future__ import annotations

import pytest

from engine.flows import break_ as planning
from engine.inject.lies import without_lies

WORDS = ("scal", "sqrt", "escal", "raíz")
HEALTHY = '''"""Attention.

Scores are scaled by 1 / sqrt(d).

Nothing else is said here.
"""

import math

# the scale of everything
WIDTH = 8


# Dot products, scaled.
def attend(q, k, v):
    """Weights times values.

    The scores are scaled, so that their variance is 1.
    """
    # (T, T), one row for each query
    scores = q @ k.T
    # Escala las puntuaciones, o softmax se satura.
    scores = scores / math.sqrt(q.shape[-1])  # keeps the variance at 1
    return softmax(scores) @ v  # weights


def rope(x):
    """Rotates by scaled angles."""
    return x  # no scale
'''
BROKEN = HEALTHY.replace(
    "    scores = scores / math.sqrt(q.shape[-1])  # keeps the variance at 1\n", ""
)
QUIET = '''"""Attention.

Nothing else is said here.
"""

import math

# the scale of everything
WIDTH = 8


def attend(q, k, v):
    """Weights times values.
    """
    # (T, T), one row for each query
    scores = q @ k.T
    return softmax(scores) @ v  # weights


def rope(x):
    """Rotates by scaled angles."""
    return x  # no scale
'''


def test_a_break_takes_its_lies_along(servers, catalogue, plain) -> None:
    """In the learner's code as it is broken, not only by itself."""
    file = "src/minimodel/nn/attention.py"
    healthy = plain.files[file].decode()
    planned = planning.plan_break(servers, catalogue, "attention-no-scale", plain, seed=5)
    broken = planned.injection.files[file].decode()
    assert "softmax(q k^T / sqrt(d)) v." in healthy and "sqrt(d)" not in broken


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_lies_beside_the_bug_goes_and_every_other_byte_stays(newline: str) -> None:
    """The function, what stands above it, and the module's docstring; the function beside it is left alone."""
    old, new, want = (text.replace("\n", newline).encode() for text in (HEALTHY, BROKEN, QUIET))
    assert without_lies("a.py", old, new, WORDS).decode() == want.decode()


def test_a_comment_on_a_changed_line_goes_where_it_lies() -> None:
    """And stays where it says something else, or where no word is known."""
    old = b"def f(x):\n    y = x / 2  # scaled\n    return y  # done\n"
    new = old.replace(b"x / 2", b"x")
    assert without_lies("a.py", old, new, WORDS) == new.replace(b"  # scaled", b"")
    assert without_lies("a.py", old, new, ()) == new


def test_a_comment_that_goes_on_below_goes_whole() -> None:
    old = b"def f(x):\n    return x * 2  # scaled\n                  # by two\n    # the end\n"
    new = b"def f(x):\n    return x\n    # the end\n"
    assert without_lies("a.py", old, old.replace(b"x * 2", b"x"), WORDS) == new


def test_a_word_is_found_by_its_beginning_only() -> None:
    """`scal` is in `scaled` and not in `rascal`; what tools read stays."""
    old = b"def f(x):\n    # rascal\n    # type: scaled\n    z = 1\n    return x * 2\n"
    new = old.replace(b"x * 2", b"x")
    assert without_lies("a.py", old, new, WORDS) == new


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("Average the values. Scores are scaled\n    by the root. Nothing else.", "Average the values. Nothing else."),
        ("Scaled scores.\n\n    A row of nothing is 0.\n    ", "A row of nothing is 0.\n    "),
        ("\n    Parameters\n    ----------\n    d : int\n        A size.\n    e : float\n        Scaled by it.\n    ",
         "\n    Parameters\n    ----------\n    d : int\n        A size.\n    "),
        ("Scaled scores.\n\n    Parameters\n    ----------\n    d : int\n        A size.\n    ",
         "\n    Parameters\n    ----------\n    d : int\n        A size.\n    "),
        ("Weights.\n\n    They are scaled.", "Weights."),
        ("A rascal. No lie, though.", "A rascal. No lie, though."),
        ("A block:\n    - a sum\n    - scores that are scaled\n    - a norm\n    ",
         "A block:\n    - a sum\n    - a norm\n    "),
    ],
)  # fmt: skip
def test_of_a_docstring_the_sentences_go_that_lie(told: str, left: str) -> None:
    """The others stay as they are."""
    old = f'def f(x):\n    """{told}"""\n    return x * 2\n'
    new = old.replace("x * 2", "x").encode()
    assert without_lies("a.py", old.encode(), new, WORDS).decode() == (
        f'def f(x):\n    """{left}"""\n    return x\n'
    )


def test_a_docstring_of_one_line_goes_with_its_line() -> None:
    """But not where it is the whole body."""
    old = b'class A:\n    """Scaled."""\n\n    def f(self, x):\n        return x * 2\n'
    new = old.replace(b"x * 2", b"x")
    assert without_lies("a.py", old, new, WORDS) == new.replace(b'    """Scaled."""\n', b"")
    alone = b'class A:\n    def f(self, x):\n        return x * 2\n\n    def g(self):\n        """Scaled."""\n'
    assert without_lies("a.py", alone, alone.replace(b"x * 2", b"x"), WORDS) == alone.replace(
        b"x * 2", b"x"
    )


def test_no_more_blank_lines_are_left_than_stood_behind_what_has_gone():
    healthy = b"def f(x):\n    a = 1\n\n    b = g(a)\n\n    # of b\n    c = b\n\n\n    return a\n"
    broken = b"def f(x):\n    a = 1\n\n\n    # of b\n\n\n    return a\n"
    quiet = b"def f(x):\n    a = 1\n\n\n    return a\n"
    assert without_lies("a.py", healthy, broken, ("of b",)) == quiet


def test_the_number_of_an_item_goes_with_the_item():
    text = b'"""A model.\n\n1. Rows of positions\n2. Blocks of layers\n3. A head\n"""\n\nx = 1\n'
    quiet = text.replace(b"1. Rows of positions\n", b"").replace(b"x = 1", b"x = 2")
    assert without_lies("a.py", text, text.replace(b"x = 1", b"x = 2"), ("position",)) == quiet
