"""Byte edits leave every other byte alone."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.inject.source import Edit, Source, Unencodable, overlap

TEXTS = {
    "utf-8": "x = 1\nname = 'ñ€𝛼' + str(x + 2)  # ñ\n".encode(),
    "crlf": b"x = 1\r\nif x:\r\n\ty = x + 2\r\n",
    "cr": b"x = 1\ry = x + 2\r",
    "bom": b"\xef\xbb\xbfx = 1 + 2\ny = x\n",
    "latin-1": "# -*- coding: latin-1 -*-\ns = 'ñü'; t = s + 'é' + s\n".encode("latin-1"),
    "no final newline": b"def f(a):\n  return a * a",
    "form feed": b"x = 1\n\x0c\ny = x + 2\n",
    "continued": b"x = (1 +\n     2) \\\n    + 3\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_span_is_exactly_the_text_of_its_node(name):
    """Whatever the encoding and the line ends, each expression's bytes parse to itself."""
    source = Source("f.py", TEXTS[name])
    nodes = [n for n in ast.walk(source.module) if isinstance(n, ast.expr)]
    assert nodes
    for node in nodes:
        text = source.text(*source.span(node))
        again = ast.parse(f"({text}\n)", mode="eval").body
        assert ast.dump(again) == ast.dump(node).replace("Store()", "Load()")


@pytest.mark.parametrize("name", TEXTS)
def test_an_edit_changes_nothing_outside_itself(name):
    """The bytes before and after the edited node are the old ones."""
    source = Source("f.py", TEXTS[name])
    node = max(
        (n for n in ast.walk(source.module) if isinstance(n, ast.BinOp | ast.Name)),
        key=lambda n: n.lineno,
    )
    start, end = source.span(node)
    new = source.apply([Edit("f.py", start, end, "zz")])
    assert new[:start] == source.data[:start]
    assert new[start + 2 :] == source.data[end:]


def test_inserted_lines_use_the_line_end_of_the_file():
    """A new line in a CRLF file ends as the others do."""
    source = Source("f.py", TEXTS["crlf"])
    end = source.span(source.module.body[0])[1]
    assert source.apply([Edit("f.py", end, end, "\nz = 3")]).startswith(b"x = 1\r\nz = 3\r\nif")


def test_a_character_that_the_encoding_lacks_is_refused():
    """A latin-1 file cannot take a Greek letter."""
    with pytest.raises(Unencodable):
        Source("f.py", TEXTS["latin-1"]).apply([Edit("f.py", 0, 0, "α")])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=2, max_size=4))
def test_overlap_is_found_wherever_two_edits_share_a_byte(spans):
    """Edits overlap when, sorted, one starts before the other has ended."""
    edits = [Edit("f", a, a + n, str(i)) for i, (a, n) in enumerate(spans)]
    shared = any(
        max(a.start, b.start) < min(a.end, b.end)
        for i, a in enumerate(edits)
        for b in edits[i + 1 :]
    )
    assert overlap(edits) or not shared
