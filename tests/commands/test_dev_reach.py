"""engine dev reach: one line for each model and exercise, whatever the models are like."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from workbench import ROOT, contents, engine

PACKS = ROOT / "tests" / "packs" / "exercises"
MODEL = PACKS / "scaling" / "models" / "plain" / "src"
SCALER = "src/scaling/scaler.py"
BREAKS = ["three-slips", "variance"]
KEYS = ["exercise", "model", "outcome", "how", "files", "changed_lines", "ms", "reason"]


def reach(*words: str | Path, cwd: Path, code: int = 0) -> list[dict[str, Any]]:
    """The lines of `engine dev reach --json` on the pack of the tests."""
    told = engine(
        "dev", "reach", "--pack", "scaling", *words, "--json",
        cwd=cwd, env={"ENGINE_EXERCISES": str(PACKS)}, code=code,
    ).stdout  # fmt: skip
    assert told.endswith("\n")
    return [json.loads(line) for line in told.splitlines()]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A healthy model in a folder `mine`, its package below src/."""
    shutil.copytree(MODEL, tmp_path / "mine" / "src")
    (tmp_path / "mine" / "src" / "scaling" / "__init__.py").write_text("")
    return tmp_path / "mine"


def copied(model: Path, name: str, old: str = "", new: str = "") -> Path:
    """Another model beside it, with a piece of its scaler replaced."""
    other = model.parent / name
    shutil.copytree(model, other)
    text = (other / SCALER).read_text()
    assert old in text
    (other / SCALER).write_text(text.replace(old, new, 1) if old else text)
    return other


def test_there_is_a_line_for_each_pair_with_just_these_keys(model: Path) -> None:
    """All breaks of the pack, models in the order they were given."""
    copied(model, "again")
    lines = reach("--model", "mine", "--model", "again", cwd=model.parent)
    pairs = [(name, id) for name in ("mine", "again") for id in BREAKS]
    assert [(line["model"], line["exercise"]) for line in lines] == pairs
    for line in lines:
        assert list(line) == KEYS
        assert line["outcome"] == "injected"
        assert line["how"] in ("pattern", "role", "graft", "append", "rewrite")
        assert line["files"] == [SCALER]
        assert line["changed_lines"] == {"three-slips": 3, "variance": 1}[line["exercise"]]
        assert line["ms"] > 0
        assert line["reason"] is None


def test_the_package_may_lie_in_the_folder_itself(model: Path) -> None:
    """Its paths are then told without src/."""
    (line,) = reach("--model", model / "src", "--exercise", "variance", cwd=model.parent)
    assert (line["model"], line["outcome"]) == ("src", "injected")
    assert line["files"] == ["scaling/scaler.py"]


def test_a_model_may_be_the_folder_one_is_in(model: Path) -> None:
    """Its name is the folder's own."""
    (line,) = reach("--model", ".", "--exercise", "pack/variance", cwd=model, code=2)
    assert "error" in line
    (line,) = reach("--model", ".", "--exercise", "scaling/variance", cwd=model)
    assert (line["model"], line["exercise"]) == ("mine", "variance")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--model", "nowhere"], "nowhere"),
        (["--model", "mine", "--model", "nowhere"], "nowhere"),
        (["--model", "mine/src/scaling/scaler.py"], "scaler.py"),
        (["--model", "mine", "--model", "other/mine"], "mine"),
        (["--model", "mine", "--model", "./mine"], "mine"),
        (["--model", "mine", "--exercise", "tree-slips"], "three-slips"),
        (["--model", "mine", "--exercise", "scaler"], "not a break"),
        (["--model", "mine", "--exercise", "variance", "--exercise", "scaler"], "not a break"),
        (["--model", "mine", "--only", "magic"], "magic"),
        ([], "--model"),
    ],
    ids=[
        "no folder", "no second folder", "a file", "two of one name", "one twice",
        "no such exercise", "a build", "a build at last", "no such proposer", "no model",
    ],
)  # fmt: skip
def test_a_command_line_that_does_not_fit_is_refused_before_anything_is_run(
    model: Path, words: list[str], told: str
) -> None:
    """Exit 2, one error, and no line before it."""
    (model.parent / "other" / "mine").mkdir(parents=True)
    (line,) = reach(*words, "--write", "out", cwd=model.parent, code=2)
    assert list(line) == ["error"]
    assert told in json.dumps(line)
    assert not (model.parent / "out").exists()


