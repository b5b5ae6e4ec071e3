"""The template of the gpt pack: files that parse, a model that learns, facts that are all right."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).resolve().parents[2] / "templates" / "gpt"
CODE = ("data.py", "generate.py", "model.py", "tokenizer.py", "train.py")
SHORT = """
import train
train.MAX_STEPS, train.EVAL_INTERVAL, train.EVAL_BATCHES = {steps}, 20, 4
train.WARMUP_STEPS, train.CHECKPOINT_INTERVAL = 5, 20
train.main()
"""
# What this model does not have: padded rows, a scaler of gradients, a cache.
ABSENT = {"padding", "scaler", "cache"}


def python(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # threads that wait for busy cores spin
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The template where it may write."""
    pytest.importorskip("torch", reason="torch is not installed")
    return Path(shutil.copytree(TEMPLATE, tmp_path / "gpt"))


def test_every_file_parses_and_needs_nothing_but_torch():
    """No other package, and no file that is not named here."""
    assert {file.name for file in TEMPLATE.glob("*.py")} == set(CODE)
    own = {name.removesuffix(".py") for name in CODE}
    for name in CODE:
        tree = ast.parse((TEMPLATE / name).read_text("utf-8"))
        assert ast.get_docstring(tree)
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
        modules = {alias.name for node in imports for alias in node.names}
        modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        roots = {module.partition(".")[0] for module in modules}
        assert roots <= own | {"torch"} | sys.stdlib_module_names


def test_the_text_has_every_character_of_its_end_in_its_beginning():
    """Validation asks for no character that training never shows; the size is as the README says."""
    text = (TEMPLATE / "text.txt").read_text("ascii")
    assert 30_000 < len(text) < 60_000
    assert set(text[int(0.9 * len(text)) :]) <= set(text[: int(0.9 * len(text))])
    assert len(set(text)) == 64


def test_the_notes_have_their_headings_in_both_languages():
    for language in ("en", "es"):
        assert (TEMPLATE / "notes" / f"breaks.{language}.md").read_text("utf-8").startswith("# ")


def test_it_learns_goes_on_after_a_stop_and_writes(copy: Path):
    """The validation loss falls from log 64; a resumed run begins below where the first one began."""
    told = python(copy, "-c", SHORT.format(steps=30))
    losses = [float(loss) for loss in re.findall(r"validation (\S+)", told)]
    assert len(losses) == 3 and abs(losses[0] - 4.16) < 0.3
    assert losses[-1] < losses[0] - 1
    resumed = python(copy, "-c", SHORT.format(steps=50), "--resume")
    assert re.findall(r"step +(\d+)", resumed) == ["40", "50"]
    assert float(re.findall(r"validation (\S+)", resumed)[0]) < losses[0] - 1
    written = [
        python(copy, "generate.py", "--prompt", "Alice", "--length", "80", "--seed", "3", *extra)
        for extra in ([], [], ["--top-k", "3", "--top-p", "0.9"])
    ]
    assert written[0] == written[1] != written[2]
    assert all(len(text) == 5 + 80 + 1 and text.startswith("Alice") for text in written)


def test_engine_check_finds_nothing_wrong(copy: Path):
    """Model, training and generation are found with nothing said, and every fact that applies is right."""
    root = TEMPLATE.parents[1]
    report = json.loads(python(root, "-m", "engine", "check", str(copy), "--json"))
    verdicts = {fact["id"]: fact["verdict"] for fact in report["facts"]}
    assert {id for id, verdict in verdicts.items() if verdict != "PASS"} == ABSENT
    assert {verdicts[id] for id in ABSENT} == {"SKIP"}
