"""What an edit moves, wraps or stands beside stays as the learner wrote it."""

from __future__ import annotations

import ast

import pytest

from engine.code.parentheses import replaced_by
from engine.code.source import Edit, Source, apply_all
from engine.inject import patterns
from engine.inject.deadcode import removals
from engine.inject.learner_code import Code
from engine.inject.proposals import Proposals
from engine.run.types import Tree
from engine.spec.types import Append, Rewrite, Step


def rewritten(text: bytes, find: str, replace: str) -> bytes:
    """The first place of a pattern, rewritten."""
    source = Source("f.py", text)
    match = next(patterns.find(find, source.module))
    return source.apply([patterns.rewrite(source, match, find, replace)])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_a_bound_expression_keeps_its_line_ends(end):
    """It is the learner's own text, so its ends are not translated a second time."""
    old = "y = softmax(f(a,\n     b) / s)\n".replace("\n", end).encode()
    new = "y = smooth(f(a,\n     b))\n".replace("\n", end).encode()
    assert rewritten(old, "softmax($X / $S)", "smooth($X)") == new


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_an_expression_that_is_put_elsewhere_keeps_its_line_ends(end):
    """The same where one expression takes the place of another."""
    text = "x = f(a,\n  b)\ny = x / 2\n".replace("\n", end).encode()
    source = Source("f.py", text)
    first, second = source.module.body
    edits = replaced_by(source, second.value, first.value)
    assert source.apply(edits) == "x = f(a,\n  b)\ny = f(a,\n  b)\n".replace("\n", end).encode()


@pytest.mark.parametrize(
    ("find", "replace", "before", "after"),
    [
        ("$X / $S * $M", "$X * $M", "y = (a + b) / s * m\n", "y = (a + b) * m\n"),
        ("$X / $S", "$S / $X", "y = a / (b * c)\n", "y = (b * c) / a\n"),
        ("f($X)", "-$X", "y = f(a + b)\n", "y = -(a + b)\n"),
        ("$X / $S", "$X", "y = (a\n     + b) / s\n", "y = (a\n     + b)\n"),
        ("$X / $S", "$X", "y = 1 - (a - b) / s\n", "y = 1 - (a - b)\n"),
    ],
    ids=["factor", "divisor", "sign", "lines", "difference"],
)
def test_a_bound_expression_keeps_the_brackets_that_it_needs(find, replace, before, after):
    """Otherwise the operators around it, or the end of its line, would tear it apart."""
    new = rewritten(before.encode(), find, replace).decode()
    assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(after))


@pytest.mark.parametrize(
    ("find", "replace", "before", "after"),
    [
        ("$X * s", "$X", "y = (q * s) @ k\n", "y = q @ k\n"),
        ("$X * s", "$X", "y = f(q * s)\n", "y = f(q)\n"),
        ("$X * s", "$X", "y = f((q * s), k)\n", "y = f(q, k)\n"),
        ("$X * s", "$X", "y = ((a + b) * s) @ k\n", "y = (a + b) @ k\n"),
        ("$X * s", "2.0", "y = (q * s) @ k\n", "y = (2.0) @ k\n"),
        ("$X * s", "$X", "y = 1 if(q * s)else 2\n", "y = 1 if(q)else 2\n"),
    ],
    ids=["name", "call", "argument", "sum", "number", "keyword"],
)
def test_brackets_that_nothing_needs_any_more_go(find, replace, before, after):
    """`(q) @ k` is not what a person would leave; the brackets of a call are."""
    assert rewritten(before.encode(), find, replace).decode() == after


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "cp1252"])
def test_an_assignment_in_any_encoding_can_be_tidied(encoding):
    """Names and texts in the edited statement need not be ASCII."""
    text = f"# coding: {encoding}\ndef f(año, x):\n    tamaño = x / año\n    return tamaño\n"
    source = Source("f.py", text.encode(encoding))
    match = next(patterns.find("$X / $Y", source.module))
    edits = [patterns.rewrite(source, match, "$X / $Y", "$X")]
    assert removals({"f.py": source}, edits, apply_all({"f.py": source}, edits)) == ()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_an_assignment_that_became_idle_goes(encoding):
    """`tamaño = tamaño` is nothing that somebody would write."""
    text = f"# coding: {encoding}\ndef f(tamaño):\n    tamaño = tamaño / 2\n    return tamaño\n"
    source = Source("f.py", text.encode(encoding))
    match = next(patterns.find("$X / 2", source.module))
    edits = [patterns.rewrite(source, match, "$X / 2", "$X")]
    (gone,) = removals({"f.py": source}, edits, apply_all({"f.py": source}, edits))
    wanted = text.replace("    tamaño = tamaño / 2\n", "")
    assert source.apply([gone]) == wanted.encode(encoding)


