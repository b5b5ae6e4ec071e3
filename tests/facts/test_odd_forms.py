"""Breaks in forms of public code that the corpus does not have; each form in one small model."""

from __future__ import annotations

import pytest

from engine.commands.interpreters import pack_folder
from engine.facts import pack as packs
from engine.flows import applicable, check, fact_break
from engine.spec.catalogue import Catalogue

GPT = Catalogue.find("gpt")
ODD = b"""\
import torch as t


class Linear(t.nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = t.nn.Parameter(t.randn(d_out, d_in) * 0.05)
        self.bias = t.nn.Parameter(t.zeros(d_out))

    def forward(self, x):
        return x @ self.weight.T + self.bias


class Attention(t.nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.out = (Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (
            made.view(B, T, self.n_heads, -1).transpose(1, 2)
            for made in (self.q(x), self.k(x), self.v(x))
        )
        scores = q @ k.transpose(2, 3) / (C // self.n_heads) ** 0.5
        allowed = t.tril(t.ones(T, T, device=x.device)).bool().expand(B, self.n_heads, T, T)
        scores[~allowed] = float("-inf")
        weights = t.softmax(scores, dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, C))


class Block(t.nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm1, self.norm2 = t.nn.LayerNorm(d_model), t.nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.up, self.down = Linear(d_model, 4 * d_model), Linear(4 * d_model, d_model)
        self.act = t.nn.ReLU()
        self.dropout = t.nn.Dropout(0.1)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.dropout(self.down(self.act(self.up(self.norm2(x)))))


class LM(t.nn.Module):
    def __init__(self, vocab_size=53, block_size=32, d_model=32, n_heads=4, n_layers=2):
        super().__init__()
        self.tokens = t.nn.Embedding(vocab_size, d_model)
        self.positions = t.nn.Embedding(block_size, d_model)
        self.layers = t.nn.ModuleList()
        for i in range(n_layers):
            block = Block(d_model, n_heads)
            self.layers.append(block)
        self.norm = t.nn.LayerNorm(d_model)
        self.head = Linear(d_model, vocab_size)

    def forward(self, x):
        rows = self.positions(t.arange(x.size(1), device=x.device))[None, :, :]
        x = self.tokens(x) + rows
        for layer in self.layers:
            x = layer(x)
        for last in [self.norm, self.head]:
            x = last(x)
        return x
"""
FOREIGN = b"""\
import torch
from torch import nn


class LM(nn.Module):
    def __init__(self, vocab_size=53, d_model=32, n_heads=4, n_layers=2):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)
        layer = nn.TransformerEncoderLayer(d_model, n_heads, 64, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, n_layers)
        self.head = nn.Linear(d_model, vocab_size)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.head(self.layers(self.table(x), mask))
"""
POST_NORM = ODD.replace(
    b"return x + self.dropout(self.down(self.act(self.up(self.norm2(x)))))",
    b"return self.norm2(x + self.down(self.act(self.up(x))))",
).replace(b"x = x + self.attention(self.norm1(x))", b"x = self.norm1(x + self.attention(x))")
REACHED = {
    "activation-missing": "biases that are added by hand",
    "positions-not-added": "rows that are a view of what was looked up",
    "causal-mask-missing": "scores that are hidden by assignment",
    "mask-after-softmax": "scores that are hidden by assignment",
    "mask-one-ahead": "torch by another name",
    "one-block-n-times": "a loop that makes a block in a statement of its own",
    "layers-in-a-plain-list": "parameters that are not measured any more",
    "dropout-ignores-eval": "no name for torch.nn.functional",
    "final-norm-missing-gpt": "a list of what is run in turn",
}


@pytest.fixture(scope="module")
def odd(forks):
    return looked_at(forks, ODD)


def looked_at(forks, data):
    """A tree of one file, and what applies to it."""
    learner, facts = forks
    files = {"model.py": data}
    learner.hold("model", check.folder(files))
    bench = check.Bench(learner, facts, packs.load(pack_folder()), files)
    return bench, applicable.looked(bench, check.Asked(), GPT, lambda _: None)


@pytest.mark.parametrize("id", REACHED)
def test_a_form_is_reached(id, odd):
    bench, looked = odd
    assert id not in looked.refused
    fact_break.plan(bench, looked.target, GPT.proof(id), GPT.story(id).lies)


