"""CS336's training loop and generation, which no adapter speaks of: judged by what they do when they run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from test_commands import engine, with_torch

from engine.author import fact_lint
from engine.spec.catalogue import Catalogue

CS336 = Catalogue.find("cs336")
PACK = Path(CS336.folder)
LOOP, SAMPLER = "cs336_basics/train.py", "cs336_basics/generation.py"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A learner with the finished model."""
    folder = tmp_path_factory.mktemp("finished")
    engine("init", "ada", "--pack", "cs336", "--complete", cwd=folder)
    return folder / "learners" / "ada"


@pytest.fixture
def home(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "ada", symlinks=True)
    return tmp_path / "ada"


def edited(home, file, old, new):
    text = (home / file).read_text("utf-8")
    assert text.count(old) == 1, (file, old)
    (home / file).write_text(text.replace(old, new), "utf-8")


@with_torch
def test_the_finished_one_passes_and_asks(home):
    report = json.loads(engine("submit-build", "training_loop", "--json", cwd=home))
    assert report["passed"]
    assert report["open_questions"] == 3
    listed = json.loads(engine("list", "--json", cwd=home))["exercises"]
    assert [one["id"] for one in listed if one["state"] == "passed"] == ["training_loop"]


@with_torch
def test_a_failed_one_has_a_hint_of_its_own_and_no_script(home):
    edited(home, LOOP, 'group["lr"] = rate', "pass")
    told = engine("submit-build", "training_loop", cwd=home, code=1)
    assert "learning rate: computed and not set; should be" in told
    assert "param_groups" in engine("hint", cwd=home)  # the third, which is about that check
    assert "`engine check`" in engine("repro", cwd=home, code=4)


@with_torch
def test_what_cannot_be_run_here_is_no_verdict(home):
    edited(home, LOOP, "    given = arguments()\n", "    raise RuntimeError('no such disk')\n")
    told = engine("submit-build", "training_loop", cwd=home, code=4)
    assert "could not be run here" in told
    assert "no such disk" in told
    assert "Nothing was judged" in told


@with_torch
def test_what_is_not_there_is_told_as_that(home):
    (home / LOOP).unlink()
    (home / SAMPLER).unlink()
    told = engine("submit-build", "training_loop", cwd=home, code=1)
    assert "no script that trains the model was found" in told
    table = json.loads(engine("submit-build", "--all", "--json", cwd=home, code=1))
    assert [part["exercise"] for part in table["parts"] if not part["passed"]] == [
        "training_loop",
        "generation",
    ]


def test_the_text_names_what_is_looked_at():
    shown = engine("show", "cs336/training_loop", cwd=PACK)
    assert "order of a training step" in shown
    assert "cs336_basics/train.py" in shown


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("needs: [order", "needs: [ordre", "ordre is no fact"),
        ("{order: [1, 2]", "{ordr: [1, 2]", "ordr is no fact"),
        ("updated: [3]", "updated: [9]", "names hint 9 of 5"),
        ("es: El bucle de entrenamiento", "", "title has no text in es"),
    ],
)
def test_slips_of_an_author_are_told(old, new, said, tmp_path):
    shutil.copytree(PACK, tmp_path / "cs336")
    file = tmp_path / "cs336" / "18-training" / "training_loop" / "facts.yaml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    catalogue = Catalogue("cs336", tmp_path / "cs336")
    found = [one.what for one in fact_lint.build_problems(catalogue, "training_loop")]
    assert any(said in what for what in found), found