def test_a_model_that_does_not_parse_is_an_error_of_its_own(model: Path) -> None:
    """With the line; and the other models are tried all the same."""
    copied(model, "bad", "def __call__(self, x):", "def __call__(self, x:")
    lines = reach("--model", "bad", "--model", "mine", cwd=model.parent)
    assert [line["outcome"] for line in lines] == ["error", "error", "injected", "injected"]
    for line in lines[:2]:
        assert f"{SCALER}:10" in line["reason"] and "\n" not in line["reason"]
        assert (line["how"], line["files"], line["changed_lines"]) == (None, [], 0)
        assert line["ms"] > 0


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("self.width = width", "self.width = width + 1", "width"),
        ("x - mean", "x + mean", "expected"),
        ("def __call__", "def call", "TypeError"),
        ("class Scaler", "import nowhere\nclass Scaler", "nowhere"),
        ("class Scaler", "class Skaler", "Scaler"),
        ("class Scaler", "raise SystemExit(3)\nclass Scaler", "SystemExit"),
    ],
    ids=["value", "sign", "no method", "no import", "no class", "leaves"],
)
def test_a_model_that_is_not_healthy_is_told_apart(
    model: Path, old: str, new: str, reason: str
) -> None:
    """With what was measured and the build that shows what to mend."""
    copied(model, "ill", old, new)
    (line,) = reach("--model", "ill", "--exercise", "variance", cwd=model.parent)
    assert line["outcome"] == "unhealthy"
    assert reason in line["reason"] and "engine submit-build scaler" in line["reason"]
    assert (line["how"], line["files"], line["changed_lines"]) == (None, [], 0)


def test_a_folder_without_the_package_is_an_error(model: Path) -> None:
    """It says where it looked."""
    (model.parent / "empty").mkdir()
    (line,) = reach("--model", "empty", "--exercise", "variance", cwd=model.parent)
    assert line["outcome"] == "error"
    assert "scaling" in line["reason"] and str(model.parent / "empty") in line["reason"]


def test_a_bug_that_does_not_go_in_is_refused_with_exit_0(model: Path) -> None:
    """A refusal is a result; nothing is written for it."""
    copied(model, "other", "spread = x.std(axis=-1, keepdims=True)", "spread = x.std(-1)[:, None]")
    lines = reach("--model", "other", "--write", "out", cwd=model.parent)
    assert [line["outcome"] for line in lines] == ["injected", "refused"]
    assert lines[1]["reason"]
    assert sorted(path.name for path in (model.parent / "out" / "other").iterdir()) == BREAKS[:1]


@pytest.mark.slow
def test_an_endless_model_is_a_line_as_well(model: Path) -> None:
    """It costs its time and stops nothing."""
    copied(model, "endless", "class Scaler", "while True: pass\nclass Scaler")
    lines = reach(
        "--model", "endless", "--model", "mine", "--exercise", "variance", cwd=model.parent
    )
    assert [line["outcome"] for line in lines][1:] == ["injected"]
    assert lines[0]["outcome"] in ("unhealthy", "refused", "error")
    assert lines[0]["reason"]


def test_what_a_model_prints_does_not_come_between_the_lines(model: Path) -> None:
    """Standard output is JSON Lines only."""
    copied(
        model,
        "loud",
        "class Scaler",
        'import sys\nprint("hello", file=sys.stderr)\nprint("{}")\nclass Scaler',
    )
    lines = reach("--model", "loud", cwd=model.parent)
    assert [list(line) for line in lines] == [KEYS, KEYS]
    assert {line["outcome"] for line in lines} == {"injected"}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_model_may_use_letters_of_its_language(model: Path, encoding: str) -> None:
    """In names, in texts and in an encoding of its own; the bytes around the bug stay."""
    old = "return (x - mean) / (spread + 1e-6)"
    text = (model / SCALER).read_text()
    assert old in text
    text = text.replace(old, "año = (x - mean) / (spread + 1e-6)  # ñ\n        return año")
    healthy = f"# -*- coding: {encoding} -*-\n{text}".encode(encoding)
    (model / SCALER).write_bytes(healthy)
    words = ("--model", "mine", "--exercise", "three-slips", "--write", "out")
    (line,) = reach(*words, cwd=model.parent)
    assert line["outcome"] == "injected", line["reason"]
    broken = (model.parent / "out" / "mine" / "three-slips" / SCALER).read_bytes()
    kept = [part for part in healthy.splitlines() if part in broken.splitlines()]
    assert len(healthy.splitlines()) - len(kept) <= 4
    assert "# ñ" in broken.decode(encoding)


