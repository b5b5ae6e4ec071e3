"""Which functions must run before an edit can show."""

from __future__ import annotations

import pytest

from engine.code.functions import changed_functions

CODE = """\
import functools

LIMIT = 3


def outer(x, limit=LIMIT):
    def inner(y):
        return y + 1

    total = inner(x)
    return total


class Thing:
    size = 2

    def plain(self):
        return self.size

    @functools.cached_property
    def kept(self):
        return [lambda: 1, 2]
"""


def places(old: str, new: str) -> set[int] | None:
    """The lines of a file in which this text stands instead."""
    assert CODE.count(old) == 1
    files = {"a.py": CODE.encode(), "b.py": b"x = 1\n"}
    found = changed_functions(files, files | {"a.py": CODE.replace(old, new).encode()})
    return None if found is None else {int(place.removeprefix("a.py:")) for place in found}


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("y + 1", "y + 2", {7}),
        ("return total", "return total + 1", {6}),
        ("    total = inner(x)\n    return total", "    return inner(x)", {6}),
        ("inner(y):", "inner(y, z=1):", {6}),
        ("return self.size", "return 2", {17}),
        ("lambda: 1", "lambda: 2", {20}),
        ("y + 1", "y  +  1  # the same", set()),
    ],
)
def test_a_body_shows_when_its_function_runs(old, new, lines):
    """The innermost function that holds all of a change; decorators are its first lines."""
    assert places(old, new) == lines


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("limit=LIMIT", "limit=5"),
        ("def outer(x", "def outer(z"),
        ("    size = 2\n", "    size = 3\n"),
        ("    size = 2\n", ""),
        ("def plain", "def other"),
        ("@functools.cached_property", "@property"),
        ("class Thing:", "class Thing(dict):"),
        ("import functools\n", "import functools\nimport math\n"),
        ("def plain(self):", "async def plain(self):"),
        ("def plain(self):", "def plain(self:"),
    ],
)
def test_what_runs_on_import_may_show_anywhere(old, new):
    """So may what no longer parses."""
    assert places(old, new) is None


def test_other_files_may_show_anywhere():
    """One that comes, one that is no Python, and several that change."""
    files = {"a.py": b"def f():\n    return 1\n", "b.py": b"def g():\n    return 1\n"}
    more = files | {"c.py": b""}
    assert changed_functions(files, more) is None and changed_functions(more, files) is None
    assert changed_functions({"t.txt": b"1"}, {"t.txt": b"2"}) is None
    both = {path: data.replace(b"1", b"2") for path, data in files.items()}
    assert changed_functions(files, both) == {"a.py:1", "b.py:1"}
