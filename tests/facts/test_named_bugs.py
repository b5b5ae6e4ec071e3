"""A single bug in a model of the corpus is WRONG by the fact that names it, at its file."""

from __future__ import annotations

import re

import pytest

from tests.facts.conftest import tree_of
from tests.facts.mutations import GENERATION, MODEL, TRAINING

UNPLACED = {"distinct_blocks", "future"}  # known of the whole model, of no line


def name(bug):
    return f"{bug.style}-{bug.fact}"


def wrong(bug, measure, **halves):
    tree = tree_of(bug.style)
    text = tree[bug.file].decode()
    assert bug.old in text, "the corpus has changed"
    tree[bug.file] = text.replace(bug.old, bug.new).encode()
    report = measure(tree, **halves)
    fact = next(fact for fact in report.facts if fact.id == bug.fact)
    assert fact.verdict == "WRONG", (fact.value, fact.why)
    assert re.fullmatch(bug.value, fact.value)
    assert fact.names
    return fact


@pytest.mark.sweep(14)
@pytest.mark.parametrize("bug", MODEL, ids=name)
def test_a_bug_in_a_model_is_named(bug, measure):
    wrong(bug, measure)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("bug", TRAINING, ids=name)
def test_a_bug_in_a_training_script_is_named(bug, measure):
    wrong(bug, measure, training=True)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("bug", GENERATION, ids=name)
def test_a_bug_in_a_sampler_is_named(bug, measure):
    wrong(bug, measure, generation=True)


def test_the_place_of_a_bug_is_the_line_that_has_it(measure):
    bug = next(b for b in MODEL if b.fact == "merge" and b.style == "fused")
    fact = wrong(bug, measure)
    assert fact.where is not None
    assert (fact.where.file, fact.where.text) == ("model.py", "y = y.contiguous().view(B, T, C)")


JOINED = ("residual_attention", "residual_ffn", "pre_norm")


def placed(style, fact, value, measure):
    bug = next(b for b in MODEL if (b.style, b.fact, b.value) == (style, fact, value))
    where = wrong(bug, measure).where
    assert where is not None
    return bug, where.text


@pytest.mark.parametrize(
    "bug", [b for b in MODEL if b.style in ("fused", "heads") and b.fact in JOINED], ids=name
)
def test_what_a_branch_lacks_is_placed_where_it_joins_the_stream(bug, measure):
    bug, text = placed(bug.style, bug.fact, bug.value, measure)
    assert bug.new in text


def test_a_rotation_is_placed_where_the_attention_asks_for_it(measure):
    bug, text = placed("llama", "positions", "rotated q only", measure)
    assert text == bug.new


def test_a_mask_that_is_off_by_one_is_placed_where_it_is_drawn(measure):
    bug, text = placed("llama", "mask", "1 ahead", measure)
    assert bug.new in text


def test_a_rate_that_is_computed_of_many_numbers_and_not_set_is_named(measure):
    bug = next(b for b in TRAINING if b.value == "computed and not set")
    tree = tree_of(bug.style)
    text = tree[bug.file].decode().replace("def get_lr(it):", "def get_lr(it, a, b, c, d):")
    text = text.replace("get_lr(it)\n", "get_lr(it, 1, 2, 0.1, 0.2)\n").replace(bug.old, bug.new)
    tree[bug.file] = text.encode()
    report = measure(tree, training=True)
    rate = next(f for f in report.facts if f.id == "rate")
    assert rate.value == bug.value
    assert rate.where is not None
    assert "lr = get_lr(" in rate.where.text


def test_targets_are_placed_at_the_loss_that_the_loop_computes(measure):
    bug = next(b for b in TRAINING if (b.style, b.fact) == ("alibi", "shift"))
    where = wrong(bug, measure, training=True).where
    assert where is not None
    assert bug.new in where.text


@pytest.mark.parametrize(
    ("id", "old", "new", "text"),
    [
        (
            "used",
            "self.act = nn.GELU()",
            "self.act, self.extra = nn.GELU(), 1\n        self.spare = nn.Linear(config.n_embd, 2)",
            "self.spare = nn.Linear(config.n_embd, 2)",
        ),
        (
            "distinct_blocks",
            "[Block(config) for _ in range(config.n_layer)]",
            "[Block(config)] * config.n_layer",
            "self.blocks = nn.ModuleList([Block(config)] * config.n_layer)",
        ),
        (
            "future",
            "self.mask[:, :, :T, :T] == 0",
            "self.mask[:, :, :T, :T] > 1",
            'att = att.masked_fill(self.mask[:, :, :T, :T] > 1, float("-inf"))',
        ),
        ("start_loss", "std=0.02", "std=3.0", "logits = self.lm_head(self.ln_f(x))"),
    ],
)
def test_what_no_call_shows_has_a_place(id, old, new, text, measure):
    tree = {"model.py": tree_of("fused")["model.py"].replace(old.encode(), new.encode())}
    fact = next(f for f in measure(tree).facts if f.id == id)
    assert fact.verdict in ("WRONG", "WARN")
    assert fact.where is not None
    assert fact.where.text == text
