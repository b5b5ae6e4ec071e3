"""Forms in which public code writes a part, that the ways of a break must reach. Nothing is run."""

from __future__ import annotations

import pytest

from engine.code.source import Source
from engine.inject.lies import without_lies
from engine.inject.spans import Where, edits_of
from engine.spec.catalogue import Catalogue
from tests.inject.test_spans import span

GPT = Catalogue.find("gpt")
LIST = """\
def forward(self, x):
    layers = chain([self.embedding], self.layers, [self.ln, self.output])
    return reduce(lambda x, layer: layer(x), layers, x)
"""
SEQUENTIAL = """\
class GPT(nn.Module):
    def __init__(self, d, v):
        self.head = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, v))

    def forward(self, x):
        return self.head(x)
"""
MASK = """\
import torch as t


def mask(n, m):
    return t.tril(t.ones((n, m))).bool()
"""
APPENDED = """\
class GPT(nn.Module):
    def __init__(self, n):
        self.layers = nn.ModuleList()
        for i in range(n):
            block = Block(n)
            self.layers.append(block)
"""
DROPOUT = """\
import torch


class Block(torch.nn.Module):
    def forward(self, x):
        return x + self.dropout(x)
"""
DROPPED = ("self.dropout(x)", "torch.nn.functional.dropout(x, self.dropout.p)")
LOOP = """\
        for i in range(n):
            block = Block(n)
"""
HOISTED = """\
        block = Block(n)
        for i in range(n):
"""
FORMS = [
    ("final-norm-missing-gpt", LIST, "layer(x)", "[self.ln, self.output]", "[self.output]"),
    ("final-norm-missing-gpt", SEQUENTIAL, "self.head(x)", "nn.LayerNorm(d), ", ""),
    ("mask-one-ahead", MASK, "", "ones((n, m)))", "ones((n, m)), 1)"),
    ("one-block-n-times", APPENDED, "", LOOP, HOISTED),
    ("dropout-ignores-eval", DROPOUT, "self.dropout(x)", *DROPPED),
]


@pytest.mark.parametrize(("id", "code", "at", "old", "new"), FORMS)
def test_a_way_reaches_it(id: str, code: str, at: str, old: str, new: str) -> None:
    """at: where each part was seen. old, new: what one of the candidates changes."""
    data = code.encode()
    source = Source("a.py", data)
    assert code.count(old) == 1
    ways = [way for variant in GPT.proof(id).variants for way in variant.ways]
    parts = {one.at for way in ways for one in way.edits}
    seen = {part: [span(data, at)] for part in parts if at}
    where = Where({"a.py": source}, seen, ["a.py"], {})
    made = {source.apply(edits).decode() for way in ways for edits in edits_of(where, way)}
    assert code.replace(old, new) in made


@pytest.mark.parametrize(
    ("id", "comment"),
    [
        ("softmax-over-queries", "# softmax over the key dimension"),
        ("residual-around-ffn-missing", "# Norm -> Sublayer -> Add"),
        ("residual-around-attention-missing", "# x + Attention(LN(x))"),
    ],
)
def test_a_comment_that_states_the_healthy_fact_goes(id: str, comment: str) -> None:
    code = f"def f(x):\n    {comment}\n    y = {{}}\n    # then\n    return y\n"
    old, new = (code.format(number).encode() for number in (1, 2))
    assert without_lies("a.py", old, new, GPT.story(id).lies).decode() == code.format(2).replace(
        f"    {comment}\n", ""
    )
