"""Healthy models in many styles: found, measured right, nothing WRONG."""

from __future__ import annotations

import re

import pytest

from tests.facts.conftest import tree_of

STYLES = {
    "fused": ("model.py", "GPT", "train.py", "GPT.generate"),
    "heads": ("gpt.py", "CharModel", "gpt.py", "CharModel.generate"),
    "dictcfg": ("lm.py", "TextModel", "train.py", "lm.py:generate_text"),
    "llama": ("llama/model.py", "Transformer", "pretrain.py", "sampling.py:sample"),
    "espanol": ("modelo.py", "ModeloLenguaje", "entrenar.py", "ModeloLenguaje.generar"),
    "trainer": ("minilm/model.py", "LanguageModel", "run_train.py", ""),
    "postnorm": ("transformer.py", "TransformerLM", "main.py", ""),
    "modern": ("gpt2x.py", "GPT", "gpt2x.py", "gpt2x.py:generate"),
    "alibi": ("alibi_gpt.py", "AlibiLM", "learn.py", ""),
}
RIGHT = {"mask", "rows", "merge", "residual_attention", "residual_ffn", "norm_kind", "norm_axis"}
RIGHT |= {"eps", "final_norm", "activation", "registered", "gradients", "distinct_blocks", "future"}
TRAINED = {"order", "clean_grad", "shift", "updated", "train_mode"}

UNTOLD = [
    ("modern", "scale", "queries and keys are normalised.*"),
    ("postnorm", "pre_norm", "norms stand in the stream itself.*"),
    ("alibi", "positions", "no positions were found.*"),
    ("llama", "eval_dropout", "the model has no dropout"),
    ("modern", "loss", "the model gives a loss and no logits.*"),
    ("dictcfg", "loss", "the model gives no loss"),
    ("heads", "clipped", "the script does not clip.*"),
    ("llama", "accumulation", "a step has one backward pass"),
    ("alibi", "eval_mode", "no evaluation was seen.*"),
    ("heads", "top_k", "the sampler takes no top-k"),
    ("dictcfg", "temperature", "the sampler takes no temperature"),
    ("modern", "tied", "no embedding or no head was found"),
    ("fused", "top_p", "the sampler takes no top-p"),
]
TIED = {
    "fused": "one tensor",
    "trainer": "one tensor",
    "heads": "two tensors",
    "llama": "two tensors",
}
TIED |= {"espanol": "two tensors", "dictcfg": "two tensors", "postnorm": "two tensors"}
_reports = {}


def report_of(style, measure):
    if style not in _reports:
        _reports[style] = measure(tree_of(style), training=True, generation=True)
    return _reports[style]


@pytest.mark.parametrize("style", STYLES)
def test_a_healthy_model_of_any_style_is_found_and_nothing_is_wrong(style, measure):
    report = report_of(style, measure)
    file, cls, training, generation = STYLES[style]
    model = report.model
    assert (model.file, model.cls, model.training) == (file, cls, training)
    assert model.generation == generation
    assert (model.layers, model.width, model.heads) == (2, 32, 4)
    assert [(f.id, f.value) for f in report.facts if f.verdict == "WRONG"] == []


@pytest.mark.parametrize("style", STYLES)
def test_what_every_style_has_is_measured_right(style, measure):
    passed = {fact.id for fact in report_of(style, measure).facts if fact.verdict == "PASS"}
    assert passed >= RIGHT
    assert passed >= TRAINED


@pytest.mark.parametrize(("style", "fact", "why"), UNTOLD)
def test_what_a_model_does_not_have_is_skipped_with_its_reason(style, fact, why, measure):
    found = next(one for one in report_of(style, measure).facts if one.id == fact)
    assert found.verdict == "SKIP"
    assert re.fullmatch(why, found.why)


@pytest.mark.parametrize("style", TIED)
def test_head_and_embedding_are_told_apart_or_one(style, measure):
    tied = next(fact for fact in report_of(style, measure).facts if fact.id == "tied")
    assert (tied.verdict, tied.value) == ("PASS", TIED[style])


def test_a_functional_model_enters_by_one_line(measure):
    report = measure(
        tree_of("functional"),
        model="net.py:make(53, 32, 2, 11)",
        call="forward(model, tokens, 4)",
        training=True,
    )
    verdicts = {fact.id: fact.verdict for fact in report.facts}
    assert report.model.layers == 2
    assert "WRONG" not in verdicts.values()
    assert {verdicts[name] for name in ("scale", "mask", "residual_ffn", "order")} == {"PASS"}


def test_three_checks_give_the_same_report(measure):
    def facts():
        return measure(tree_of("fused"), training=True, generation=True).facts

    assert facts() == facts() == facts()
