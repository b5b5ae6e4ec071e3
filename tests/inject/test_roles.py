"""A template names roles; the learner's own expressions for them are put in their place."""

from __future__ import annotations

import ast

import pytest

from engine.inject.places import Site
from engine.inject.proposers import Code, Proposer
from engine.run.types import Tree
from engine.spec.types import RoleEdit, Step

CODE = """\
class A:
    def split(self, y):
        return y[: self.size]

    def forward(self, y):
        begin = 0
        for i in range(2):
            begin = begin + 3
        joined = concat(y)
        return joined
"""


def texts(passing: set[str], steady: set[str]) -> list[str]:
    """What `concat(y)` becomes, where these expressions held the size, in passing or always."""
    tree = Tree("", ("",), {"m.py": CODE.encode()}, {"A": "m:A"})
    code = Code(tree, {"A": "m.py"})

    def trace(_: str, __: str, value: str) -> list[Site]:
        wanted = {"joined": {"concat(y)"}, "size": passing | steady}[value]
        return [
            Site("m.py", n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0,
                 type(n).__name__, ast.unparse(n) not in passing)
            for n in ast.walk(ast.parse(CODE))
            if isinstance(n, ast.expr) and ast.unparse(n) in wanted
        ]  # fmt: skip

    edit = RoleEdit(
        value="joined", probe="c.p", regime="normal", replace="$SELF.reshape($size)", inside=("A",)
    )
    found = Proposer(code, trace).edits(Step(graft=edit))
    return [code.sources["m.py"].apply(edits).decode() for edits, _ in found]


@pytest.mark.parametrize("word", ["begin", "self.size"])
def test_a_name_or_an_attribute_of_another_method_is_found(word: str) -> None:
    """Whatever holds the value and can be read there."""
    assert texts(set(), {word})[0] == CODE.replace("concat(y)", f"concat(y).reshape({word})")


def test_what_always_held_the_value_comes_first() -> None:
    """A counter that passed by is nearer, and wrong."""
    first, second = texts({"begin"}, {"self.size"})[:2]
    assert "reshape(self.size)" in first and "reshape(begin)" in second


def test_nothing_is_made_up_for_a_role_that_no_expression_holds() -> None:
    """No candidate at all."""
    assert texts(set(), set()) == []
