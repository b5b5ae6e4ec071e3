"""What a break shows: the numbers of a healthy model, of a broken one beside it, of a script, of a sampler."""

from __future__ import annotations

import math

import pytest

from engine.commands.interpreters import pack_folder
from engine.facts import pack
from engine.facts.experiments import Candidate
from engine.flows import check, fact_observe
from engine.flows.fact_observe import Subject, change
from engine.flows.health import Target
from engine.flows.training import Invocation
from tests.facts.conftest import tree_of
from tests.facts.mutations import GENERATION, MODEL, TRAINING
from tests.facts.test_corpus import STYLES

ALL = {
    "first_loss",
    "last_loss",
    "other_loss",
    "letter_loss",
    "log_v",
    "parameters",
    "update_ratio",
}
ALL |= {"first_gradient", "last_gradient", "largest_weight", "score_spread", "logit_spread"}
ALL |= {"stream_first", "stream_last", "last_largest_weight", "last_score_spread", "eval_noise"}


@pytest.fixture(scope="module")
def look(forks):
    """look(probe, style, bug or None) -> what is seen of the corpus model, and of it with the bug."""
    learner, facts = forks
    declared = pack.load(pack_folder())

    def bench(tree, name, probe):
        learner.hold(name, check.folder(tree))
        if probe == "script":
            learner.hold(name + "-script", check.folder(tree), "optimizer")
        return check.Bench(learner, facts, declared, dict(tree), name, name + "-script")

    def run(probe, style, bug=None):
        file, cls, script, _ = STYLES[style]
        tree = tree_of(style)
        broken = dict(tree)
        if bug is not None:
            text = tree[bug.file].decode()
            assert bug.old in text, "the corpus has changed"
            broken[bug.file] = text.replace(bug.old, bug.new).encode()
        two = bench(tree, "healthy", probe), bench(broken, "broken", probe)
        target = Target(Candidate(file, cls), Invocation(script, []))
        return fact_observe.look(*two, Subject(probe, target), "en")

    return run


def bug_of(bugs, style, value):
    return next(bug for bug in bugs if (bug.style, bug.value) == (style, value))


@pytest.mark.parametrize("style", ["fused", "espanol", "llama", "modern"])
def test_a_healthy_model_shows_every_number_and_the_same_twice(style, look):
    seen = look("run", style)
    values = seen.healthy.values
    assert values == seen.broken.values
    assert set(values) >= ALL
    assert all(math.isfinite(values[name]) for name in ALL)
    assert len(values["losses"]["list"]) == fact_observe.STEPS
    assert values["letter_loss"] == pytest.approx(values["other_loss"], rel=1e-3)
    assert values["other_loss"] < 0.75 * values["log_v"]
    assert values["eval_noise"] == 0
    labels = {row.name: row.label for row in seen.observation.numbers if row.label}
    assert labels == {"last_loss": "mean of the last 10 losses"}  # the curve ends at another number


@pytest.mark.parametrize("style", ["fused", "llama"])
def test_without_a_mask_the_loss_is_low_and_says_nothing_of_generated_text(style, look):
    seen = look("run", style, bug_of(MODEL, style, "everything"))
    assert seen.measured("other_loss.change") == "lower"
    assert seen.measured("letter_loss.change") == "higher"
    assert seen.broken.values["other_loss"] < 0.85 * seen.broken.values["letter_loss"]


def test_a_plain_list_lowers_the_parameters(look):
    bug = next(b for b in MODEL if (b.style, b.fact) == ("fused", "registered"))
    assert look("run", "fused", bug).measured("parameters.change") == "lower"


def test_a_script_shows_its_steps_and_what_is_not_divided(look):
    seen = look("script", "fused", bug_of(TRAINING, "fused", "not divided"))
    assert seen.measured("first_loss.change") == "same"
    assert seen.measured("first_raw_norm.change") == "higher"
    assert len(seen.observation.healthy_curve) == 5


def test_a_sampler_shows_its_candidates(look):
    seen = look("sampling", "fused", bug_of(GENERATION, "fused", "6"))
    assert (seen.healthy.values["candidates_top_k"], seen.measured("candidates_top_k")) == (5, 6)
    assert seen.healthy.values["agrees"] == "yes"


@pytest.mark.parametrize(
    ("healthy", "broken", "told"),
    [
        (1.0, 1.01, "same"),
        (1.0, 1.03, "higher"),
        (1.0, 0.97, "lower"),
        (0.0, 0.1, "higher"),
        (0, 0, "same"),
        (1.0, math.nan, "nan"),
        (1.0, None, None),
    ],
)
def test_a_change_of_less_than_two_percent_is_none(healthy, broken, told):
    assert change(healthy, broken) == told
