"""CS336: breaks by the course's contract go into code of six styles, and one is taken from beginning to end."""

from __future__ import annotations

import json
import shutil

import pytest
from edited import tree_of
from test_commands import HERE, engine, learner_of, with_torch

from engine.errors import NotApplicable
from engine.flows.break_ import plan_break
from engine.flows.measuring import servers_for
from engine.spec.catalogue import Catalogue

CS336 = Catalogue.find("cs336")
OWN = [e.id for e in CS336.entries.values() if e.kind == "break" and e.pack == "cs336"]
STYLES = sorted(folder.name for folder in (HERE / "corpus").iterdir())
UNFIT = set()  # (break, style) that has no such part
TABLE = "        self.priority = {pair: i for i, pair in enumerate(merges)}\n"
CHOICE = """\
            ranked = [
                (self.priority[a, b], i) for i, (a, b) in enumerate(zip(tokens, tokens[1:])) if (a, b) in self.priority
            ]
            if not ranked:
                break
            _, i = min(ranked)
"""
JOINED = "            tokens = tokens[:i] + [tokens[i] + tokens[i + 1]] + tokens[i + 2 :]\n"
CANDIDATES = """\
            pairs = list(zip(tokens, tokens[1:]))
            known = [pair for pair in pairs if pair in self.merges]
            if not known:
                break
            i = pairs.index(min(known, key={key}))
"""
LOOP = """\
        for a, b in self.rules:
            i = 0
            while i < len(tokens) - 1:
                if tokens[i] == a and tokens[i + 1] == b:
                    tokens[i : i + 2] = [a + b]
                i += 1
"""
ENCODERS = {  # edits to the style "adapters": other ways to write an encoder
    "zipped": [(TABLE, "        self.priority = dict(zip(merges, range(len(merges))))\n")],
    "counted": [
        (
            TABLE,
            "        self.priority = {}\n        for i in range(len(merges)):\n            self.priority[merges[i]] = i\n",
        ),
    ],
    "index": [
        (TABLE, "        self.merges = merges\n"),
        (CHOICE, CANDIDATES.format(key="self.merges.index")),
    ],
    "ids": [
        (TABLE, "        self.merges = set(merges)\n"),
        (CHOICE, CANDIDATES.format(key="lambda pair: self.inverse[pair[0] + pair[1]]")),
    ],
    "loop": [
        (TABLE, "        self.rules = merges\n"),
        ("        while len(tokens) >= 2:\n" + CHOICE + JOINED, LOOP),
    ],
}
CLIP = "clip-per-parameter"
RIGHT = "            g.mul_(min(max_norm / (total + eps), 1.0))\n"  # in another form
WRONG = "            g.mul_(max_norm / (total * len(grads) + eps))\n"
ANSWERS = """\
predictions:
  together: {answer: 4, confidence: 80}
  ratio: {answer: 10, confidence: 60}
  many-short: {answer: unchanged, confidence: 70}
cause: {answer: own, confidence: 90}
"""


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """planned(break, style, edits) -> where it goes, and how."""
    pytest.importorskip("torch", reason="torch is not installed")
    with servers_for(CS336, None) as servers:

        def plan(id, style, edits=()):
            tree = tree_of(CS336, HERE / "corpus" / style, tmp_path_factory.getbasetemp(), edits)
            return plan_break(servers, CS336, id, tree, 7)

        yield plan


def test_there_are_breaks():
    assert len(OWN) >= 17


@pytest.mark.sweep(5)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("id", OWN)
def test_it_goes_into_code_of_any_style(id, style, planned):
    """In few lines, each candidate verified by what the bug must measure."""
    if (id, style) in UNFIT:
        with pytest.raises(NotApplicable):
            planned(id, style)
    else:
        assert planned(id, style).injection.changed_lines <= 5


@pytest.mark.parametrize("form", ENCODERS)
def test_merges_go_backwards_however_an_encoder_is_written(form, planned):
    """A table of ranks, a list that is searched or gone through, ids in the place of ranks."""
    edits = [("cs336_basics/tokenizer.py", old, new) for old, new in ENCODERS[form]]
    planned_ = planned("bpe-merges-backwards", "adapters", edits).injection
    assert planned_.changed_lines == 1
    assert list(planned_.files) == ["cs336_basics/tokenizer.py"]


@pytest.fixture
def home(tmp_path):
    shutil.copytree(HERE / "corpus" / "modules", tmp_path / "code")
    return learner_of(tmp_path / "code", tmp_path)[0]


@with_torch
def test_a_break_by_contract_from_beginning_to_end(home, tmp_path):
    """Told: predicted, put in, refused while it is there, mended in another form, closed."""
    answers = tmp_path / "answers.yaml"
    answers.write_text(ANSWERS)
    report = json.loads(engine("break", CLIP, "--answers", answers, "--json", cwd=home))
    right = {one["id"]: one["right"] for one in report["observed"]["scored"]}
    assert right == {"together": True, "ratio": False, "many-short": True}
    file = home / "practice" / CLIP / "cs336_basics" / "training.py"
    broken = file.read_text()
    line = next(line for line in broken.splitlines(True) if "g.mul_(max_norm / max(" in line)
    assert "clip_gradients" in engine("hint", cwd=home)
    for text in (broken + "\nFACTOR = 1\n", broken.replace(line, WRONG)):
        file.write_text(text)
        assert "Not fixed yet" in engine("submit-fix", "--answers", answers, cwd=home, code=1)
    file.write_text(broken.replace(line, RIGHT))
    told = engine("submit-fix", "--answers", answers, cwd=home)
    assert "Fixed." in told and "in many tensors" in told


@with_torch
def test_a_break_by_contract_that_is_taken_blind(home, tmp_path):
    told = engine("break", "--blind", CLIP, cwd=home)
    assert CLIP not in told and "60 steps" in told
    practice, name = home / "practice" / "blind-1", "cs336_basics/training.py"
    healthy = (tmp_path / "code" / name).read_text()
    assert (practice / name).read_text() != healthy
    (practice / name).write_text(healthy)
    assert "Fixed." in engine("submit-fix", cwd=home)
