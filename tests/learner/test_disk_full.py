"""A full disk ends in one clear message, exit code 4, and nothing half written."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from workbench import (
    GRACE,
    HEAD,
    LOUD,
    NOTES,
    command,
    contents,
    engine,
    environment,
    kinds,
    listing,
    mend,
    session,
    small_disk,
)  # fmt: skip

PAGE = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    with small_disk(tmp_path / "disk", "2m") as folder:
        yield folder


def fill(disk: Path, free: int) -> Path:
    """A file that leaves `free` bytes of the disk."""
    filler = disk / "filler"
    size = shutil.disk_usage(disk).free - free
    filler.write_bytes(b"\0" * size)
    assert shutil.disk_usage(disk).free == free
    return filler


def refused(done: subprocess.CompletedProcess[str]) -> None:
    """The command ended in exit code 4 and words that a person understands."""
    assert done.returncode == 4, done.stderr
    assert done.stdout == ""
    assert "full" in done.stderr or "room" in done.stderr, done.stderr
    for noise in ("Errno", "[(", "Cmd(", "Is git installed", "Traceback"):
        assert noise not in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) <= 4


def test_init_on_a_full_disk_leaves_no_learner(tmp_path: Path) -> None:
    """A template that does not fit is taken back; with more room the same command works."""
    with small_disk(tmp_path / "disk", "64k") as disk:
        done = engine("init", "ada", cwd=disk)
        assert not list(disk.rglob("ada")) and not list(disk.rglob("*.yaml"))
        assert not list(disk.glob("learners/*"))
        subprocess.run(["mount", "-o", "remount,size=2m", disk], check=True)
        engine("init", "ada", cwd=disk, code=0)
        refused(done)


@pytest.mark.parametrize("free", [0, 1, 2])
def test_init_around_own_code_on_a_full_disk_leaves_no_learner(
    home: Path, disk: Path, free: int
) -> None:
    """With a few pages left, or none, either the whole learner is there or nothing."""
    filler = fill(disk, free * PAGE)
    done = engine("init", "bob", "--model", home, cwd=disk)
    assert not list(disk.glob("learners/*"))
    filler.unlink()
    engine("init", "bob", "--model", home, cwd=disk, code=0)
    refused(done)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("free", [0, 2, 12, 36, 60, 66, 92])
def test_break_on_a_full_disk_opens_nothing(
    home: Path, disk: Path, answers: Path, free: int
) -> None:
    """Model and notes stay, no copy counts as open without its files, and with room it works."""
    there = disk / "ada"
    shutil.copytree(home, there)
    model, own = listing(there / "src"), (there / NOTES).read_bytes()
    filler = fill(disk, free * PAGE)
    done = engine("break", LOUD, "--answers", answers, cwd=there)
    assert listing(there / "src") == model
    assert (there / NOTES).read_bytes().startswith(own)
    filler.unlink()
    if "injected" in kinds(there):
        assert (there / "practice" / LOUD / HEAD).is_file()
    assert not list(there.glob("practice/.making*"))
    if "injected" not in kinds(there):
        engine("break", LOUD, "--answers", answers, cwd=there, code=0)
    assert (there / "practice" / ".gitignore").read_text() == "*\n"
    assert (there / NOTES).read_text().count("### Predictions") == 1
    mend(there)
    engine("submit-fix", "--answers", answers, cwd=there, code=0)
    refused(done)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("free", [0, 2])
def test_submit_fix_on_a_full_disk_keeps_the_exercise_open(
    opened: Path, disk: Path, answers: Path, free: int
) -> None:
    """The fix, the notes and the state stay; with room the same command closes it."""
    there = disk / "ada"
    shutil.copytree(opened, there)
    mend(there)
    practice, own = contents(there / "practice"), (there / NOTES).read_bytes()
    filler = fill(disk, free * PAGE)
    done = engine("submit-fix", "--answers", answers, cwd=there)
    assert contents(there / "practice") == practice
    assert (there / NOTES).read_bytes() == own
    assert not list((there / NOTES).parent.glob(".*"))
    filler.unlink()
    assert session(there).open_break().exercise == LOUD
    engine("submit-fix", "--answers", answers, cwd=there, code=0)
    refused(done)


@pytest.mark.parametrize("command_line", ["hint", "reset"])
def test_small_commands_on_a_full_disk_are_clear(
    opened: Path, disk: Path, command_line: str
) -> None:
    """Where not even the lock can be written, the message is about the disk."""
    there = disk / "ada"
    shutil.copytree(opened, there)
    filler = fill(disk, 0)
    done = engine(command_line, cwd=there)
    filler.unlink()
    assert session(there).open_break().exercise == LOUD
    assert (there / "practice" / LOUD / HEAD).is_file()
    engine(command_line, cwd=there, code=0)
    refused(done)


def test_reading_works_on_a_full_disk(opened: Path, disk: Path) -> None:
    """list, show, status, next and notes need no room."""
    there = disk / "ada"
    shutil.copytree(opened, there)
    fill(disk, 0)
    for words in (["list"], ["show", LOUD], ["status"], ["next"], ["notes"]):
        engine(*words, cwd=there, code=0)


@pytest.mark.parametrize("limit", [0, 3000])
def test_a_limit_on_the_size_of_files_is_named(home: Path, answers: Path, limit: int) -> None:
    """Under `ulimit -f` a break ends in words and exit code 4, and opens nothing."""
    done = subprocess.run(
        command("break", LOUD, "--answers", answers), cwd=home, env=environment(),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert "engine: " in done.stderr and "bug" not in done.stderr
    engine("break", LOUD, "--answers", answers, cwd=home, code=0)
    assert kinds(home) == ["predicted", "injected", "observed"]