def test_without_json_there_is_a_line_of_words_for_each_pair(model: Path) -> None:
    """The same for a person."""
    words = ("dev", "reach", "--pack", "scaling", "--model", "mine")
    done = engine(*words, cwd=model.parent, env={"ENGINE_EXERCISES": str(PACKS)}, code=0)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all(
        line.startswith("injected") and id in line for line, id in zip(lines, BREAKS, strict=True)
    )


def test_broken_trees_are_stored_by_model_and_exercise(model: Path) -> None:
    """Same relative paths, every file of the package, and nothing else of the folder."""
    for name in (".git/config", ".venv/pyvenv.cfg", ".venv/lib/site.py", "data/corpus.txt",
                 "weights.npz", "src/scaling/__pycache__/scaler.cpython-311.pyc", "README.md",
                 "src/scaling/env/pyvenv.cfg", "src/scaling/env/mod.py", "src/scaling/.hidden/a.py",
                 "src/scaling/table.csv", "notes.ipynb"):  # fmt: skip
        (model / name).parent.mkdir(parents=True, exist_ok=True)
        (model / name).write_text("x = 1\n")
    (model / "src" / "scaling" / "extra.py").write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    before = contents(model)
    out = model.parent / "deep" / "out"
    lines = reach("--model", "mine", "--write", out, cwd=model.parent)
    assert [line["outcome"] for line in lines] == ["injected", "injected"]
    assert contents(model) == before
    files = ["src/scaling/__init__.py", "src/scaling/extra.py", SCALER]
    for line in lines:
        stored = {k: v for k, v in contents(out / "mine" / line["exercise"]).items() if v != "/"}
        assert sorted(stored) == files
        changed = [path for path in files if stored[path] != before[path]]
        assert changed == line["files"]
    assert sorted(path.name for path in (out / "mine").iterdir()) == BREAKS


def test_what_was_stored_before_is_replaced(model: Path) -> None:
    """No file of an older tree stays behind; other folders are left alone."""
    old, other = model.parent / "out/mine/variance/old.py", model.parent / "out/mine/kept/a.py"
    for path in (old, other):
        path.parent.mkdir(parents=True)
        path.write_text("x = 1\n")
    words = ("--model", "mine", "--exercise", "variance", "--write", "out")
    reach(*words, cwd=model.parent)
    first = contents(model.parent / "out")
    assert not old.exists() and other.exists()
    reach(*words, cwd=model.parent)
    assert contents(model.parent / "out") == first


def test_a_place_that_cannot_be_written_is_told(model: Path) -> None:
    """A file where the folder should be."""
    (model.parent / "out").write_text("")
    words = ("--model", "mine", "--exercise", "variance", "--write", "out")
    line = reach(*words, cwd=model.parent, code=4)[-1]
    assert "out/mine/variance" in line["error"]["where"]


def test_trees_are_not_stored_inside_of_a_model(model: Path) -> None:
    """DIR/<model>/ would be the learner's own folder, which is only read."""
    before = contents(model)
    reach("--model", "mine", "--exercise", "variance", "--write", ".", cwd=model.parent, code=2)
    assert contents(model) == before


def test_the_pack_that_is_shipped_is_the_one_that_is_meant(tmp_path: Path) -> None:
    """Without --pack, on two packages of the corpus."""
    corpus = ROOT / "tests" / "corpus"
    words = ("--model", corpus / "loops", "--model", corpus / "spanish" / "src")
    done = engine(
        "dev", "reach", *words, "--exercise", "tied-vocab-mismatch", "--json", cwd=tmp_path, code=0
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["model"], line["outcome"]) for line in lines] == [
        ("loops", "injected"),
        ("src", "injected"),
    ]
