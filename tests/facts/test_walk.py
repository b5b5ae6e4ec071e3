"""A sentence on its way through models of every style, and these models tied and untied."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.commands.interpreters import pack_folder
from engine.errors import NotApplicable, UsageError
from engine.facts import pack
from engine.facts.experiments import Candidate
from engine.flows import check, comparison, fact_walk, walkthrough
from engine.flows.comparison import holds
from engine.flows.language import ids_of, vocabulary
from engine.spec import topics
from engine.spec.catalogue import Catalogue
from tests.facts.conftest import tree_of
from tests.facts.test_corpus import STYLES, TIED

WORDS = "I love dogs"
TURNED = {"llama", "modern"}
NO_POSITIONS = {"alibi"}
NO_LOGITS = {"modern"}


@pytest.fixture(scope="module")
def bench_of(forks):
    """bench_of(style, edits) -> the bench of a corpus model, and what is taken for the model."""
    learner, facts = forks
    declared = pack.load(pack_folder())

    def bench(style, *edits):
        tree = tree_of(style)
        for file, old, new in edits:
            assert old in tree[file].decode(), "the corpus has changed"
            tree[file] = tree[file].decode().replace(old, new).encode()
        learner.hold("model", check.folder(tree))
        file, cls, *_ = STYLES[style]
        return check.Bench(learner, facts, declared, dict(tree)), Candidate(file, cls)

    return bench


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue("gpt", pack_folder())


@pytest.mark.sweep(4)
@pytest.mark.parametrize("style", STYLES)
def test_a_sentence_walks_through_a_model_of_any_style(style, bench_of, catalogue):
    spec = topics.walkthrough(catalogue, "embedding-walkthrough")
    ids = ids_of(vocabulary(spec), WORDS)
    values = fact_walk.walked(*bench_of(style), spec, ids)
    assert np.array_equal(values["rows"], values["table_before"][ids])
    assert values["shape"][0] == 3 and values["batch_shape"] == [1, *values["shape"]]
    assert values["last_loss"] < 0.8 * values["first_loss"]
    assert values["rows_apart"] == 0 < values["hidden_apart"] or style in NO_LOGITS
    shown = {"position_rows", "turned_query"} & values.keys()
    expected = set() if style in NO_POSITIONS else {"position_rows"}
    assert shown == ({"turned_query"} if style in TURNED else expected)
    steps = walkthrough.steps(spec, values, ids, "en")
    titles = [step.title[:2] for step in steps]
    assert titles == sorted(set(titles)), "a step is told once, in one of its forms"


def test_a_sentence_longer_than_the_context_is_refused(bench_of, catalogue):
    spec = topics.walkthrough(catalogue, "embedding-walkthrough")
    ids = ids_of(vocabulary(spec), " ".join(["dogs"] * 12))
    with pytest.raises(UsageError, match="At most 11 words, not 12"):
        fact_walk.walked(*bench_of("fused"), spec, ids)


def test_words_with_like_neighbours_come_near(bench_of, catalogue):
    spec = topics.walkthrough(catalogue, "embedding-walkthrough")
    ids = ids_of(vocabulary(spec), WORDS)
    values = fact_walk.walked(*bench_of("fused"), spec, ids)
    (animals,) = [line for line in values["neighbours_after"] if line.startswith("dogs")]
    assert {"cats", "birds", "horses"} & set(animals.replace(",", "").split())


@pytest.mark.sweep(3)
@pytest.mark.parametrize("style", sorted(TIED))
def test_a_model_is_trained_tied_and_untied(style, bench_of, catalogue):
    spec = topics.comparison(catalogue, "tying")
    report = comparison.compare(*bench_of(style), "tying", spec)
    assert report.own == {"one tensor": "tied", "two tensors": "untied"}[TIED[style]]
    assert bool(report.drawn) == (report.own == "tied")
    assert len(report.losses[0]) == len(report.losses[1]) == spec.steps
    tied, untied = report.losses
    assert tied != untied and tied[-1] < tied[0] and untied[-1] < untied[0]
    assert [row.name for row in report.rows] == list(spec.rows)


def test_a_table_with_the_spread_of_an_embedding_makes_the_tied_loss_high(bench_of, catalogue):
    """Rows of spread 1 are logits of spread sqrt(width): the first loss is far above log V."""
    spec = topics.comparison(catalogue, "tying")
    report = comparison.compare(*bench_of("heads"), "tying", spec)
    (first,) = [row for row in report.rows if row.name == "first_loss"]
    assert first.holds == "higher" and first.first[0] > 2 * math.log(53) > first.second[0]


def test_a_model_without_a_head_that_is_seen_is_told_so(bench_of, catalogue):
    spec = topics.comparison(catalogue, "tying")
    with pytest.raises(NotApplicable, match="no embedding or no head was found"):
        comparison.compare(*bench_of("modern"), "tying", spec)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ([2.0, 3.0], [1.0, 2.0], "higher"),
        ([1.0, 2.0], [2.0, 3.0], "lower"),
        ([2.0, 1.0], [1.0, 2.0], "same"),
        ([5.0, 1.0], [1.0, 2.0], "same"),
        ([1.01, 2.01], [1.0, 2.0], "same"),
    ],
)
def test_a_sentence_is_said_of_what_holds_in_every_run(first, second, told):
    assert holds(first, second) == told
