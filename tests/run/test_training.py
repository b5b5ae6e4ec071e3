"""The pack's own whole model learns the pack's own text. mini_gpt/build.yaml tells it in words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "training.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model plain, laid over the template."""
    where = tmp_path_factory.mktemp("model")
    root = SCRIPT.parent.parent
    for layer in (root / "templates" / "minimodel", root / "exercises/minimodel/models/plain"):
        shutil.copytree(layer, where, dirs_exist_ok=True)
    return where


def trained(folder: Path, steps: int, *more: str) -> dict[str, Any]:
    """What the script measured."""
    run = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), "--steps", str(steps), *more],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_the_loss_starts_at_log_v_and_falls(folder: Path) -> None:
    found = trained(folder, 16, "--size", "4")
    assert found["parameters"] == 103_680
    assert found["losses"][0] == pytest.approx(found["log_vocabulary"], abs=0.03)
    assert sum(found["losses"][-4:]) / 4 < found["losses"][0] - 0.1


@pytest.mark.slow
def test_the_default_model_learns_the_sonnets(folder: Path) -> None:
    found = trained(folder, 300)
    losses = found["losses"]
    assert losses[0] == pytest.approx(found["log_vocabulary"], abs=0.03)
    means = [sum(losses[end - 20 : end]) / 20 for end in (100, 200, 300)]
    assert means == pytest.approx([2.07, 1.64, 1.39], abs=0.15)
