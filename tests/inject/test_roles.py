"""A template names roles; the learner's own expressions for them are put in their place."""

from __future__ import annotations

import ast

import pytest

from engine.inject.learner_code import Code
from engine.inject.places import Site
from engine.inject.proposals import Proposals
from engine.inject.proposers.templates import with_expressions
from engine.run.types import Tree
from engine.spec.types import Pattern, RoleEdit, Step

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
    found = Proposals(code, trace).edits(Step(graft=edit))
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


def proposals(code: str, held: dict[str, set[str]], edit: RoleEdit) -> list[str]:
    """What an edit makes of a file, where these expressions held these values each time."""
    tree = Tree("", ("",), {"m.py": code.encode()}, {"f": "m:f"})
    parsed = Code(tree, {"f": "m.py"})

    def trace(_: str, __: str, value: str) -> list[Site]:
        return [
            Site("m.py", n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0,
                 type(n).__name__)
            for n in ast.walk(ast.parse(code))
            if isinstance(n, ast.expr) and isinstance(getattr(n, "ctx", ast.Load()), ast.Load)
            and ast.unparse(n) in held.get(value, ())
        ]  # fmt: skip

    found = Proposals(parsed, trace).edits(Step(role=edit))
    return [parsed.sources["m.py"].apply(edits).decode() for edits, _ in found]


def named(replace: str, name: str) -> RoleEdit:
    """An edit of the value `g` that stands on a line of its own."""
    return RoleEdit(
        value="g", probe="c.p", regime="normal", replace=replace, inside=("f",), named=name
    )


READ_TWICE = """\
def f(ps, m, c):
    for p in ps:
        if p.grad is None:
            continue
        m = c * m + p.grad
        v = p.grad**2
        p.data -= m / v
"""


def test_what_is_read_in_several_places_is_given_a_name_before_the_first() -> None:
    """Where it is only asked whether it is None it stays."""
    held = {"g": {"p.grad"}, "c": {"c"}}
    start, rest = READ_TWICE.split("        m = ")
    wanted = f"{start}        g = p.grad * c\n        m = {rest.replace('p.grad', 'g')}"
    assert proposals(READ_TWICE, held, named("$SELF * $c", "g"))[0] == wanted


def test_a_name_that_is_taken_is_not_given() -> None:
    """It would be lost for whoever reads it."""
    assert proposals(READ_TWICE, {"g": {"p.grad"}}, named("-$SELF", "m")) == []


def test_a_name_of_the_learners_own_is_bound_anew() -> None:
    """And every place that reads it stays as it is; on a shared line with a semicolon."""
    code = "def f(g):\n    h = 1; a = g + h\n    return a * g\n"
    first, second = proposals(code, {"g": {"g"}}, named("$SELF.softmax()", "x"))
    assert first == "def f(g):\n    h = 1; g = g.softmax(); a = g + h\n    return a * g\n"
    assert second == "def f(g):\n    h = 1; a = g + h\n    g = g.softmax()\n    return a * g\n"


def test_what_is_read_further_down_only_can_be_known_before() -> None:
    """`p.data` where p is known; a name that is bound further down cannot."""
    code = "def f(ps):\n    for p in ps:\n        g = p.grad\n        w = p.data\n        p.data -= g * w\n"
    edit = RoleEdit(value="g", probe="c.p", regime="normal", replace="$SELF + $w", inside=("f",))
    held = {"g": {"p.grad"}, "w": {"w", "p.data"}}
    assert proposals(code, held, edit) == [code.replace("p.grad", "p.grad + p.data")]


def test_places_that_know_no_name_for_a_role_do_not_use_up_the_tries() -> None:
    """Twenty functions that hold the value, and one that can be edited."""
    others = "".join(f"def b{i}(long_name_{i}):\n    return long_name_{i}\n" for i in range(20))
    code = f"{others}def f(g, w):\n    return g - w\n"
    edit = RoleEdit(value="g", probe="c.p", regime="normal", replace="$SELF + $w")
    held = {"g": {"g", *(f"long_name_{i}" for i in range(20))}, "w": {"w"}}
    assert proposals(code, held, edit) == [code.replace("g - w", "g + w - w")]


@pytest.mark.parametrize(
    ("own", "template", "wanted"),
    [
        ("a * b", "$x - $y", "a * b - y"),
        ("a - b", "y - $x", "y - (a - b)"),
        ("a + b", "$x.sum()", "(a + b).sum()"),
        ("a + b", "f($x)", "f(a + b)"),
        ("a +\n     b", "f($x)", "f((a +\n     b))"),
    ],
)
def test_the_learners_own_text_gets_parentheses_where_it_needs_them(
    own: str, template: str, wanted: str
) -> None:
    """As a person would write it."""
    code = f"def f(a, b, y):\n    z = ({own})\n    return z\n"
    source = Code(Tree("", ("",), {"m.py": code.encode()}, {}), {}).sources["m.py"]
    (node,) = [n for n in ast.walk(source.module) if isinstance(n, ast.BinOp)]
    (name,) = [n for n in ast.walk(source.module) if isinstance(n, ast.arg) and n.arg == "y"]
    y = ast.copy_location(ast.Name("y", ast.Load()), name)
    assert with_expressions(source, template, {"x": node, "y": y}) == wanted


FRONT = "from work import half\n\n\ndef run_half(x):\n    return half(x * 1)\n"
WORK = "def half(x):\n    return x * 1 / 2\n\n\ndef idle(x):\n    return x * 1\n"


def test_a_front_is_looked_at_when_all_else_has_been() -> None:
    """Adapters hold what they hand on; a bug belongs into the code behind them."""
    tree = Tree("", ("",), {"front.py": FRONT.encode(), "work.py": WORK.encode()}, {})
    code = Code(tree, {}, fronts=["front.py"])

    def trace(_: str, __: str, value: str) -> list[Site]:
        return [Site("front.py", 5, 16, 5, 21, "BinOp"), Site("work.py", 2, 11, 2, 16, "BinOp")]

    step = Step(role=RoleEdit(value="x", probe="c.p", regime="normal", replace="2"))
    places = [
        [edits[0].path for edits, _ in Proposals(code, trace).edits(step, shared)]
        for shared in (False, True)
    ]
    assert places == [["work.py"], ["work.py", "front.py"]]


def test_a_pattern_is_tried_in_functions_that_ran() -> None:
    """And on the level of modules; everywhere, where nobody knows what ran."""
    tree = Tree("", ("",), {"work.py": WORK.encode()}, {})
    step = Step(pattern=Pattern(find="$X * 1", replace="$X * 3"))

    def lines(ran: frozenset[str] | None) -> list[int]:
        found = Proposals(Code(tree, {}, ran), lambda *_: []).edits(step)
        return sorted(WORK[: edits[0].start].count("\n") + 1 for edits, _ in found)

    assert lines(frozenset({"work.py:1"})) == [2]
    assert lines(None) == [2, 6]
