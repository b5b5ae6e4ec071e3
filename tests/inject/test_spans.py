"""Edits at measured spans: patterns with the rest of a call, sizes by name, statements that move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from engine.code.source import Source
from engine.inject.spans import Place, Where, edits_of
from engine.spec.types import SpanEdit, Way

MEANINGS = {"^(d|n)?(embd?|model)$": "width", "^heads?$": "heads"}

ATTENTION = b"""\
import math


class Attention:
    def __init__(self, cfg):
        self.n_embd = cfg.n_embd
        self.d_head = cfg.n_embd // cfg.heads

    def forward(self, x):
        q, k, v = self.split(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        scores = scores.masked_fill(self.mask, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        return weights @ v
"""

LOOP = b"""\
for step in range(9):
    loss = model(x, y)
    optimizer.zero_grad()
    loss.backward()
    if clip:
        clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""


def span(data: bytes, text: str) -> Place:
    """The one frame whose expression is this text."""
    start = data.index(text.encode())
    line = data.count(b"\n", 0, start) + 1
    left = start - (data.rfind(b"\n", 0, start) + 1)
    last = line + text.count("\n")
    return (("a.py", line, last, left, left + len(text)),)


def made(data: bytes, edits: Sequence[SpanEdit], places: Mapping[str, str]) -> list[str]:
    """What each candidate makes of the file."""
    source = Source("a.py", data)
    seen = {part: [span(data, text)] for part, text in places.items()}
    where = Where({"a.py": source}, seen, ["a.py"], MEANINGS)
    return [source.apply(found).decode() for found in edits_of(where, Way(edits=tuple(edits)))]


def test_an_expression_at_a_span_is_replaced_and_its_like_elsewhere_is_not() -> None:
    twice = ATTENTION.replace(
        b"        return", b"        other = 1 / math.sqrt(2)\n        return"
    )
    edit = SpanEdit(at="scaling", find="$A / $B", replace="$A")
    (after,) = made(twice, [edit], {"scaling": "q @ k.transpose(-2, -1) / math.sqrt(self.d_head)"})
    assert "scores = q @ k.transpose(-2, -1)\n" in after
    assert "other = 1 / math.sqrt(2)" in after


def test_a_size_is_written_as_the_tree_calls_it() -> None:
    edit = SpanEdit(at="scaling", find="$A / math.sqrt($D)", replace="$A / math.sqrt($width)")
    found = made(ATTENTION, [edit], {"scaling": "q @ k.transpose(-2, -1) / math.sqrt(self.d_head)"})
    assert "/ math.sqrt(self.n_embd)" in found[0]
    assert all("cfg.n_embd)" not in one.split("def forward")[1] for one in found)


def test_what_a_first_edit_found_is_known_to_the_second() -> None:
    edits = [
        SpanEdit(at="masking", find="$A = $A.masked_fill($M, $V)"),
        SpanEdit(
            at="softmax",
            find="$F($S, *$REST, **$REST_OF)",
            replace="$F($S, *$REST, **$REST_OF).masked_fill($M, 0.0)",
        ),
    ]
    places = {
        "masking": 'scores = scores.masked_fill(self.mask, float("-inf"))',
        "softmax": "F.softmax(scores, dim=-1)",
    }
    (after,) = made(ATTENTION, edits, places)
    assert 'float("-inf")' not in after
    assert "weights = F.softmax(scores, dim=-1).masked_fill(" in after
    assert "self.mask" in after.split("masked_fill(")[1]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("dim", "-2", "F.softmax(scores, dim=-2)"),
        ("dtype", "None", "F.softmax(scores, dim=-1, dtype=None)"),
    ],
)
def test_a_keyword_is_set_or_added(name: str, value: str, told: str) -> None:
    edit = SpanEdit(at="softmax", argument=name, value=value)
    (after,) = made(ATTENTION, [edit], {"softmax": "F.softmax(scores, dim=-1)"})
    assert told in after


def test_a_call_that_the_pattern_does_not_fit_gets_no_keyword() -> None:
    edit = SpanEdit(
        at="softmax", find="$F(*$REST, axis=$D, **$REST_OF)", argument="axis", value="-2"
    )
    assert made(ATTENTION, [edit], {"softmax": "F.softmax(scores, dim=-1)"}) == []


def test_a_statement_moves_with_the_block_around_it() -> None:
    edit = SpanEdit(at="clip", move="after", to="step")
    places = {"clip": "clip_grad_norm_(model.parameters(), 1.0)", "step": "optimizer.step()"}
    (after,) = made(LOOP, [edit], places)
    assert (
        after.index("optimizer.step()") < after.index("if clip:") < after.index("clip_grad_norm_")
    )
    compile(after, "a.py", "exec")


def test_a_statement_that_stands_there_already_does_not_move() -> None:
    edit = SpanEdit(at="zero", move="before", to="backward")
    assert (
        made(LOOP, [edit], {"zero": "optimizer.zero_grad()", "backward": "loss.backward()"}) == []
    )


def test_a_statement_that_is_alone_in_its_block_becomes_pass() -> None:
    edit = SpanEdit(at="clip", drop=True)
    (after,) = made(LOOP, [edit], {"clip": "clip_grad_norm_(model.parameters(), 1.0)"})
    assert "if clip:\n        pass\n" in after


