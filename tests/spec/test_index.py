"""What is known of a pack's YAML between commands: right whatever happens to the file that holds it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from engine.errors import SpecError
from engine.learner import learner as learners
from engine.spec import index
from engine.spec.catalogue import Catalogue

PACK = Path(__file__).resolve().parents[1] / "packs" / "exercises" / "scaling"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of this test's own, still empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return index.cache_file()


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A pack that may be changed."""
    return shutil.copytree(PACK, tmp_path / "scaling")


def titles(pack: Path) -> dict[str, str]:
    """Title by id, in the order of the course, as a fresh command sees them."""
    catalogue = Catalogue("scaling", pack)
    return {id: catalogue.summaries[id].title["en"] for id in catalogue.entries}


def never(*_: object) -> None:
    raise AssertionError("a file that is known was read as YAML")


def test_the_second_time_no_yaml_is_read(
    cache: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = titles(pack)
    monkeypatch.setattr("engine.spec.yaml.read", never)
    assert titles(pack) == first and first
    moved = shutil.copytree(pack, pack.parent / "elsewhere")  # the bytes count, not the place
    assert titles(moved) == first


def test_a_change_is_seen_even_with_the_old_size_and_time(cache: Path, pack: Path) -> None:
    before = titles(pack)
    file = next(pack.glob("*/*/build.yaml"))
    status = file.stat()
    title = before[file.parent.name]
    file.write_text(file.read_text().replace(title, title.swapcase()))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size
    assert titles(pack)[file.parent.name] == title.swapcase()


def test_the_order_of_the_course_is_seen_anew(cache: Path, pack: Path) -> None:
    ids = list(titles(pack))
    file = pack / "pack.yaml"
    text = file.read_text()
    path = text[text.index("path:") :].splitlines()[0]
    file.write_text(text.replace(path, f"path: [{', '.join(reversed(ids))}]"))
    assert list(titles(pack)) == ids[::-1]


def test_what_is_wrong_is_said_every_time(cache: Path, pack: Path) -> None:
    file = next(pack.glob("*/*/build.yaml"))
    file.write_text("nonsense: 1\n")
    for _ in range(2):
        with pytest.raises(SpecError, match="nonsense"):
            titles(pack)


@pytest.mark.parametrize("text", [
    b"", b"{", b"[]", b"\xff\xfe", b'{"version": 3}', b'{"summaries": {"x": {"title": 1}}}',
])  # fmt: skip
def test_a_damaged_file_is_as_good_as_none(cache: Path, pack: Path, text: bytes) -> None:
    wanted = titles(pack)
    cache.write_bytes(text)
    assert titles(pack) == wanted
    assert msgspec.json.decode(cache.read_bytes())["version"] == index.VERSION


def test_what_another_engine_wrote_is_not_read(cache: Path, pack: Path) -> None:
    wanted = titles(pack)
    known = msgspec.json.decode(cache.read_bytes(), type=index.Records)
    for key, summary in known.summaries.items():
        known.summaries[key] = msgspec.structs.replace(summary, title={"en": "stale"})
    cache.write_bytes(msgspec.json.encode(known))
    assert set(titles(pack).values()) == {"stale"}  # so the next line can fail
    known.version = "0.0/0"
    cache.write_bytes(msgspec.json.encode(known))
    assert titles(pack) == wanted


def test_where_nothing_can_be_written_all_is_read(cache: Path, pack: Path) -> None:
    cache.parent.parent.mkdir()
    cache.parent.write_text("a file where the folder would be")
    assert titles(pack) and titles(pack)


def test_it_may_be_deleted_at_any_time(cache: Path, pack: Path) -> None:
    wanted = titles(pack)
    shutil.rmtree(cache.parent)
    assert titles(pack) == wanted and cache.exists()
    assert {file.name for file in cache.parent.iterdir()} == {cache.name, "specs"}


def test_it_does_not_grow_for_ever(
    cache: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what nobody asks for any more, the oldest goes first."""
    monkeypatch.setattr(index, "KEPT", 5)
    file = next(pack.glob("*/*/build.yaml"))
    for number in range(9):
        file.write_text(file.read_text() + f"# {number}\n")
        titles(pack)
    known = msgspec.json.decode(cache.read_bytes(), type=index.Records)
    assert len(known.summaries) == 5


def test_a_cache_folder_that_is_no_path_from_the_root_is_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the XDG base directory specification has it."""
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert index.cache_file().is_absolute()


def test_settings_of_a_learner_are_read_anew_when_they_change(cache: Path, tmp_path: Path) -> None:
    home = tmp_path / "ada"
    home.mkdir()
    (home / learners.FILE).write_text("name: ada\n")
    assert [learners.load(home).lang for _ in range(2)] == ["en", "en"]
    (home / learners.FILE).write_text("name: ada\nlang: es\nroles: {A: b:C}\n")
    for _ in range(2):
        assert (
            learners.load(home).settings.roles == {"A": "b:C"} and learners.load(home).lang == "es"
        )
    (home / learners.FILE).write_text("name: ada\nlanguage: es\n")
    for _ in range(2):
        with pytest.raises(SpecError, match="language"):
            learners.load(home)
