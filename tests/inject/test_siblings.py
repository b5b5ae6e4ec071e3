"""Which measurements of other components a candidate is held to."""

from __future__ import annotations

import pytest
from trees import corpus_tree

from engine.flows import expectations as asking
from engine.flows.oracle import items_of
from engine.flows.siblings import Siblings
from engine.run.types import Case, Outcome, Tree

STEM = "src/minimodel/nn/norm.py"


def edited(tree: Tree, old: str, new: str) -> Tree:
    """The tree with another text in the norms' file."""
    text = tree.files[STEM].decode()
    assert text.count(old) >= 1
    return tree.replaced({STEM: text.replace(old, new, 1).encode()})


@pytest.fixture(scope="module")
def known(servers, catalogue) -> Siblings:
    """With a measurement of layernorm's that only looks at the parameters; which stand for it is drawn."""
    made = (Siblings(servers, catalogue, corpus_tree("einsum"), seed) for seed in range(5, 25))
    return next(one for one in made if "start" in [i.case.draw.probe for i in one.of("layernorm")])


def reached(known: Siblings, tree: Tree) -> dict[str, int]:
    """The measurements of each component that the change to this tree is held to."""
    counts: dict[str, int] = {}
    for item in known.reached_by(tree, set()):
        counts[item.case.draw.component] = counts.get(item.case.draw.component, 0) + 1
    return counts


def test_only_what_ran_the_function_is_measured_again(known):
    """Of a method's change, what calls it; of one to what runs on import, all that names lead to."""
    tree = corpus_tree("einsum")
    text = tree.files[STEM].decode()
    signature = next(line for line in text.splitlines() if "def forward" in line)
    body = edited(tree, signature, signature + "\n        x = x")
    header = edited(tree, signature, signature.replace("x", "x, unused=None"))
    calls, all_ = reached(known, body), reached(known, header)
    assert calls.keys() <= all_.keys()
    assert 0 < calls["layernorm"] < all_["layernorm"]  # some only look at the parameters
    assert sum(calls.values()) < sum(all_.values())


def test_where_names_tell_nothing_all_is_measured_again(servers, catalogue):
    """Code that looks at its own text or modules may give something else without running it."""
    healthy = corpus_tree("einsum")
    text = healthy.files[STEM]
    tree = healthy.replaced({STEM: b"import sys\n\nKNOWN = sys.modules\n" + text})
    signature = next(line for line in text.decode().splitlines() if "def forward" in line)
    known = Siblings(servers, catalogue, tree, 5)
    counts = reached(known, edited(tree, signature, signature + "\n        x = x"))
    assert counts["layernorm"] == len(known.of("layernorm"))


def test_a_sibling_is_held_to_what_some_check_compares(servers, catalogue):
    """Of one token's attention the gradient of the queries is 0, and what rounding leaves of it another
    number in each run: no check looks at it there, so no candidate is refused for it.
    """
    items = Siblings(servers, catalogue, corpus_tree("einsum"), 5).of("mini_gpt")
    found = {(item.case.draw.probe, item.case.draw.regime): item for item in items}
    alone = found["forward", "one_token"]
    assert alone.values and "grad_w_q" in alone.before.values.keys() - set(alone.values)
    for check in catalogue.build("mini_gpt").checks:
        for regime in check.regimes:
            names = found[check.probe, regime].values
            assert not names or set(check.values) <= set(names)


def test_what_must_stay_as_it_was_is_held_to_the_same_numbers(catalogue):
    """A symptom `like: before` says that nothing changed: nothing that a check compares in that regime."""
    entry, spec = catalogue.entry("mask-minus-1e4"), catalogue.break_("mask-minus-1e4")
    symptoms = asking.symptoms_of(spec, entry.file, "float64", 5)
    cases = [Case(draw, {}, {}) for draw, _ in symptoms]
    items = items_of(catalogue, cases, symptoms, [Outcome()] * len(cases))
    values = {(item.probe, item.case.draw.regime, item.like): item.values for item in items}
    steep = values[
        "sdpa.forward", "causal_thousand", "before"
    ]  # a gradient is 0 there, up to rounding
    assert set(steep) == {"y", "grad_v"}
    assert (
        values["sdpa.floor", "normal", "shallow_mask"] == ()
    )  # the bug itself is compared in full
