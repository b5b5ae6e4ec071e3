"""What people write, and how it is decided: one edit of a package of the corpus each, in `tests/cases`.

A refused build is told by the first check that fails, so that check must be the one that is about the mistake.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from engine.flows.build import grade_build
from engine.judge.verdict import Verdict
from engine.run.types import Tree
from tests.trees import corpus_tree

CASES = Path(__file__).resolve().parents[1] / "cases"
ACCEPTED = ""

# case, component, the first check that fails
DECISIONS = [
    ("tanh-of-two-exps", "tensor", "tanh"),
    ("sigmoid-by-exp", "tensor", "sigmoid"),
    ("softmax-no-shift", "tensor", "softmax-thousand"),
    ("softmax-shift-by-max0", "tensor", "softmax-thousand"),
    ("float32-softmax-no-shift-then-sdpa", "tensor", "softmax-thousand"),
    ("float32-softmax-no-shift-then-sdpa", "sdpa", "hidden"),
    ("top-k-capped", "generate", "top-k-many"),
    ("top-p-tail-float32", "generate", "nearly-none"),
    ("top-p-in-sorted-order", "generate", "top-p"),
    ("warmup-plus-one", "cosine_lr", "values"),
    ("cosine-comes-up-again", "cosine_lr", "after"),
    ("words-split-on-spaces", "tokenizer", "round-trip"),
    ("layernorm-eps-outside", "layernorm", "values"),
    ("clip-1e-6", "clip", "clipped"),
    ("cross-entropy-probs-plus-tiny", "cross_entropy", "value"),
    ("dropout-while-training", "ffn", ACCEPTED),
    ("dropout-while-training", "block", ACCEPTED),
    ("dropout-while-training", "mini_gpt", ACCEPTED),
    ("scalar-types", "train", "float"),
    ("scalar-types", "clip", "float"),
    ("runaway-constructor", "layernorm", "start"),
    ("endless-loop", "rmsnorm", "values"),
    ("endless-in-one-case", "layernorm", "values"),
]
ALONE = [  # in these no other check fails
    ("tanh-of-two-exps", "tensor"),
    ("sigmoid-by-exp", "tensor"),
    ("softmax-no-shift", "tensor"),
    ("softmax-shift-by-max0", "tensor"),
    ("top-k-capped", "generate"),
    ("top-p-tail-float32", "generate"),
    ("cosine-comes-up-again", "cosine_lr"),
    ("scalar-types", "train"),
    ("scalar-types", "clip"),
]


def case(name: str) -> Tree:
    """The package of the corpus that a case names, with its edits."""
    found = yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))
    tree = corpus_tree(found["package"])
    for edit in found["edits"]:
        text = tree.files[edit["file"]].decode()
        if "append" in edit:
            text += edit["append"]
        else:
            assert edit["find"] in text, edit["file"]
            text = text.replace(edit["find"], edit["replace"], 1)
        tree = tree.replaced({edit["file"]: text.encode()})
    return tree


def failing(verdict: Verdict) -> list[str]:
    """The checks that fail, in the order that teaches."""
    return [result.id for result in verdict.results if not result.passed]


def test_every_case_is_decided() -> None:
    """A file without a line above would be there for nothing."""
    slow = {"import-trains", "slow-import-fails"}
    assert {path.stem for path in CASES.glob("*.yaml")} == slow | {name for name, *_ in DECISIONS}


@pytest.mark.sweep(11)
@pytest.mark.parametrize(("name", "component", "check"), DECISIONS)
def test_the_first_check_that_fails_is_the_one_about_it(
    servers, catalogue, name, component, check
) -> None:
    """Refused by that check, or accepted."""
    verdict = grade_build(servers, catalogue, component, case(name), seed=1)
    assert (failing(verdict) or [ACCEPTED])[0] == check


@pytest.mark.parametrize(("name", "component"), ALONE)
@pytest.mark.parametrize("seed", range(2, 5))
def test_one_mistake_is_charged_to_one_check(servers, catalogue, name, component, seed) -> None:
    """At any seed."""
    check = {(name, component): check for name, component, check in DECISIONS}[name, component]
    assert failing(grade_build(servers, catalogue, component, case(name), seed)) == [check]


def test_the_first_step_that_differs_is_named(servers, catalogue) -> None:
    """The step, and not its number among those that were asked for."""
    found = grade_build(servers, catalogue, "cosine_lr", case("warmup-plus-one"), seed=1).failing
    assert found and found.difference
    assert found.difference.value.startswith("rate at step 0, total ")
    found = grade_build(servers, catalogue, "cosine_lr", case("cosine-comes-up-again"), 1).failing
    assert found and found.difference
    said, _, total = found.difference.value.partition(", total ")
    assert int(said.removeprefix("rate at step ")) > int(total)


def test_a_text_that_is_lost_is_told_in_quotes(servers, catalogue) -> None:
    """What came back beside what went in."""
    verdict = grade_build(servers, catalogue, "tokenizer", case("words-split-on-spaces"), seed=1)
    assert verdict.failing and verdict.failing.difference
    assert verdict.failing.difference.expected == "'two  spaces'"
    assert verdict.failing.difference.got == "'two spaces'"


SDPA = "src/minimodel/nn/attention.py"
AFTER = "scores = scores + np.where(mask, 0.0, -np.inf)"


@pytest.mark.parametrize("number", ["-1e9", "-1e30", "np.finfo(scores.data.dtype).min"])
@pytest.mark.parametrize("component", ["sdpa", "attention"])
def test_a_finite_number_hides_a_key_from_minus_1e9_on(
    servers, catalogue, plain, number, component
) -> None:
    """As CONTRACT.md says."""
    text = plain.files[SDPA].decode()
    assert AFTER in text
    tree = plain.replaced({SDPA: text.replace("-np.inf", number).encode()})
    verdict = grade_build(servers, catalogue, component, tree, seed=1)
    assert verdict.passed, verdict.failing


@pytest.mark.parametrize("number", ["-1e4", "-1e5", "-1e6", "-1e7"])
def test_a_smaller_one_does_not(servers, catalogue, plain, number) -> None:
    """Some query's scores are all as low as that."""
    tree = plain.replaced({SDPA: plain.files[SDPA].decode().replace("-np.inf", number).encode()})
    assert failing(grade_build(servers, catalogue, "sdpa", tree, seed=1))[0] == "hidden"


def test_cross_entropy_may_compute_in_more_digits(servers, catalogue) -> None:
    """A loss of exp(-48) is 0 in float64 and 7e-22 in longdouble."""
    path = "src/minimodel/nn/loss.py"
    tree = corpus_tree("einsum")
    text = tree.files[path].decode()
    for find, replace in (
        ("S = Z[keep]; S", "S = Z[keep].astype(np.longdouble); S"),
        ("- S[n, k]) / N\n", "- S[n, k]) / N; L = np.asarray(L, Z.dtype)\n"),
        ("dZ[keep] = P * (dL / N)", "dZ[keep] = (P * (dL / N)).astype(Z.dtype)"),
    ):
        assert find in text
        text = text.replace(find, replace, 1)
    for seed in range(6):
        wide = tree.replaced({path: text.encode()})
        assert grade_build(servers, catalogue, "cross_entropy", wide, seed).passed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["import-trains", "slow-import-fails"])
def test_an_import_that_does_more_than_it_should_stops_the_first_check(
    servers, catalogue, name
) -> None:
    """One that cannot be finished leaves nothing to judge."""
    verdict = grade_build(servers, catalogue, "layernorm", case(name), seed=1)
    assert failing(verdict)[:1] == ["start"]