def test_what_happens_inside_a_layer_of_torch_s_own_is_no_place(forks):
    _, looked = looked_at(forks, FOREIGN)
    refused = looked.refused["residual-around-ffn-missing"]
    assert refused == "there is no place for it in the code that runs"


def test_the_last_block_s_norm_is_no_final_norm(forks):
    data = POST_NORM.replace(b"[self.norm, self.head]", b"[self.head]")
    _, looked = looked_at(forks, data)
    refused = looked.refused["final-norm-missing-gpt"]
    assert refused == "there is no place for it in the code that runs"


NAMED = b"""\
import math
import torch
from torch.nn import Dropout, Embedding, LayerNorm, Linear, Module, ModuleList, Sequential


class Norm(Module):
    def __init__(self, width):
        super().__init__()
        self.eps = 1e-5
        self.gain = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return self.gain * centred / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + self.eps)


class Positions(Module):
    def __init__(self, width, context):
        super().__init__()
        angles = torch.arange(context)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
        self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], -1))

    def forward(self, x):
        assert x.shape[1] <= self.table.shape[0]
        return (
            x + self.table[: x.shape[1]]
        )


class Attention(Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = Linear(width, 3 * width), Linear(width, width)
        mask = torch.ones(context, context, dtype=torch.bool).triu(
            diagonal=1
        )
        self.register_buffer("mask", mask)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (
            part.view(B, T, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)
        )
        scores = q @ k.transpose(2, 3) / math.sqrt(C // self.heads)
        scores = scores.masked_fill(
            self.mask[:T, :T], float("-inf")
        )
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Block(Module):
    def __init__(self, width, heads, context, number):
        super().__init__()
        self.number = number
        self.norm1, self.norm2 = Norm(width), Norm(width)
        self.attention = Attention(width, heads, context)
        self.ffn = Sequential(
            Linear(width, 4 * width), torch.nn.GELU(), Linear(4 * width, width), Dropout(0.1)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class LM(Module):
    def __init__(self, vocab_size, width, heads, layers, context):
        super().__init__()
        self.tokens, self.positions = Embedding(vocab_size, width), Positions(width, context)
        self.blocks = ModuleList([
            Block(width, heads, context, i) for i in range(layers)
        ])
        self.norm, self.head = LayerNorm(width), Linear(width, vocab_size)

    def forward(self, idx):
        x = self.positions(self.tokens(idx))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
"""


@pytest.fixture(scope="module")
def named(forks):
    return looked_at(forks, NAMED)


NAMED_FORMS = {
    "layers-in-a-plain-list": "layers by names of their own, and norms written by hand",
    "one-block-n-times": "blocks that are told their number",
    "positions-not-added": "a buffer whose shape is asked for",
    "dropout-ignores-eval": "dropout as the last of what runs in turn",
}


@pytest.mark.parametrize("id", NAMED_FORMS)
def test_a_form_of_imported_names_is_reached(id, named):
    bench, looked = named
    assert id not in looked.refused
    fact_break.plan(bench, looked.target, GPT.proof(id), GPT.story(id).lies)


def test_a_final_norm_that_runs_in_turn_can_go(forks):
    data = NAMED.replace(b"        return self.head(self.norm(x))", b"        return self.turns(x)")
    made = b"self.norm, self.head = LayerNorm(width), Linear(width, vocab_size)\n"
    apart = b"self.norm = LayerNorm(width)\n        self.head = Linear(width, vocab_size)\n"
    turns = b"        self.turns = Sequential(self.norm, self.head)\n"
    data = data.replace(made, apart + turns)
    bench, looked = looked_at(forks, data)
    planned = fact_break.plan(bench, looked.target, GPT.proof("final-norm-missing-gpt"), ())
    broken = data.replace(apart + turns, apart + turns.replace(b"self.norm, ", b""))
    assert planned.injection.files["model.py"] == broken


def test_a_block_that_is_repeated_is_seen_in_a_list_of_two_names(forks):
    head = b"self.norm, self.head = LayerNorm(width), Linear(width, vocab_size)\n"
    turns = b"        self.turns = ModuleList([self.blocks, self.norm])\n"
    data = NAMED.replace(head, head + turns)
    bench, looked = looked_at(forks, data)
    proof = GPT.proof("one-block-n-times")
    planned = fact_break.plan(bench, looked.target, proof, ())
    assert planned.changes["distinct_blocks"] == ("each its own", "one, 2 times (blocks.0)")
