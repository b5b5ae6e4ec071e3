"""Somebody adds a pack of their own: a folder, a variable, and nothing in the engine changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from workbench import ROOT, contents, engine, engine_json

PACKS = ROOT / "tests" / "packs"
SCALER = "src/scaling/scaler.py"
PREDICTION = "predictions:\n  mean: {answer: not zero, confidence: 70}\n"
CAUSE = "cause: {answer: scaler, confidence: 90}\n"
EDITS = {
    "three-slips": {
        "self.width = width  # the last axis": "self.width = 1  # the last axis",
        "return (x - mean) / (spread + 1e-6)": "return x / (spread + 1e-6) * 2.0",
    },
    "variance": {"spread = x.std(": "spread = x.var("},
}


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """A folder outside the repository with a pack, and the template of the pack beside it."""
    shutil.copytree(PACKS, tmp_path / "elsewhere")
    return tmp_path / "elsewhere" / "exercises"


@pytest.fixture
def env(packs: Path) -> dict[str, str]:
    """Where the pack is."""
    return {"ENGINE_EXERCISES": str(packs)}


@pytest.fixture
def learner(packs: Path, env: dict[str, str], tmp_path: Path) -> Path:
    """A learner of the pack, with code of their own."""
    code = packs / "scaling" / "models" / "plain"
    engine("init", "eve", "--pack", "scaling", "--model", code, cwd=tmp_path, env=env, code=0)
    (tmp_path / "answers.yaml").write_text(PREDICTION + CAUSE)
    return tmp_path / "learners" / "eve"


def test_the_pack_is_proved(packs: Path, tmp_path: Path) -> None:
    """Specs, healthy model, bites, right fix, silencer; by its path alone."""
    report = engine_json("dev", "check", packs / "scaling", cwd=tmp_path)
    assert report["passed"]
    assert not report["problems"]
    assert {proof["exercise"] for proof in report["proofs"]} == {
        "scaler", "spread", "three-slips", "variance",
    }  # fmt: skip
    assert all(proof["held"] for proof in report["proofs"])


def test_the_pack_is_listed_and_its_build_is_judged(learner: Path, env: dict[str, str]) -> None:
    """As one that came with the engine."""
    shown = engine("list", cwd=learner, env=env, code=0).stdout
    assert all(id in shown for id in ("scaler", *EDITS))
    assert engine_json("submit-build", "scaler", cwd=learner, env=env)["passed"]


@pytest.mark.parametrize("id", EDITS)
def test_a_break_of_the_pack_from_beginning_to_end(
    learner: Path, env: dict[str, str], tmp_path: Path, id: str
) -> None:
    """Found by pattern, role and graft, or by the very statement; refused, mended, closed."""
    model = Path(engine_json("status", cwd=learner, env=env)["model"])
    before = contents(model)
    engine("break", id, "--answers", tmp_path / "answers.yaml", cwd=learner, env=env, code=0)
    assert contents(model) == before
    broken = learner / "practice" / id / SCALER
    healthy = (model / SCALER).read_text()
    text = broken.read_text()
    for old, new in EDITS[id].items():
        assert old in healthy
        assert new in text
    engine("submit-fix", cwd=learner, env=env, code=1)
    broken.write_text(healthy)
    words = ("submit-fix", "--answers", tmp_path / "answers.yaml")
    assert engine_json(*words, cwd=learner, env=env)["passed"]


OTHERS = {
    "other names": """\
import numpy as np
class Scaler(object):
\tdef __init__(self, n): self.width = n
\tdef __call__(self, rows):
\t\taway = rows - np.mean(rows, -1)[:, None]; return away / (np.std(rows, -1)[:, None] + 1e-6)
""",
    "row by row": """\
import numpy as np
class Scaler:
    def __init__(self, d):
        self.width = int(d)
    def __call__(self, rows):
        done = []
        for row in rows:
            away = row - row.mean()
            done.append(away / (row.std() + 1e-6))
        return np.array(done)
""",
    "row by row in a function": """\
import numpy as np
def scaled(row):
    away = row - row.mean()
    return away / (row.std() + 1e-6)
class Scaler:
    def __init__(self, d):
        self.width = d
    def __call__(self, rows):
        return np.array([scaled(row) for row in rows])
""",
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_pack_reaches_other_code(env: dict[str, str], tmp_path: Path, name: str) -> None:
    """Models that the author has not seen."""
    (tmp_path / "other" / "scaling").mkdir(parents=True)
    (tmp_path / "other" / "scaling" / "__init__.py").write_text("")
    (tmp_path / "other" / "scaling" / "scaler.py").write_text(OTHERS[name])
    words = ("dev", "reach", "--pack", "scaling", "--model", "other", "--exercise", "three-slips")
    line = engine_json(*words, cwd=tmp_path, env=env)
    assert line["outcome"] == "injected", line["reason"]


def test_a_pack_brings_its_own_template(env: dict[str, str], tmp_path: Path) -> None:
    """`templates/` beside the folder of packs, where `dev check` looks as well."""
    engine("init", "eve", "--pack", "scaling", cwd=tmp_path, env=env, code=0)
    laid = tmp_path / "learners" / "eve" / SCALER
    assert laid.read_bytes() == (PACKS / "templates" / "scaling" / SCALER).read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("find: self.width = $X,", "find: self.width = ,", "is not Python"),
        ("find: self.width = $X,", "find: a = 1; b = 2,", "one expression or one statement"),
        ("replace: self.width = 1,", 'replace: "",', "write `pass`"),
        ("inside: [Scaler]", "inside: [Skaler]", "Skaler"),
        ('value: "y"', 'value: "z"', "'z'"),
        ("probe: scaler.forward, regime: normal, replace", "probe: scaler.forwards, regime: normal, replace", "scaler.forwards"),
        ("proves: [scaler.width]", "proves: [scaler.widths]", "scaler.widths"),
        ("on: plain", "on: plane", "plane"),
    ],
    ids=["syntax", "two statements", "nothing for a statement", "role", "value", "probe of a step", "proves", "model"],
)  # fmt: skip
def test_a_slip_of_the_author_is_told(packs: Path, tmp_path: Path, old, new, told) -> None:
    """With the file, before or while it is proved; never as a bug in the engine."""
    file = packs / "scaling" / "01-scaling" / "scaler" / "three-slips.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    done = engine("dev", "check", packs / "scaling", "--json", cwd=tmp_path, code=3)
    assert told in done.stdout + done.stderr
    assert "three-slips.yaml" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "probe: forward, regimes: [normal]",
            "probe: forward, regimes: [normal, nomral]",
            "no two regimes of a probe draw the same: forward: normal and nomral",
        ),
        (
            "probe: width, regimes: [normal]",
            "probe: width, regimes: [normal], values: [other]",
            "what is recorded is compared: width: width in normal",
        ),
    ],
)
def test_what_a_build_leaves_unseen_is_told(packs: Path, tmp_path: Path, old, new, told) -> None:
    """A regime that is a slip of the pen, and a value that no check looks at."""
    file = packs / "scaling" / "01-scaling" / "scaler" / "build.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    shown = engine("dev", "check", packs / "scaling", cwd=tmp_path, code=3).stdout
    assert told.replace(": ", " ") in " ".join(shown.split()).replace(": ", " ").replace("(", "")
