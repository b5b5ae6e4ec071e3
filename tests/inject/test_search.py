"""Recipes are tried in turn, two candidates at a time, and the cleanest wins."""

from __future__ import annotations

import pytest

from engine.inject.learner_code import Code
from engine.inject.oracle import Item, Oracle, Trial
from engine.inject.search import LIMITS, Limits, NotFound, inject
from engine.judge.sampling import SEEDS
from engine.run.types import Case, Draw, Outcome, Tree
from engine.spec.types import Pattern, Recipe, Step

LINES = 10
CODE = "".join(f"a{i} = {i} + 100\n" for i in range(LINES)) + "right = 7\n"


class Judge:
    """An oracle that accepts trees with `wanted` in their text, and remembers what it was shown."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.tried = 0
        self.groups: list[int] = []
        self.spared = 0

    def shows(self, trees):
        """How the engine's own oracle answers."""
        self.tried += len(trees)
        self.groups.append(len(trees))
        return [Trial(self.wanted in t.files["m.py"].decode(), frozenset(), "no") for t in trees]

    def spares(self, tree, shown):
        """Nothing else is broken here."""
        self.spared += 1
        return shown

    def try_(self, tree):
        """One tree."""
        (trial,) = self.shows([tree])
        return self.spares(tree, trial) if trial.accepted else trial


def recipe(find: str, replace: str) -> Recipe:
    """Of one pattern."""
    return Recipe(steps=(Step(pattern=Pattern(find=find, replace=replace)),))


def searched(judge: Judge, *recipes: Recipe, limits: Limits = LIMITS):
    """The injection into CODE."""
    tree = Tree("/t", ("",), {"m.py": CODE.encode()}, {})
    return inject(Code(tree, {}), recipes, judge, lambda *_: [], limits=limits)


def test_two_candidates_are_tried_at_a_time_after_the_first() -> None:
    """And the first that is accepted is written, though the next was tried beside it."""
    judge = Judge("a4 = 4 - 100")
    found = searched(judge, recipe("$X + 100", "$X - 100"))
    assert found.files["m.py"].decode() == CODE.replace("4 + 100", "4 - 100")
    assert judge.groups == [1, 2, 2]


def test_a_recipe_that_finds_nothing_leaves_trials_for_the_next() -> None:
    """However many places the first has; without turns the last would never be tried."""
    first, last = recipe("$X + 100", "$X - 100"), recipe("right = 7", "right = 8")
    limits = Limits(trials=6, of_a_recipe=4)
    found = searched(Judge("right = 8"), first, last, limits=limits)
    assert found.files["m.py"].decode().endswith("right = 8\n")
    limits = Limits(trials=6, of_a_recipe=6)
    with pytest.raises(NotFound):  # the first has used up every trial
        searched(Judge("right = 8"), first, last, limits=limits)


def test_what_cannot_be_better_is_not_held_to_the_siblings() -> None:
    """All have the symptom; of those with dead code one is enough, and a clean one is still looked for."""
    judge = Judge("")
    limits = Limits(after_accepted=2 * LINES)
    recipes = recipe("$X + 100", "$X + 0"), recipe("right = 7", "right = 8")
    found = searched(judge, *recipes, limits=limits)
    assert found.files["m.py"].decode() == CODE.replace("right = 7", "right = 8")
    assert judge.spared == 2


def test_of_two_candidates_each_has_to_show_the_symptom_in_all_draws() -> None:
    """What the first draws show is not enough; the others of both are measured in one go."""
    right, wrong = Outcome(values={"y": 2.0}), Outcome(values={"y": 1.0})
    symptoms = [
        Item(Case(Draw("c", "p", "normal", i), {}, {"bug": right}), "bug", wrong)
        for i in range(SEEDS)
    ]
    gives = {"all": [right] * SEEDS, "first": [right, wrong, wrong], "none": [wrong] * SEEDS}
    groups = []

    def measure(asked):
        groups.append([tree.root for tree, _, _ in asked])
        return [[gives[tree.root][c.draw.seed] for c in cases] for tree, cases, _ in asked]

    oracle = Oracle(measure, symptoms, lambda _: [])
    trees = {name: Tree(name, ("",), {}, {}) for name in gives}
    found = oracle.shows([trees["first"], trees["all"]])
    assert [trial.accepted for trial in found] == [False, True]
    assert groups == [["first", "all"], ["first", "all"]]
    found = oracle.shows([trees["none"], trees["all"]])
    assert [trial.accepted for trial in found] == [False, True]
    assert groups[2:] == [["none", "all"], ["all"]]
    assert oracle.tried == 4
