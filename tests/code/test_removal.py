"""What a pattern with an empty `replace` takes away."""

from __future__ import annotations

import pytest

from engine.code.removal import without_item
from engine.code.source import Source
from engine.inject import patterns


def taken(before: str, find: str = "$M.ln") -> str | None:
    """The text without the first item that the pattern fits; None where it cannot go."""
    source = Source("f.py", before.encode())
    matches = patterns.find(find, source.module, source)
    edits = [without_item(source, match.node) for match in matches]
    found = next((edit for edit in edits if edit), None)
    return source.apply([found]).decode() if found else None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = pipe(x, a, *blocks, m.ln, head)", "y = pipe(x, a, *blocks, head)"),
        ("y = pipe(m.ln, head, key=1)", "y = pipe(head, key=1)"),
        ("y = pipe(x , m.ln)  # all", "y = pipe(x)  # all"),
        ("y = pipe(\n    x,\n    m.ln,\n    head,\n)", "y = pipe(\n    x,\n    head,\n)"),
        ("y = [m.ln]", "y = []"),
        ("f(m.ln)", "f()"),
        ("for part in (a, m.ln, b): x = part(x)", "for part in (a, b): x = part(x)"),
        ("y = {a, m.ln}", "y = {a}"),
        ("y = f(x, key=m.ln)", "y = f(x)"),
        ("f(\n    a,  # first\n    m.ln,  # second\n)", "f(\n    a,  # first\n)"),
        ("y = m.ln(x) + run([a, m.ln])", "y = m.ln(x) + run([a])"),
    ],
)
def test_an_item_goes_with_its_comma(before, after):
    """Whatever else the call or the sequence holds stays as it was."""
    assert taken(before) == after


@pytest.mark.parametrize(
    "before",
    [
        "y = m.ln(x)",
        "y = f(key=m.ln)",
        "m.ln = 1",
        "y = a, m.ln",
        "y = (m.ln,)",
        "y = {m.ln}",
        "f(m.ln, key=1)",
        "f((a), m.ln)",
        "f(\n    a,  # first\n    m.ln\n)",
    ],
)
def test_what_is_no_item_stays(before):
    """So does what would leave a pair without its comma, a set empty, or a comment in between."""
    assert taken(before) is None
