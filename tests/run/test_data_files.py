"""Data beside a learner's code: readable where it lies and from the working folder; code is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.author.reach import tree_at
from engine.flows.build import grade_build
from engine.flows.measuring import servers_for
from engine.learner import data
from engine.learner.history import write_practice

EMBEDDING = "src/minimodel/nn/embedding.py"
CORPUS = Path(__file__).resolve().parents[1] / "corpus"
BY_FILE = (
    "import pathlib\nassert (pathlib.Path(__file__).parent / 'init.txt').read_text() == 'seven'\n"
)
BY_FOLDER = "assert open('data/init.txt').read() == 'seven'\n"
CODE = f"open({str(CORPUS / 'einsum' / 'src' / 'minimodel' / 'tensor.py')!r})\n"


def judged(catalogue, root: Path, line: str):
    """The verdict on the embedding of a copy whose file begins with this line."""
    path = root / EMBEDDING
    path.write_text(path.read_text().replace("import numpy", line + "import numpy", 1))
    with servers_for(catalogue, None, [root]) as servers:
        servers.readable = data.data_files(root)
        return grade_build(servers, catalogue, "embedding", tree_at(catalogue, root), 5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of a package with data in two places."""
    copied = tmp_path / "model"
    shutil.copytree(CORPUS / "einsum", copied)
    for place in (copied / "data", (copied / EMBEDDING).parent):
        place.mkdir(exist_ok=True)
        (place / "init.txt").write_text("seven")
    return copied


@pytest.mark.parametrize("line", [BY_FILE, BY_FOLDER, "open('cache.bin', 'w').write('x')\n"])
def test_data_is_read_and_the_working_folder_is_written(catalogue, root: Path, line: str) -> None:
    """By its own file's place, or as from the project's folder; a cache goes where the code runs."""
    verdict = judged(catalogue, root, line)
    assert verdict.passed, verdict.failing


def test_code_that_lies_elsewhere_stays_closed(catalogue, root: Path) -> None:
    """What is refused is named as the check's rule."""
    verdict = judged(catalogue, root, CODE)
    assert not verdict.passed and "PermissionError" in verdict.failing.difference.got


def test_data_is_neither_code_nor_the_engines_own(root: Path) -> None:
    """Hidden folders, environments and notes are left out."""
    for name in (".git/config", "phase-13/notes/breaks.md", "practice/x/a.txt", "learner.yaml", "env/pyvenv.cfg",
                 "env/big.bin", "notes.txt"):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    names = {path.relative_to(root).as_posix() for path in data.data_files(root)}
    assert names == {"data/init.txt", "src/minimodel/nn/init.txt", "notes.txt"}


def test_a_practice_copy_has_the_data_and_what_is_too_large_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to a limit; nothing of the healthy code comes along."""
    (root / "large.bin").write_bytes(b"x" * 1000)
    (root / "notes.txt").write_text("x")
    monkeypatch.setattr(data, "MOST_BYTES", 500)
    copied = tmp_path / "practice" / "some"
    code = b"open('large.bin'); open('data/' + name)\n"
    assert write_practice(copied, {"a.py": code}, root) == ["large.bin"]
    assert (copied / "data" / "init.txt").read_text() == "seven"
    assert not (copied / "notes.txt").exists()  # which the code does not name
    assert [path.name for path in copied.rglob("*.py")] == ["a.py"]
