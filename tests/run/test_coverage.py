"""Which functions of a tree ran, job by job."""

from __future__ import annotations

import ast

import pytest

from engine.run.servers import RunOptions

CODE = """\
import functools


def helper(x):
    return [one(x) for one in (lambda y: y + 1,)]


@functools.lru_cache
def table():
    return 3


SIZE = table()


class Made:
    def __init__(self):
        self.x = 1

    @property
    def twice(self):
        return 2 * self.x


def generating():
    yield 1


def main(what):
    if what == "helper":
        return {"y": helper(1)}
    if what == "property":
        return {"y": Made().twice}
    if what == "generator":
        return {"y": list(generating())}
    if what == "lazy":
        import later
        return {"y": later.SIZE}
    if what == "raises":
        helper(None)
    return {"y": 0}
"""
LATER = """\
# comes late
def size():
    return 4


SIZE = size()


def unused():
    return 5
"""
ALWAYS = {"main", "table"}


def named(text: str) -> dict[int, str]:
    """The functions of a file by their first lines."""
    return {
        min(one.lineno for one in (*node.decorator_list, node)): node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    }


@pytest.fixture
def ran(lab):
    """Gives the names of the functions that ran in each of some jobs."""
    texts = {"src/mine.py": CODE, "src/later.py": LATER}
    tree = lab.tree(texts)
    names = {f"{path}:{line}": n for path, text in texts.items() for line, n in named(text).items()}

    def told(*what, covered=tuple(texts)):
        outcomes = lab.runs(
            tree, *({"what": one} for one in what), options=RunOptions(covered=covered)
        )
        return [
            None if one.ran is None else {names[place] for place in one.ran} for one in outcomes
        ]

    return told


def test_each_job_tells_what_it_ran(ran):
    """Helpers, methods, properties, generators; what ran on import counts for all."""
    assert ran("nothing", "helper", "property", "generator", "nothing", "raises") == [
        ALWAYS,
        ALWAYS | {"helper"},
        ALWAYS | {"__init__", "twice"},
        ALWAYS | {"generating"},
        ALWAYS,
        ALWAYS | {"helper"},
    ]


def test_what_a_late_import_ran_counts_from_then_on(ran):
    """It may have left its mark on what comes later."""
    assert ran("nothing", "lazy", "helper", "nothing") == [
        ALWAYS,
        ALWAYS | {"size"},
        ALWAYS | {"size", "helper"},
        ALWAYS | {"size"},
    ]


def test_deep_expressions_are_no_hindrance(lab):
    """Marks are put into syntax trees, which Python compiles less deeply than text."""
    tree = lab.tree("def main():\n    return {'y': " + " + ".join(["1"] * 1500) + "}\n")
    (plain,) = lab.runs(tree, {})
    (marked,) = lab.runs(tree, {}, options=RunOptions(covered=["src/mine.py"]))
    assert marked.values == plain.values == {"y": 1500}
    assert marked.ran == {"src/mine.py:1"}


def test_nothing_is_told_where_nobody_looked(ran):
    """It costs a little."""
    assert ran("helper", covered=()) == [None]


def test_only_what_is_asked_about_tells(ran):
    """Marks in a file cost a compilation."""
    assert ran("lazy", covered=("src/later.py",)) == [{"size"}]
    assert ran("lazy", covered=("src/mine.py",)) == [ALWAYS]
