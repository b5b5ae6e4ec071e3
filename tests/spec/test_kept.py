"""A spec that was read is kept by its bytes, and read anew where that does not fit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.errors import SpecError
from engine.spec import kept
from engine.spec.catalogue import Catalogue
from engine.spec.load import load
from engine.spec.types import Build, Pack

FOLDER = Catalogue.find("minimodel").folder
BUILD = FOLDER / "13-embeddings" / "embedding" / "build.yaml"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "breakfix-engine" / "specs"


@pytest.mark.parametrize(("file", "kind"), [(BUILD, Build), (FOLDER / "pack.yaml", Pack)])
def test_what_is_kept_is_what_was_read(cache: Path, file: Path, kind: type[Build]) -> None:
    """Figures filled in, numbers of hints as numbers."""
    read = load(file, kind)
    assert kept.read(file.read_bytes(), kind) == read == load(file, kind)
    assert len([*cache.iterdir()]) == 1


def test_other_bytes_another_kind_and_a_broken_file_are_read_anew(
    cache: Path, tmp_path: Path
) -> None:
    """And an error is told each time, with its place."""
    wanted = load(BUILD, Build)
    assert kept.read(BUILD.read_bytes(), Pack) is None
    for file in cache.iterdir():
        file.write_bytes(b"half")
    assert load(BUILD, Build) == wanted
    other = tmp_path / "build.yaml"
    other.write_text(BUILD.read_text().replace("difficulty:", "dificulty:"))
    for _ in range(2):
        with pytest.raises(SpecError, match="difficulty"):
            load(other, Build)


def test_nothing_is_lost_where_nothing_can_be_written(cache: Path) -> None:
    """A file lies where the folder would be; and it may be deleted at any time."""
    wanted = load(BUILD, Build)
    shutil.rmtree(cache)
    assert load(BUILD, Build) == wanted
    shutil.rmtree(cache)
    cache.write_text("")
    assert load(BUILD, Build) == wanted


def test_it_does_not_grow_for_ever(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written first goes first."""
    monkeypatch.setattr(kept, "KEPT", 2)
    spec = load(BUILD, Build)
    for number in range(5):
        kept.keep(str(number).encode(), spec)
    assert len([*cache.iterdir()]) == 2
    assert kept.read(b"4", Build) == spec
