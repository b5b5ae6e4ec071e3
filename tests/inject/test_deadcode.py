"""What an edit leaves without use goes, and nothing else does."""

from __future__ import annotations

import textwrap

import pytest

from engine.code.source import Edit, Source, apply_all, overlap
from engine.inject.deadcode import dead_code_added, removals


def tidy(code: str, old: str, new: str) -> str:
    """`code` with the first `old` replaced by `new`, part by part between semicolons, then tidied."""
    text = textwrap.dedent(code)
    sources = {"m.py": Source("m.py", text.encode())}
    edits = []
    for was, now in zip(old.split("; "), new.split("; "), strict=True):
        start = text.encode().index(was.encode())
        edits.append(Edit("m.py", start, start + len(was.encode()), now))
    extra = removals(sources, edits, apply_all(sources, edits))
    kept = [e for e in edits if not any(x.start <= e.start and e.end <= x.end for x in extra)]
    assert not overlap((*kept, *extra))
    files = apply_all(sources, (*kept, *extra))
    return files.get("m.py", text.encode()).decode()


CASES = {
    "an assignment that nobody reads": (
        "def f(x):\n    s = x.sum()\n    return x / s\n", "x / s", "x",
        "def f(x):\n    return x\n",
    ),
    "a chain of them": (
        "def f(x):\n    d = len(x)\n    s = d ** 0.5\n    return x / s\n", "x / s", "x",
        "def f(x):\n    return x\n",
    ),
    "one behind a statement that came": (
        "def f(p, g):\n    g = h(g)\n    m = g * 2\n    d = p * 3\n    return m - d\n",
        "m = g * 2; m - d", "g = g + p\n    m = g * 2; m",
        "def f(p, g):\n    g = h(g)\n    g = g + p\n    m = g * 2\n    return m\n",
    ),
    "one that stays because another reads it": (
        "def f(x):\n    d = len(x)\n    s = d ** 0.5\n    return x / s, d\n", "x / s", "x",
        "def f(x):\n    d = len(x)\n    return x, d\n",
    ),
    "x = x": (
        "def f(x):\n    x = x - x.max()\n    return x\n", "x - x.max()", "x",
        "def f(x):\n    return x\n",
    ),
    "x = x as one of two on a line": (
        "def f(a):\n    x = a; x = x - x.max()  # why\n    return x\n", "x - x.max()", "x",
        "def f(a):\n    x = a  # why\n    return x\n",
    ),
    "the `if` around it": (
        "def f(x, m):\n    if m: x = x + m\n    return x\n", "x + m", "x",
        "def f(x, m):\n    return x\n",
    ),
    "a pair of a tuple": (
        "def f(i, g):\n    i, g = s(i), t(g)\n    return i, g\n", "s(i)", "i",
        "def f(i, g):\n    g = t(g)\n    return i, g\n",
    ),
    "an in-place call of which its operand is left": (
        "def f(x, m):\n    sub(x, m, out=x)\n    return x\n", "sub(x, m, out=x)", "x",
        "def f(x, m):\n    return x\n",
    ),
    "`x += 1` of which `x` is left": (
        "def f(x, m):\n    x += m\n    return x\n", "x += m", "x",
        "def f(x, m):\n    return x\n",
    ),
    "an attribute's assignment of which a name is left": (
        "def f(x):\n    x.grad = None\n    return x\n", "x.grad = None", "x",
        "def f(x):\n    return x\n",
    ),
    "the `for` around it": (
        "def f(x, m):\n    for one in (x, m):\n        one.clear()\n    return x\n", "one.clear()", "one",
        "def f(x, m):\n    return x\n",
    ),
    "the comment above it": (
        "def f(x, m):\n    y = g(m)\n    # both,\n    # always\n    sub(x, m)\n    # more\n    return x\n",
        "sub(x, m)", "x", "def f(x, m):\n    y = g(m)\n    # more\n    return x\n",
    ),
    "no comment of another block, or behind an empty line": (
        "def f(x, m):\n    if m:\n        g(m)\n        # a\n    # b\n\n    sub(x, m)\n    return x\n",
        "sub(x, m)", "x", "def f(x, m):\n    if m:\n        g(m)\n        # a\n    # b\n\n    return x\n",
    ),
    "both of two on a line, and its comment": (
        "def f(x, m):\n    x.clear(); m.clear()  # both\n    return x, m\n",
        "x.clear(); m.clear()", "x; m", "def f(x, m):\n    return x, m\n",
    ),
    "the first two of three on a line": (
        "def f(x, m):\n    x.clear(); m.clear(); g(x)\n    return x, m\n",
        "x.clear(); m.clear()", "x; m", "def f(x, m):\n    g(x)\n    return x, m\n",
    ),
    "a loop that fills a list for nobody": (
        "def f(x):\n    out = []\n    for row in x:\n        if not len(row):\n            continue\n"
        "        out.append(g(row))\n    return stack(out)\n", "stack(out)", "x",
        "def f(x):\n    return x\n",
    ),
    "a loop that writes into an array of arrays": (
        "def f(x):\n    out = zeros(x)\n    for i in range(3):\n        out[i][0] += x[i]\n"
        "    return out\n", "return out", "return x",
        "def f(x):\n    return x\n",
    ),
    "a backward that nobody registers": (
        "def f(x):\n    y = g(x)\n    def back(d):\n        return d * y\n    return node(y, back)\n",
        "node(y, back)", "x", "def f(x):\n    return x\n",
    ),
    "a statement that has become `pass`": (
        "def f(x):\n    x *= 2  # why\n    return x\n", "x *= 2", "pass",
        "def f(x):\n    return x\n",
    ),
    "one of two on a line": (
        "def f(x):\n    y = x; x *= 2\n    return x + y\n", "x *= 2", "pass",
        "def f(x):\n    y = x\n    return x + y\n",
    ),
    "an import of one name": (
        "import math\n\ndef f(x):\n    return x / math.sqrt(2)\n", "x / math.sqrt(2)", "x",
        "\ndef f(x):\n    return x\n",
    ),
    "one name of an import of several": (
        "from n import a, s, t\n\ndef f(x):\n    return a(t(s(x)))\n", "s(x)", "x",
        "from n import a, t\n\ndef f(x):\n    return a(t(x))\n",
    ),
    "the last of several": (
        "from n import a, s\n\ndef f(x):\n    return a(s(x))\n", "s(x)", "x",
        "from n import a\n\ndef f(x):\n    return a(x)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "old", "new", "tidier"), CASES.values(), ids=CASES)
def test_what_an_edit_leaves_without_use_goes(code: str, old: str, new: str, tidier: str) -> None:
    """And every other byte stays."""
    assert tidy(code, old, new) == tidier


KEPT = {
    "a check that may raise": "def f(x, d):\n    if d < 0:\n        raise ValueError(d)\n    return x / d\n",
    "an attribute of an object": "def f(self, x, d):\n    self.d = d\n    return x / d\n",
    "a name of the enclosing module": "d = 3\n\ndef f(x):\n    global e\n    e = 2\n    return x / d\n",
    "a call for its effect": "def f(x, d):\n    log(d)\n    return x / d\n",
    "what was idle before": "def f(x, d):\n    unused = 3\n    return x / d\n",
    "an argument that is changed": "def f(x, d, seen):\n    seen.append(d)\n    return x / d\n",
    "a yield": "def f(x, d):\n    e = yield d\n    return x / d\n",
}


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT)
def test_what_does_more_than_make_a_value_stays(code: str) -> None:
    """Effects, checks, and what was without use already."""
    assert tidy(code, "x / d", "x") == code.replace("x / d", "x")


def test_a_statement_that_has_become_pass_goes_though_another_edit_adds_a_line() -> None:
    """Before and after can then not be compared statement by statement."""
    code = b"def f(p, g):\n    m = h(g, g)\n    p *= 2\n    return p - m\n"
    sources = {"m.py": Source("m.py", code)}
    first, second = code.index(b"m = h"), code.index(b"p *= 2")
    edits = (
        Edit("m.py", first, first, "g = g + p\n    "),
        Edit("m.py", second, second + 6, "pass"),
    )
    (gone,) = removals(sources, edits, apply_all(sources, edits))
    kept = (edits[0], gone)
    assert apply_all(sources, kept)["m.py"] == (
        b"def f(p, g):\n    g = g + p\n    m = h(g, g)\n    return p - m\n"
    )


def test_an_import_that_other_files_take_from_here_stays() -> None:
    """`from .norm import np` is bad style, and works."""
    code = b"import numpy as np\n\ndef f(x):\n    return np.sqrt(x)\n"
    other = b"from .norm import np\n"
    sources = {"p/norm.py": Source("p/norm.py", code), "p/b.py": Source("p/b.py", other)}
    start = code.index(b"np.sqrt(x)")
    edits = (Edit("p/norm.py", start, start + 10, "x"),)
    assert removals(sources, edits, apply_all(sources, edits)) == ()


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("def f(x):\n    return x\n", 0),
        ("def f(x):\n    y = 2\n    return x\n", 1),
        ("import math\n\ndef f(x):\n    return x\n", 1),
        ("def f(x):\n    return x\n    print(x)\n", 1),
        ("def f(x):\n    x = x\n    return x\n", 1),
        ("def f(x):\n    return x * 1.0 + 0\n", 2),
        ("def f(x):\n    x *= 1.0\n    return x\n", 1),
        ("def f(x):\n    return x + 1\n", 0),
    ],
)
def test_what_a_reader_would_stumble_over_is_counted(code: str, count: int) -> None:
    """So that a candidate without it can win over one with."""
    clean = b"def f(x):\n    return x\n"
    assert dead_code_added(Source("m.py", clean), code.encode()) == count
    assert dead_code_added(Source("m.py", code.encode()), clean) == -count
