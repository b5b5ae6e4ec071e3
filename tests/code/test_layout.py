"""Edits of a text of several lines: its line breaks stay."""

from __future__ import annotations

import pytest

from engine.code.layout import with_layout
from engine.code.source import Edit, Source

BLOCKS = """\
ModuleList(
    [
        Block(
            width=1,  # small
            heads=2,
        )
        for _ in range(n)
    ]
)"""
CASES = [
    ("triu(\n    diagonal=1\n)", "triu(diagonal=2)", "triu(\n    diagonal=2\n)"),
    (
        BLOCKS,
        "ModuleList([Block(width=1, heads=2,)] * n)",
        "ModuleList(\n    [\n        Block(\n            width=1,  # small\n            heads=2,\n        )\n    ] * n\n)",
    ),
    ("drop(\n    x + y\n)", "F.drop(x + y, p)", "F.drop(\n    x + y, p\n)"),
    ("softmax(\n    x, dim=-1\n)", "softmax(x, dim=-1).fill(m, 0)", "softmax(\n    x, dim=-1\n).fill(m, 0)"),
    ("f(a, b, c)", "f(b)", "f(b)"),
    ("f(\n    a, b,\n    c)", "f(b)", "f(b)"),
    ("f(\n    a)\n", "a\n", "a\n"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "laid"), CASES)
def test_only_what_differs_is_new(old, new, laid):
    source = Source("model.py", f"y = {old}\nz = 1\n".encode())
    edit = Edit("model.py", 4, 4 + len(old), new)
    assert with_layout(source, edit).text == laid


def test_a_break_that_would_end_the_statement_is_not_kept():
    source = Source("model.py", b"y = (\n    a\n    + b\n)\n")
    edit = Edit("model.py", 4, 21, "a + c")
    assert with_layout(source, edit).text == "a + c"
