"""Byte edits leave every other byte alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.code import changes, syntax
from engine.code.parentheses import parenthesised, replaced_by
from engine.code.source import Edit, Source, Unencodable, overlap
from engine.code.surroundings import visible_names

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


@pytest.mark.parametrize(
    ("code", "node", "new", "fitted"),
    [
        ("y = f(x) * s", "f(x)", "a + b", "(a + b)"),
        ("y = f(x) * s", "f(x)", "a * b", "a * b"),
        ("y = f(x) + s", "f(x)", "a * b", "a * b"),
        ("y = s - f(x)", "f(x)", "a - b", "(a - b)"),
        ("y = f(x)[0]", "f(x)", "a - b", "(a - b)"),
        ("y = f(x).sum()", "f(x)", "a", "a"),
        ("y = -f(x)", "f(x)", "a + b", "(a + b)"),
        ("y = g(f(x), 1)", "f(x)", "a + b", "a + b"),
        ("y = (f(x))", "f(x)", "a + b", "a + b"),
        ("y = [f(x) for x in z]", "f(x)", "a + b", "a + b"),
        ("y = f(x) if x else 0", "f(x)", "a if b else c", "(a if b else c)"),
        ("y = (1 +\n f(x) *\n 3)", "f(x)", "a + b", "(a + b)"),
    ],
)
def test_new_text_is_in_parentheses_only_where_it_would_fall_apart(code, node, new, fitted):
    """What surrounds it decides."""
    source = Source("f.py", code.encode())
    found = next(n for n in ast.walk(source.module) if ast.unparse(n) == node)
    assert parenthesised(source, found, new) == fitted


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("y = (x + e).sqrt()", "y = x.sqrt()"),
        ("y = f(x + e)", "y = f(x)"),
        ("y = f((x + e))", "y = f(x)"),
        ("y = print (x + e)", "y = print (x)"),
        ("y = 1 if (x + e) else 2", "y = 1 if x else 2"),
        ("y = 1 if(x + e)else 2", "y = 1 if(x)else 2"),
        ("y = a[(x + e)]", "y = a[x]"),
    ],
)
def test_parentheses_that_a_name_does_not_need_go_with_the_sum(code, without):
    """But those of a call stay, and those that keep a keyword from a name."""
    source = Source("f.py", code.encode())
    total = next(n for n in ast.walk(source.module) if isinstance(n, ast.BinOp))
    assert source.apply(replaced_by(source, total, total.left)).decode() == without


def test_names_in_sight():
    """Of the module, of the functions around, of builtins; not of functions beside."""
    source = Source(
        "f.py", b"import m\ndef g(a):\n  b = [c for c in a]\n  return lambda d: a + d\n"
    )
    adding = next(n for n in ast.walk(source.module) if isinstance(n, ast.BinOp))
    visible = visible_names(source, adding)
    assert visible is not None and {"m", "g", "a", "b", "d", "len"} <= visible
    assert "c" not in visible
    assert visible_names(Source("f.py", b"from m import *\nx = 1 + 2\n"), adding) is not None
    starred = Source("f.py", b"from m import *\nx = 1 + 2\n")
    assert visible_names(starred, starred.module.body[1].value) is None


def test_walking_gives_what_ast_walk_gives() -> None:
    """The remembered walk has the nodes of the slow one but for `ctx`, in its order, on the second time
    too.
    """

    def kept(nodes):
        return [node for node in nodes if not isinstance(node, ast.expr_context)]

    for file in sorted(Path(syntax.__file__).parent.glob("*.py")):
        module = syntax.parsed(file.read_bytes())
        for node in (module, *module.body, *module.body):
            assert list(syntax.walked(node)) == kept(ast.walk(node))
            assert list(syntax.children(node)) == kept(ast.iter_child_nodes(node))


LATIN = TEXTS["latin-1"]
ALIKE = {
    "a comment": (b"x = 1\n", b"# why\nx = 1  # because\n"),
    "layout": (b"x = f(1,2)\n", b"x = f(\n    1,\n    2,\n)\n"),
    "line ends": (b"x = 1\ny = 2\n", b"x = 1\r\ny = 2\r\n"),
}
UNLIKE = {
    "an int for a float": (b"x = 1\n", b"x = 1.0\n"),
    "True for 1": (b"x = 1\n", b"x = True\n"),
    "the docstring": (b'"""One."""\n', b'"""Two."""\n'),
    "the encoding that is declared": (LATIN, LATIN.replace(b"latin-1", b"cp1251")),
    "an encoding that there is not": (LATIN, LATIN.replace(b"latin-1", b"latin-2")),
    "what cannot be parsed": (b"x = 1\n", b"x = = 1\n"),
    "nothing instead": (b"x = 1\n", None),
}


@pytest.mark.parametrize("name", ALIKE)
def test_comments_and_layout_are_no_difference(name):
    """What compiles to the same code is the same code."""
    one, other = ALIKE[name]
    assert changes.differing({"a.py": one}, {"a.py": other}) == set()
    assert changes.differing({"a.txt": one}, {"a.txt": other}) == {"a.txt"}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_may_run_otherwise_is_a_difference(name):
    """Also where the bytes of every line are the same, and where a file is on one side only."""
    one, other = ({} if data is None else {"a.py": data} for data in UNLIKE[name])
    assert changes.differing(one, other) == {"a.py"}
