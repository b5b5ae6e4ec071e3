"""The practice copy: the learner's own files with one bug, and nothing that tells where."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

from workbench import (
    BROKEN,
    HEAD,
    HEALTHY,
    LOUD,
    answer,
    contents,
    environment,
    mend,
    session,
)  # fmt: skip

from engine.commands import break_
from engine.learner.history import write_practice
from engine.learner.snapshots import History


def git(home: Path, *words: str) -> str:
    """What git answers in the practice copy."""
    return subprocess.run(
        ["git", *words], cwd=home / "practice" / LOUD, check=True, capture_output=True, text=True,
        env=environment(),
    ).stdout  # fmt: skip


def copied(home: Path) -> dict[str, bytes]:
    """The files of the practice copy."""
    found = contents(home / "practice" / LOUD)
    return {k: v for k, v in found.items() if isinstance(v, bytes) and not k.startswith(".git/")}


def test_the_copy_has_the_paths_of_the_model(opened: Path) -> None:
    """Every file of the model is there at its own place, and nothing else."""
    assert copied(opened).keys() == session(opened).model_files().keys()


def test_one_line_differs_and_it_looks_like_code(opened: Path) -> None:
    """The copy is the learner's text but for the bug; no comment and no blank line was added."""
    own, copy = session(opened).model_files(), copied(opened)
    changed = [path for path in own if own[path] != copy[path]]
    assert changed == [HEAD]
    lines = difflib.ndiff(own[HEAD].decode().splitlines(), copy[HEAD].decode().splitlines())
    changes = [line for line in lines if line[0] in "+-"]
    assert changes == [f"-         {HEALTHY}", f"+         {BROKEN}"]


def test_the_repository_holds_one_commit_of_everything(opened: Path) -> None:
    """One commit, one branch, a clean status, and a history that shows every file alike."""
    assert git(opened, "rev-list", "--all", "--count") == "1\n"
    assert git(opened, "status", "--porcelain", "--ignored") == ""
    assert git(opened, "stash", "list") == ""
    added = git(opened, "log", "-p", "--name-status", "--format=").split()
    assert set(added[0::2]) == {"A"} and set(added[1::2]) == copied(opened).keys()


def test_the_commit_says_nothing_of_the_bug(opened: Path) -> None:
    """Message, author and notes of the commit name neither file, symbol nor exercise."""
    told = git(opened, "log", "--format=%B%an%ae%cn%ce%N").lower()
    for word in ("lm_head", "lmhead", "vocab", "256", "inject", "bug", "break", LOUD):
        assert word not in told


def test_no_object_holds_the_healthy_line(opened: Path) -> None:
    """What git keeps is reachable, and the learner's own version of the file is not among it."""
    every = git(opened, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    reached = git(opened, "rev-list", "--all", "--objects", "--no-object-names").split()
    assert sorted(every) == sorted(reached)
    for name in every:
        if git(opened, "cat-file", "-t", name).strip() == "blob":
            assert HEALTHY not in git(opened, "cat-file", "blob", name)


def test_git_diff_shows_the_learners_fix_alone(opened: Path) -> None:
    """After an edit `git diff` is that edit."""
    mend(opened)
    lines = git(opened, "diff").splitlines()
    changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == [f"-        {BROKEN}", f"+        {HEALTHY}"]


def test_the_practice_folder_ignores_itself(opened: Path) -> None:
    """practice/.gitignore keeps every practice copy out of any repository around it."""
    assert (opened / "practice" / ".gitignore").read_text() == "*\n"


def test_a_gitignore_that_was_cut_off_is_made_whole(tmp_path: Path) -> None:
    """A full disk or a kill leaves an empty .gitignore; the next practice copy is hidden all the same."""
    (tmp_path / "practice").mkdir()
    (tmp_path / "practice" / ".gitignore").touch()
    write_practice(tmp_path / "practice" / "x", {"a.py": b"a = 1\n"})
    assert (tmp_path / "practice" / ".gitignore").read_text() == "*\n"


def test_only_code_is_copied(home: Path, tmp_path: Path) -> None:
    """Data, caches, environments, hidden folders and links that lead outside stay behind."""
    package = home / "src" / "minimodel"
    secret = tmp_path / "elsewhere" / "secret.py"
    secret.parent.mkdir()
    secret.write_text("SECRET = 1\n")
    (package / "outside.py").symlink_to(secret)
    (package / "outside").symlink_to(secret.parent)
    (package / "inside.py").symlink_to("tensor.py")
    (package / "dangling.py").symlink_to("nowhere.py")
    (package / "round").symlink_to(package)
    left = {
        "weights.npz": b"\0" * 100, "corpus.txt": b"text", "__pycache__/tensor.cpython-311.pyc": b"x",
        ".venv/lib/a.py": b"", ".git/config.py": b"", "tools/pyvenv.cfg": b"", "tools/b.py": b"",
        "node_modules/c.py": b"", ".ipynb_checkpoints/d.py": b"", "notes.ipynb": b"{}",
    }  # fmt: skip
    for name, data in left.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_bytes(data)
    (home / "tests").mkdir()
    (home / "tests" / "test_mine.py").write_text("import minimodel\n")
    break_.run(session(home), LOUD, answer)
    practice = home / "practice" / LOUD
    paths = {p.relative_to(practice) for p in practice.rglob("*") if ".git" not in p.parts[len(practice.parts):][:1]}  # fmt: skip
    names = {path.name for path in paths}
    assert not names & {
        "outside.py",
        "outside",
        "dangling.py",
        "round",
        "secret.py",
        "test_mine.py",
    }
    assert not names & {Path(name).name for name in left}
    assert not any(path.is_symlink() for path in practice.rglob("*"))
    assert (practice / "src/minimodel/inside.py").read_bytes() == (
        package / "tensor.py"
    ).read_bytes()
    assert b"SECRET" not in b"".join(copied(home).values())


def test_a_second_attempt_keeps_what_was_left_of_the_first(closed: Path) -> None:
    """Breaking again throws the old copy away only after it was saved to the history."""
    mine = closed / "practice" / LOUD / "my_experiment.txt"
    mine.write_text("an idea\n")
    report = break_.run(session(closed), LOUD, answer)
    assert report.attempt == 2 and not mine.exists()
    kept = subprocess.run(
        ["git", "--git-dir", closed / ".engine" / "history.git", "for-each-ref", "--format=%(objectname)"],
        capture_output=True, text=True, check=True, env=environment(),
    ).stdout.split()  # fmt: skip
    history = History(closed / ".engine")
    assert any(history.load(id).get("my_experiment.txt") == b"an idea\n" for id in kept)
