"""Patterns with metavariables."""

from __future__ import annotations

import ast

import pytest

from engine.code.source import Source
from engine.inject import patterns

CASES = [
    ("self.n = $X", "self.n = 256", "self.n = emb.n  # keep\n", "self.n = 256  # keep\n"),
    ("self.n = $X", "self.n = 256", "self.n: int = f(1)\n", "self.n: int = 256\n"),
    (
        "self.n, $D = $X",
        "self.n, $D = 256, $X[1]",
        "self.n, self.d = w.shape\n",
        "self.n, self.d = 256, w.shape[1]\n",
    ),
    ("$O.n", "$O.e.n", "y = head.n + 1\n", "y = head.e.n + 1\n"),
    ("softmax($X / $S)", "softmax($X)", "a = softmax(q @ k / s)\n", "a = softmax(q @ k)\n"),
    ("$X + $X", "$X", "y = (a.b) + a.b\n", "y = a.b\n"),
    ("$X[..., 0::2]", "$X[..., :n]", "y[..., 0::2] = a\n", "y[..., :n] = a\n"),
    ("sum($X)", "$X.total()", "y = sum(a + b)\n", "y = (a + b).total()\n"),
    ("$X = $X + $Y", "$X = $Y", "x = x + attn(x)\n", "x = attn(x)\n"),
    ("$M.at($A, $I, $G)", "$A[$I] += $G", "z = 0; m.at(a, i, -g)\n", "z = 0; a[i] += -g\n"),
    ("$M.at($A, $G)", "$A += $G", "if m: m.at(a, b if c else d)\n", "if m: a += b if c else d\n"),
    (
        "self.n = $X",
        "self.n, self.m = 1, $X",
        "class A:\n  def f(me, self): me.n = self\n",
        "class A:\n  def f(me, self): me.n, me.m = 1, self\n",
    ),
    (
        "for $V in $X:\n    $S += $V",
        "for $V in $X[1:]:\n    $S += $V",
        "def f(a):\n  s = 0\n  for v in a:\n    s += v\n  return s\n",
        "def f(a):\n  s = 0\n  for v in a[1:]:\n    s += v\n  return s\n",
    ),
    (
        "if $M:\n    $X = 1",
        "if $M:\n    $X = 2",
        "def f(m):\n\tif m:\n\t\tx = 1\n\treturn x\n",
        "def f(m):\n\tif m:\n\t\tx = 2\n\treturn x\n",
    ),
]


@pytest.mark.parametrize(("find", "replace", "before", "after"), CASES)
def test_a_pattern_rewrites_the_smallest_part(find, replace, before, after):
    """What both templates share is left as the learner wrote it."""
    source = Source("f.py", before.encode())
    match = next(patterns.find(find, source.module, source))
    assert source.apply([patterns.rewrite(source, match, find, replace)]).decode() == after


@pytest.mark.parametrize("text", ["y = a + b", "x.n = 1", "self.m = 1", "self.n += 1"])
def test_a_pattern_does_not_fit_other_code(text):
    """`self.n = $X` fits just that assignment, and `$X + $X` only equal operands."""
    module = ast.parse(text)
    assert not list(patterns.find("self.n = $X", module))
    assert not list(patterns.find("$X + $X", module))
