"""Breaks of anybody's GPT: where they go in, what they change, and what keeps them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commands.interpreters import pack_folder
from engine.errors import NotApplicable
from engine.facts import pack as packs
from engine.facts.files import read
from engine.flows import applicable, check, fact_break
from engine.inject.candidates import changed_lines
from engine.inject.learner_code import Code
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import Proof, SpanEdit, Variant, Way
from engine.words import said
from tests.facts.conftest import tree_of

GPT = Catalogue.find("gpt")
TEMPLATE = Path(__file__).resolve().parents[2] / "templates" / "gpt"
STYLES = ("fused", "heads", "llama", "dictcfg", "trainer", "modern", "template")
IDS = tuple(GPT.entries)
NOT_HERE = {  # what no way of a proof reaches in a style of the corpus
    ("dictcfg", "layers-in-a-plain-list"),  # nn.Sequential is called, a list cannot be
}


class Trees:
    """Trees of the corpus, each looked at once."""

    def __init__(self, forks):
        self._learner, self._facts = forks
        self._pack = packs.load(pack_folder())
        self._looked = {}

    def bench(self, style):
        files = read(TEMPLATE) if style == "template" else tree_of(style)
        self._learner.hold("model", check.folder(files))
        self._learner.hold("script", check.folder(files), "optimizer")
        return check.Bench(self._learner, self._facts, self._pack, files)

    def looked(self, style):
        bench = self.bench(style)
        if style not in self._looked:
            self._looked[style] = applicable.looked(bench, check.Asked(), GPT, lambda _: None)
        return bench, self._looked[style]


@pytest.fixture(scope="session")
def trees(forks):
    return Trees(forks)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("style", STYLES)
def test_a_break_that_applies_goes_in_and_changes_what_it_declares(style, id, trees):
    """In at most three lines of code, beside comments and what the edit leaves unused."""
    bench, looked = trees.looked(style)
    if id in looked.refused or (style, id) in NOT_HERE:
        pytest.skip(looked.refused.get(id, "no way reaches it"))
    proof = GPT.proof(id)
    planned = fact_break.plan(bench, looked.target, proof, GPT.story(id).lies)
    variant = proof.variants[planned.variant]
    assert {*variant.changes} <= {*planned.changes} <= {*variant.changes, *variant.also}
    assert planned.file in bench.files
    code = Code(Tree("/learner", ("",), bench.files, {}), {})
    bare = fact_break.plan(bench, looked.target, proof, ())  # comments stay
    assert changed_lines(code, dict(bare.injection.files)) <= 6


def test_what_is_said_while_a_place_is_looked_for_names_none(trees):
    """It stands on the terminal when a blind break has begun."""
    bench, looked = trees.looked("fused")
    told = []
    fact_break.plan(bench, looked.target, GPT.proof("scores-not-scaled"), (), told.append)
    assert told and not any(".py" in said(one, "en") for one in told)


def test_what_a_tree_does_not_have_is_said(trees):
    _, looked = trees.looked("fused")
    assert looked.refused["rope-on-queries-only"] == "positions: it is row t for token t"
    assert "norm-without-eps" in looked.refused  # torch's own norms
    assert looked.target.found.cls == "GPT"
    assert looked.told.startswith("model.py:GPT, 2 layers")


def test_a_mask_with_a_diagonal_of_its_own_lets_one_more_through(trees):
    bench, looked = trees.looked("fused")
    mask = b"torch.tril(torch.ones(config.block_size, config.block_size)"
    assert mask in bench.files["model.py"]
    for diagonal, after in (b"0", b"diagonal=1"), (b"n - n", b"diagonal=n - n + 1"):
        n = b"n = config.block_size\n        mask = "
        text = bench.files["model.py"].replace(mask, mask + b", diagonal=" + diagonal)
        files = {**bench.files, "model.py": text.replace(b"mask = ", n, 1)}
        bench.learner.hold("model", check.folder(files))
        other = check.Bench(bench.learner, bench.facts, bench.pack, files)
        planned = fact_break.plan(other, looked.target, GPT.proof("mask-one-ahead"), ())
        assert after in planned.injection.files["model.py"]


def test_a_norm_without_a_variance_takes_no_other_one(trees):
    _, looked = trees.looked("llama")
    assert looked.refused["norm-unbiased-variance"] == "kind of norm: it is RMSNorm"


def proof_of(variant: Variant) -> Proof:
    return Proof(variants=(variant,))


def test_an_edit_that_changes_more_than_it_declares_is_refused(trees):
    bench, looked = trees.looked("fused")
    scale = SpanEdit(at="scaling", find="$A / $B", replace="$A")
    mask = SpanEdit(at="masking", find="$S.masked_fill($M, $V)", replace="$S")
    ways = (Way(edits=(scale, mask)),)
    variant = Variant(observe="run", changes={"scale": "none"}, ways=ways)
    with pytest.raises(NotApplicable, match=r"model\.py:\d+: (mask|future) changes, too"):
        fact_break.plan(bench, looked.target, proof_of(variant), ())


def test_an_edit_in_code_that_does_not_run_is_refused(trees):
    """Nothing that is measured changes."""
    bench, looked = trees.looked("fused")
    ways = (Way(edits=(SpanEdit(at="files", find="0.02", replace="0.021"),)),)
    variant = Variant(observe="run", changes={"scale": "none"}, ways=ways)
    with pytest.raises(NotApplicable):
        fact_break.plan(bench, looked.target, proof_of(variant), ())


def test_a_broken_tree_is_not_broken_again(trees):
    bench, looked = trees.looked("fused")
    first = fact_break.plan(bench, looked.target, GPT.proof("scores-not-scaled"), ())
    files = {**bench.files, **first.injection.files}
    bench.learner.hold("model", check.folder(files))
    again = check.Bench(bench.learner, bench.facts, bench.pack, files)
    with pytest.raises(NotApplicable, match="scale of the scores: it is none already"):
        fact_break.plan(again, looked.target, GPT.proof("scores-not-scaled"), ())


def test_a_tree_without_training_or_sampler_has_no_breaks_of_them(trees):
    bench, looked = trees.looked("fused")
    alone = applicable.Target(looked.target.found)
    with pytest.raises(NotApplicable, match="no training script was found"):
        fact_break.plan(bench, alone, GPT.proof("zero-grad-gone"), ())
    with pytest.raises(NotApplicable, match="no sampler was found"):
        fact_break.plan(bench, alone, GPT.proof("top-k-off-by-one"), ())