def test_names_that_cannot_be_read_there_are_not_written() -> None:
    edit = SpanEdit(at="softmax", find="$F($S, *$REST, **$REST_OF)", replace="elsewhere($S)")
    assert made(ATTENTION, [edit], {"softmax": "F.softmax(scores, dim=-1)"}) == []


def test_any_place_of_the_files_that_ran_can_be_searched() -> None:
    edit = SpanEdit(at="files", find="float('-inf')", replace="0.0")
    (after,) = made(ATTENTION, [edit], {})
    assert "masked_fill(self.mask, 0.0)" in after


SUMS = b"""\
from blocks import Block


class Model:
    def __init__(self, n):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(i) for i in range(n)])
        self.parts = nn.ModuleDict(dict(
            wte=Embedding(n),
            h=nn.ModuleList([Block(i) for i in range(n)]),
        ))
        self.lm_head = Linear(n)  # to the vocabulary

    def forward(self, x, y):
        x = self.blocks(x)
        self.eval()
        return loss(x, y)
"""


def test_what_an_earlier_edit_found_needs_no_brackets_where_it_stands_by_itself() -> None:
    edits = [
        SpanEdit(at="masking", find="$A = $A.masked_fill($M, $V)"),
        SpanEdit(
            at="softmax",
            find="$F($S, *$REST, **$REST_OF)",
            replace="$F($S, *$REST, **$REST_OF).masked_fill($M, 0.0)",
        ),
    ]
    masked = 'scores.masked_fill(self.mask, float("-inf"))'
    places = {"masking": f"scores = {masked}", "softmax": "F.softmax(scores, dim=-1)"}
    (after,) = made(ATTENTION, edits, places)
    assert "weights = F.softmax(scores, dim=-1).masked_fill(self.mask, 0.0)\n" in after


def test_an_empty_rest_of_a_call_leaves_no_comma() -> None:
    replace = "$F($L.softmax(-1), *$REST, **$REST_OF)"
    edit = SpanEdit(at="loss", find="$F($L, *$REST, **$REST_OF)", replace=replace)
    (after,) = made(SUMS.replace(b"x, y)\n", b"x)\n"), [edit], {"loss": "loss(x)"})
    assert "return loss(x.softmax(-1))\n" in after


def test_a_sequence_that_is_called_becomes_a_loop() -> None:
    find = "$S = nn.Sequential(*[$B for $I in $R])"
    edits = [
        SpanEdit(at="files", find=find, replace="$S = [$B for $I in $R]"),
        SpanEdit(at="files", find="$X = $S($X)", replace="for block in $S:\n    $X = block($X)"),
    ]
    (after,) = made(SUMS, edits, {})
    assert "self.blocks = [Block(i) for i in range(n)]\n" in after
    assert "        for block in self.blocks:\n            x = block(x)\n" in after


def test_a_keyword_goes_with_its_value_and_comes_back_elsewhere() -> None:
    put = "self.parts.h = [$B for $I in $R]\nself.lm_head = $L"
    edits = [
        SpanEdit(at="files", find="nn.ModuleList([$B for $I in $R])"),
        SpanEdit(at="files", find="self.lm_head = $L", replace=put),
    ]
    (after,) = made(SUMS, edits, {})
    assert "            wte=Embedding(n),\n        ))\n" in after
    assert "        self.parts.h = [Block(i) for i in range(n)]\n" in after
    assert "        self.lm_head = Linear(n)  # to the vocabulary\n" in after


def test_a_call_that_is_a_statement_goes() -> None:
    (after,) = made(SUMS, [SpanEdit(at="files", find="$M.eval()")], {})
    assert after == SUMS.decode().replace("        self.eval()\n", "")


@pytest.mark.parametrize(
    ("head", "old", "new"),
    [
        ("import torch as t", "t.tril(x)", "t.tril(x, 1)"),
        ("import torch", "torch.tril(x)", "torch.tril(x, 1)"),
        ("from torch import nn, tril", "tril(x)", None),
    ],
)
def test_a_module_has_the_name_that_the_file_gives_it(head: str, old: str, new: str | None) -> None:
    data = f"{head}\nmask = {old}\n".encode()
    way = SpanEdit(at="files", find="torch.tril($A)", replace="torch.tril($A, 1)")
    assert made(data, [way], {}) == ([f"{head}\nmask = {new}\n"] if new else [])


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("import torch.nn.functional as nf", "nf"),
        ("from torch.nn import functional", "functional"),
        ("from torch import nn", "nn.functional"),
        ("import torch as t", "t.nn.functional"),
        ("import torch.nn", "torch.nn.functional"),
    ],
)
def test_what_is_written_anew_goes_by_the_file_s_names(head: str, name: str) -> None:
    code = f"{head}\n\n\ndef forward(self, x):\n    return {{}}\n"
    data = code.format("self.drop(x)").encode()
    way = SpanEdit(at="files", find="self.drop($X)", replace="F.dropout($X, self.drop.p)")
    assert made(data, [way], {}) == [code.format(f"{name}.dropout(x, self.drop.p)")]
