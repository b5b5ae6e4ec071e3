"""What is read of code of any layout: it may lie in the learner's own folder, beside what is the engine's."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commands import init, sources
from engine.commands.session import Session
from engine.errors import LearnerCodeError
from engine.learner import learner as learners


def of(home: Path) -> Session:
    return Session(learners.load(home))


def test_notes_and_practice_copies_are_no_code(tmp_path: Path) -> None:
    """Predictions are written into notes while a break is planned: the code has not changed by that."""
    report = init.run("ada", pack="gpt", folder=tmp_path)
    session = of(Path(report.home))
    before = session.model_files()
    for ours in ("phase-15/notes/breaks.md", "blind/notes/breaks.md", "practice/one/model.py"):
        file = session.learner.home / ours
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("changed")
    assert session.model_files() == before
    assert {"model.py", "train.py", "README.md"} <= {*before}
    assert "learner.yaml" not in before


def test_folders_of_these_names_are_code_in_a_tree_of_its_own(tmp_path: Path) -> None:
    code = tmp_path / "code"
    (code / "practice").mkdir(parents=True)
    (code / "practice" / "model.py").write_text("import torch\n")
    (code / "explore.ipynb").write_text("{}")
    session = of(Path(init.run("ada", model=code, folder=tmp_path).home))
    assert session.catalogue.pack == "gpt"
    assert {*session.model_files()} == {"practice/model.py"}


def test_a_folder_without_python_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    report = init.run("ada", pack="gpt", model=tmp_path / "code", folder=tmp_path)
    session = of(Path(report.home))
    with pytest.raises(LearnerCodeError, match="no Python file"):
        sources.read(session.learner, session.catalogue)