def appended(body: str, method: str = "__init__", statement: str = "n = 256") -> list[str]:
    """The body of a class with a statement at the end of a method, or of the class."""
    text = f"class Head:\n{body}"
    tree = Tree("", ("",), {"head.py": text.encode()}, {"Head": "head:Head"})
    code = Code(tree, {"Head": "head.py"})
    step = Step(append=Append(role="Head", method=method, statement=statement))

    def no_trace(*_: str) -> list:
        raise AssertionError("nothing is traced for a statement that is appended")

    found = [apply_all(code.sources, edits) for edits, _ in Proposals(code, no_trace).edits(step)]
    return [files["head.py"].decode().removeprefix("class Head:\n") for files in found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "    def __init__(self):\n        self.a = 1\n",
            "    def __init__(self):\n        self.a = 1\n        n = 256\n",
        ),
        (
            "    def __init__(self):\n        self.a = 1  # why\n",
            "    def __init__(self):\n        self.a = 1  # why\n        n = 256\n",
        ),
        (
            "\tdef __init__(self):\n\t\tself.a = 1; self.b = 2\n",
            "\tdef __init__(self):\n\t\tself.a = 1; self.b = 2\n\t\tn = 256\n",
        ),
        (
            "    def __init__(self):\n        if a:\n            self.a = 1  # why",
            "    def __init__(self):\n        if a:\n            self.a = 1  # why\n        n = 256",
        ),
    ],
    ids=["plain", "comment", "semicolon", "block at the end of the file"],
)
def test_an_appended_statement_stands_on_a_line_of_its_own(before, after):
    """And the line before it is as it was, with its comment."""
    assert appended(before) == [after]


def test_a_statement_may_be_appended_to_the_class():
    """With the indentation of the class."""
    body = "    def f(self):\n        return 1  # one\n"
    assert appended(body, "") == [body + "    n = 256\n"]


def test_a_method_may_be_appended_to_the_class():
    """As somebody would write it: a blank line before it, indented as the file indents."""
    body = "\tdef f(self):\n\t\treturn 1\n"
    method = "def g(self, x):\n    if x:\n        return 2"
    wanted = body + "\n\tdef g(self, x):\n\t\tif x:\n\t\t\treturn 2\n"
    assert appended(body, "", method) == [wanted]


def test_an_edit_of_a_line_leaves_what_follows_on_it():
    """Comment, trailing spaces and the next statement."""
    line = b"a = x / 2 ;  b = a  # half  \t\r\n"
    source = Source("f.py", line)
    end = source.span(source.module.body[0].value)[1]
    assert source.apply([Edit("f.py", end - 1, end, "3")]) == line.replace(b"2", b"3")


NORM = "return ($x - $x.mean()) / np.sqrt(scale($x) + self.eps)"


def renewed(code: str, *, known: str = "") -> list[str]:
    """Each way to write the end of `Norm.forward` anew, in a tree whose role `scale` lies elsewhere."""
    roles = {"Norm": "m:Norm", "scale": "other:scale", "outer": "other:Scales.outer"}
    data = f"{known}{code}".encode()
    tree = Tree("/t", ("",), {"m.py": data}, roles)
    proposer = Proposals(Code(tree, {"Norm": "m.py"}), lambda *_: [])
    rewrite = Rewrite(role="Norm", method="forward", args=("x",), replace=NORM)
    return [
        apply_all(Code(tree, {"Norm": "m.py"}).sources, edits)["m.py"].decode()
        for edits, _ in proposer.edits(Step(rewrite=rewrite))
    ]


BOTH = "import numpy as np\nfrom other import scale\n"
LOCAL = "import numpy as np\n{0}from other import scale\n{0}"


def test_a_body_on_the_line_of_its_def_is_written_below_it():
    """Indented as the file indents, and with the parameter's own name."""
    code = "class Norm:\n  def forward(self, v): return f(v)  # short\n"
    end = "\n    return (v - v.mean()) / np.sqrt(scale(v) + self.eps)  # short\n"
    (new,) = renewed(code, known=BOTH)
    assert new == f"{BOTH}class Norm:\n  def forward(self, v):{end}"


def test_a_method_that_is_only_inherited_is_written_into_the_class():
    """The class that others share stays as it is."""
    code = "class Base:\n    def forward(self, x):\n        return x\n\n\nclass Norm(Base):\n    eps = 1\n"
    (new,) = renewed(code, known=BOTH)
    method = NORM.replace("$", "")
    assert new == f"{BOTH}{code}\n    def forward(self, x):\n        {method}\n"


def test_what_a_file_has_not_imported_is_imported_in_the_function():
    """Roles by the contract, numpy by habit."""
    code = "class Norm:\n    def forward(self, x):\n        return f(x)\n"
    (new,) = renewed(code)
    body = LOCAL.format(" " * 8) + NORM.replace("$", "")
    assert new == f"class Norm:\n    def forward(self, x):\n        {body}\n"
    ast.parse(new)


def test_a_name_that_nothing_gives_a_module_is_no_candidate():
    """It would only raise a NameError."""
    code = "class Norm:\n    def forward(self, x):\n        return f(x)\n"
    tree = Tree("/t", ("",), {"m.py": code.encode()}, {"Norm": "m:Norm"})
    rewrite = Rewrite(role="Norm", method="forward", args=("x",), replace="return nowhere($x)")
    proposer = Proposals(Code(tree, {"Norm": "m.py"}), lambda *_: [])
    assert not list(proposer.edits(Step(rewrite=rewrite)))
