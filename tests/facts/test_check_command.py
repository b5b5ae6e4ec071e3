"""`engine check` as it is typed: exit codes, JSON, and trees that do what they should not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.facts.conftest import GPTS


def engine(*words, env=None):
    return subprocess.run(
        [sys.executable, "-m", "engine", "check", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **(env or {})},
    )


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


def state(folder: Path):
    return {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}


def test_a_wrong_model_ends_with_1_and_nothing_is_left_behind(torch, tmp_path):
    text = (GPTS / "fused" / "model.py").read_text()
    (tmp_path / "model.py").write_text(text.replace(" / math.sqrt(k.size(-1))", ""))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    before = state(tmp_path)
    done = engine(tmp_path, "--json", env={"TMPDIR": str(temporary)})
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert {"model", "facts", "made_up", "took_s"} <= report.keys()
    wrong = [fact for fact in report["facts"] if fact["verdict"] == "WRONG"]
    assert [fact["id"] for fact in wrong] == ["scale"]
    assert {"id", "verdict", "value", "expected", "where", "why"} <= wrong[0].keys()
    assert state(tmp_path) == before


def test_text_says_what_was_taken_and_what_it_cannot_tell(torch):
    done = engine(GPTS / "espanol", "--select", "scale")
    assert done.returncode == 0
    assert "modelo.py:ModeloLenguaje: 2 layers, d 32, 4 heads" in done.stdout
    assert "What this cannot tell" in done.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise RuntimeError('no')\n", "No model was found"),
        ("", "No model was found"),
        ("this is no python", "No model was found"),
        ("class GPT:\n    def f(self:\n", "model.py is not Python"),
        (
            "from transformers import GPT2LMHeadModel\nm = GPT2LMHeadModel.from_pretrained('gpt2')",
            "model.py takes one from a library (GPT2LMHeadModel)",
        ),
        ("CLASS\n        while True: pass\n", "could be built"),
        ("CLASS\n        import os; os._exit(0)\n", "could be built"),
        ("CLASS\n        input('who?')\n", "could be built"),
        ("CLASS\n        while True: print('x' * 1000)\n", "could be built"),
        ("CLASS\n        open('/etc/passwd').read()\n", "could be built"),
        (
            "CLASS\n        import socket; socket.create_connection(('1.1.1.1', 80))\n",
            "could be built",
        ),
    ],
)
def test_a_tree_that_misbehaves_ends_in_one_sentence(text, said, torch, tmp_path):
    head = """import torch
class GPT(torch.nn.Module):
    def forward(self, idx): return idx
    def __init__(self, vocab_size, n_layer):
        super().__init__()
        self.embed = self.blocks = self.head = None"""
    (tmp_path / "model.py").write_text(text.replace("CLASS", head))
    done = engine(tmp_path)
    assert done.returncode == 4
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_folder_is_not_applicable(tmp_path):
    done = engine(tmp_path)
    assert done.returncode == 4
    assert "no Python file" in done.stderr


def test_without_torch_one_sentence_names_the_command(tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    (tmp_path / "model.py").write_text("x = 1\n")
    done = engine(tmp_path, "--python", python)
    assert done.returncode == 4
    assert "torch" in done.stderr
    assert "pip install" in done.stderr


def test_explain_measures_nothing():
    done = engine("--explain", "scale")
    assert done.returncode == 0
    assert "1/sqrt(d_head)" in done.stdout


def test_explain_speaks_spanish():
    done = engine("--explain", "scale", "--lang", "es")
    assert "las puntuaciones no se escalan" in done.stdout
    assert "Compruébalo: Imprime" in done.stdout


def test_a_report_speaks_the_language_of_learner_yaml(torch, tmp_path):
    shutil.copytree(GPTS / "espanol", tmp_path, dirs_exist_ok=True)
    (tmp_path / "learner.yaml").write_text("lang: es\n")
    done = engine(tmp_path, "--select", "mask", "--select", "top_k")
    assert done.returncode == 0
    for said in (
        "2 capas, d 32, 4 cabezas",
        "a qué atiende un token",
        "hasta sí mismo",
        "Sin medir:",
        "top-k = 5: el sampler no admite top-k",
        "Lo que esto no",
    ):
        assert said in done.stdout


def test_no_folder_of_the_engine_stays_in_the_temporary_folder(torch, tmp_path):
    left = set(os.listdir(tempfile.gettempdir()))
    engine(GPTS / "alibi", "--select", "mask")
    new = {name for name in set(os.listdir(tempfile.gettempdir())) - left if "engine-run" in name}
    assert not {name for name in new if os.path.isdir(Path(tempfile.gettempdir()) / name / "model")}


def test_a_functional_model_enters_by_its_learner_yaml(torch, tmp_path):
    shutil.copytree(GPTS / "functional", tmp_path, dirs_exist_ok=True)
    told = (
        'model: "net.py:make(53, 32, 2, 11)"\ncall: "forward(model, tokens, 4)"\ntrain: train.py\n'
    )
    (tmp_path / "learner.yaml").write_text(told)
    done = engine(tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"]["training"] == "train.py"


def test_a_model_in_a_notebook_is_checked_and_its_cell_is_named(torch, tmp_path):
    text = (GPTS / "fused" / "model.py").read_text().replace(" / math.sqrt(k.size(-1))", "")
    head, _, rest = text.partition("class MLP")
    cells = [{"cell_type": "markdown", "source": ["# My GPT"]}]
    cells += [{"cell_type": "code", "source": ["%pip install torch\n", head]}]
    cells += [{"cell_type": "code", "source": ["class MLP" + rest]}]
    cells += [{"cell_type": "code", "source": ["model = GPT(GPTConfig())\n", "input('go on?')"]}]
    (tmp_path / "gpt.ipynb").write_text(json.dumps({"cells": cells}))
    done = engine(tmp_path, "--select", "scale")
    assert done.returncode == 1, done.stderr
    line = 1 + head[: head.index("att = (q @")].count("\n") + 1
    assert f"gpt.ipynb, code cell 1:{line}: att = (q @" in done.stdout


def test_a_script_that_is_named_and_not_there_is_told(torch, tmp_path):
    shutil.copytree(GPTS / "fused", tmp_path, dirs_exist_ok=True)
    done = engine(tmp_path, "--train", "gone.py")
    assert done.returncode == 4
    assert "no file gone.py" in done.stderr
