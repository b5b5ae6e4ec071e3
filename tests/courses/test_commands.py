"""The commands on the code of a course in PyTorch, as a learner types them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.spec.catalogue import Catalogue

HERE = Path(__file__).parent
TEMPLATE = HERE.parents[1] / "templates" / "cs336"
with_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
GATE = next(
    row
    for row in map(json.loads, (HERE / "mistakes.jsonl").read_text("utf-8").splitlines())
    if (row["style"], row["part"]) == ("modules", "swiglu")
)


def engine(*words, cwd, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "engine", *map(str, words)],
        cwd=cwd, capture_output=True, encoding="utf-8", check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode in (code if isinstance(code, tuple) else (code,)), (
        done.stdout + done.stderr
    )
    return done.stdout + done.stderr


def learner_of(model, folder):
    """The folder of a learner around this code, and what `init` said."""
    told = engine("init", "ada", "--model", model, cwd=folder)
    return folder / "learners" / "ada", told


@pytest.fixture
def template(tmp_path):
    engine("init", "ada", "--pack", "cs336", cwd=tmp_path)
    return tmp_path / "learners" / "ada"


def test_a_template_has_the_parts_of_the_course_and_the_breaks_of_a_model(template):
    shown = engine("list", cwd=template)
    assert "rope " in shown and "train_bpe" in shown
    assert "scores-not-scaled" in shown  # of the pack that this one takes breaks from


def test_level_exam_is_refused_in_a_sentence(template):
    told = engine("submit-build", "linear", "--level", "exam", cwd=template, code=2)
    assert "judged at level practice alone" in told
    assert "judged at level practice" in engine(
        "submit-build", "--all", "--level", "exam", cwd=template, code=2
    )


@with_torch
def test_what_is_not_written_is_told_as_that_in_every_part(template):
    report = json.loads(engine("submit-build", "--all", "--json", cwd=template, code=1))
    assert len(report["parts"]) == 22
    for part in report["parts"]:
        assert not part["passed"]
        assert part["finding"]["says"] == "Not written yet."


@pytest.mark.parametrize("style", ["onefile", "heads", "functional"])
def test_code_of_the_course_is_known_wherever_its_adapters_lie(style, tmp_path):
    shutil.copytree(HERE / "corpus" / style, tmp_path / "code")
    home, _ = learner_of(tmp_path / "code", tmp_path)
    assert "pack: cs336" in (home / "learner.yaml").read_text()


@with_torch
def test_code_that_is_half_written_is_told_to_look_at_its_parts_first(tmp_path):
    shutil.copytree(TEMPLATE, tmp_path / "code")
    _, told = learner_of(tmp_path / "code", tmp_path)
    assert "type engine submit-build --all" in told and "breaks apply" not in told


@with_torch
def test_a_refused_part_is_repeated_by_a_script(tmp_path):
    """Without the engine, and with what the probes share."""
    code = tmp_path / "code"
    shutil.copytree(HERE / "corpus" / "modules", code)
    file = code / GATE["file"]
    file.write_text(file.read_text().replace(GATE["old"], GATE["new"]))
    home, _ = learner_of(code, tmp_path)
    engine("submit-build", "swiglu", cwd=home, code=1)
    engine("repro", cwd=home)
    (script,) = home.glob("repro/*/repro.py")
    alone = [sys.executable, "-c", f"import sys; sys.modules['engine'] = None; sys.argv = [{str(script)!r}]; "
             f"sys.path[0] = {str(script.parent)!r}; __file__ = {str(script)!r}; exec(open({str(script)!r}).read())"]  # fmt: skip
    done = subprocess.run(alone, cwd=home, capture_output=True, encoding="utf-8", check=False)
    assert "y:\n  DIFFERS" in done.stdout, done.stdout + done.stderr
    file.write_text(file.read_text().replace(GATE["new"], GATE["old"]))
    done = subprocess.run(alone, cwd=home, capture_output=True, encoding="utf-8", check=False)
    assert "y:\n  the same" in done.stdout, done.stdout + done.stderr


@with_torch
def test_a_break_by_facts_in_code_of_a_course_from_beginning_to_end(tmp_path):
    """Found, put in, refused while it is there, repeated, mended, closed."""
    shutil.copytree(HERE / "corpus" / "modules", tmp_path / "code")
    home, told = learner_of(tmp_path / "code", tmp_path)
    breaks = [e for e in Catalogue.find("cs336").entries.values() if e.kind == "break"]
    assert f"of {len(breaks)} breaks apply" in told  # by facts, and by the course's contract
    assert "type engine break --blind" in told
    engine("break", "--blind", "final-norm-missing-gpt", cwd=home)
    practice, file = home / "practice" / "blind-1", "cs336_basics/transformer.py"
    healthy = (tmp_path / "code" / file).read_text()
    broken = (practice / file).read_text()
    assert broken != healthy
    (practice / file).write_text(broken + "\nFACTOR = 1\n")
    refused = engine("submit-fix", cwd=home, code=1)
    assert "Not fixed yet" in refused
    engine("repro", cwd=home)
    assert list(home.glob("repro/*/repro.py"))
    (practice / file).write_text(healthy)
    assert "Fixed." in engine("submit-fix", cwd=home)
    assert (tmp_path / "code" / file).read_text() == healthy


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
@pytest.mark.parametrize("words", [("doctor",), ("submit-build", "linear"), ("break", "--blind")])
def test_without_torch_one_sentence_says_so(words, template):
    codes = {"doctor": 1, "submit-build": 5, "break": (4, 5)}  # by lot: by facts, or by contract
    told = engine(*words, cwd=template, code=codes[words[0]])
    assert told.count("has no torch") == 1
    assert "ok   learner's interpreter" not in told
    assert "Traceback" not in told


@with_torch
@pytest.mark.parametrize("pack", ["gpt", "cs336"])
def test_doctor_looks_at_code_in_torch(pack, tmp_path):
    engine("init", "ada", "--pack", pack, cwd=tmp_path)
    told = engine("doctor", cwd=tmp_path / "learners" / "ada")
    assert ", torch 2." in told
    assert "FAIL" not in told
