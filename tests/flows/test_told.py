"""What a learner is told of typical mistakes: the cause once, in their words, in few lines."""

from __future__ import annotations

import re

import pytest
from trees import corpus_tree

from engine.flows.build import grade_build
from engine.judge.findings import findings, unrun
from engine.learner import model
from engine.report import detail
from engine.report.verdicts import View
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue, content_root

NORM, EMBEDDING = "src/minimodel/nn/norm.py", "src/minimodel/nn/embedding.py"
STUBS = sorted(Catalogue.find("minimodel").contract.components)


@pytest.fixture
def told(servers, catalogue, capsys):
    """Judges a component; the lines that a learner reads on 80 columns."""

    def lines(tree: Tree, component: str) -> list[str]:
        verdict = grade_build(servers, catalogue, component, tree, 5)
        assert not verdict.passed
        build = catalogue.build(component)
        View("en", "", component, build.constraints).verdict(verdict)
        return capsys.readouterr().out.splitlines()

    return lines


def changed(tree: Tree, path: str, old: str, new: str) -> Tree:
    """The tree with one edit; old "" appends."""
    text = tree.files[path].decode()
    assert old in text
    text = text.replace(old, new, 1) if old else text + new
    return tree.replaced({path: text.encode()})


@pytest.fixture(scope="module")
def stubs(catalogue) -> Tree:
    """The template as it is laid down."""
    root = content_root("templates") / "minimodel"
    contract = catalogue.contract
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    files = model.read(root, contract.roots, modules)
    return Tree(str(root), tuple(contract.roots), files, contract.roles)


@pytest.mark.parametrize("component", [name for name in STUBS if name not in ("tensor", "module")])
def test_a_stub_is_told_in_a_few_lines_that_begin_with_where_to_write(told, stubs, component):
    """At most 12 lines, of which three tell of hints and what to build first; the first names the line.
    (The template's tensor and module are whole.)
    """
    lines = told(stubs, component)
    assert len(lines) <= 9
    assert re.match(r"FAIL src/\S+\.py:\d+", lines[0])
    assert "Not written yet." in " ".join(lines[:2])


MISTAKES = {
    "a wrong import": ("import numpy as np", "import numpy as np\nimport nunpy", "No module named 'nunpy'"),
    "a missing return": ("", "\nEmbedding.forward = lambda self, ids: None\n", "is a `return` missing?"),
    "a missing attribute": (
        "", "\n_i = Embedding.__init__\ndef _init(self, *a, **k):\n    _i(self, *a, **k)\n"
        "    del self.__dict__['vocab_size']\nEmbedding.__init__ = _init\n", "has no attribute vocab_size",
    ),
    "a runaway constructor": (
        "", "\n\ndef _init(self, *a, **k):\n    self.inner = Embedding(*a, **k)\nEmbedding.__init__ = _init\n",
        "calls itself without end",
    ),
    "an endless loop": (
        "", "\n\ndef _forward(self, ids):\n    while True:\n        pass\nEmbedding.forward = _forward\n",
        "no answer within the time limit",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_the_cause_is_told_once(told, plain, name):
    """At most 20 lines, and the sentence for the mistake in them exactly once."""
    old, new, sentence = MISTAKES[name]
    lines = told(changed(plain, EMBEDDING, old, new), "embedding")
    assert len(lines) <= 20
    assert " ".join(" ".join(lines).split()).count(sentence) == 1


def test_what_never_ran_is_not_run_and_the_running_line_is_named(told, servers, catalogue, plain):
    """A time-out stops the rest: that is no failure of theirs."""
    old, new, _ = MISTAKES["an endless loop"]
    tree = changed(plain, EMBEDDING, old, new)
    verdict = grade_build(servers, catalogue, "embedding", tree, 5)
    (finding,) = findings(verdict.results)
    assert finding.place is not None and finding.place.text in ("while True:", "pass")
    assert any(unrun(result) for result in verdict.results)
    assert "not run (stopped before)" in " ".join(told(tree, "embedding"))


def test_what_was_printed_stands_under_the_check(told, plain):
    """As pytest shows it."""
    tree = changed(
        plain, EMBEDDING, "return self.weight[ids]", "print('ids', ids.shape); return None"
    )
    lines = told(tree, "embedding")
    at = lines.index("     It printed:")
    assert lines[at + 1].strip().startswith("ids (")


def test_an_import_that_fails_is_tried_once_in_each_process(servers, catalogue, plain):
    """It took a second for each of many draws."""
    slow = changed(
        plain, EMBEDDING, "import numpy as np", "import numpy as np\nimport time\ntime.sleep(1)\nx"
    )
    verdict = grade_build(servers, catalogue, "embedding", slow, 5)
    (finding,) = findings(verdict.results)
    assert finding.says == "NameError: name 'x' is not defined"
    assert len(finding.more) == len(verdict.results) - 1


def test_a_schedule_names_the_first_step_that_differs(told, plain):
    """By its number."""
    (path,) = [p for p in plain.files if b"def cosine_lr" in plain.files[p]]
    tree = changed(
        plain,
        path,
        "",
        "\n_c = cosine_lr\ndef cosine_lr(step, **k):\n    return _c(step + 1, **k)\n",
    )
    text = " ".join(told(tree, "cosine_lr"))
    assert re.search(r"rate at step 0\D.* is \S+, should be 0\.", text), text


def test_all_tells_each_in_full(told, plain):
    """With --all there is a line with the inputs for each cause."""
    tree = changed(plain, EMBEDDING, "return self.weight[ids]", "return self.weight[ids] * 2.0")
    few = told(tree, "embedding")
    detail.want(all=True)
    try:
        many = told(tree, "embedding")
    finally:
        detail.want()
    inputs = [sum(line.startswith("     with ") for line in lines) for lines in (few, many)]
    assert inputs[0] == 1 < inputs[1]


def test_blame_follows_use(catalogue):
    """attention's code uses sdpa and rope; sdpa's uses nothing, whatever a course has one read before."""
    parts = catalogue.contract.components
    assert set(parts["attention"].uses) == {"sdpa", "rope"} and not parts["sdpa"].uses


def test_the_corpus_still_passes(servers, catalogue):
    """Right code says nothing."""
    assert not findings(grade_build(servers, catalogue, "rmsnorm", corpus_tree("loops"), 5).results)


def test_a_spread_is_told_in_the_learners_units_and_first(told, plain):
    """std 0.2 for 0.02, not "mean: between -0.03379 and 0.03379" in units that are said nowhere."""
    tree = changed(plain, EMBEDDING, "rng.normal(0.0, 0.02", "rng.normal(0.0, 0.2")
    text = " ".join(" ".join(told(tree, "embedding")).split())
    assert re.search(
        r"standard deviation is 0\.(199|20)\d*, should be 0\.02 \(± [\d.]+%\)", text
    ), text
