"""Snapshots are byte-exact, and no setting of the user's git gets between."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workbench import (
    ANSWERS,
    BROKEN,
    HEAD,
    HEALTHY,
    LOSS,
    LOUD,
    NOTES,
    ROOT,
    contents,
    engine,
    environment,
    lay_model,
    listing,
)  # fmt: skip

from engine.errors import StorageError
from engine.learner.history import read_all, throw_away, write_practice
from engine.learner.snapshots import History

SEGMENT = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cc"]),
    min_size=1, max_size=8,
).filter(lambda s: s not in (".", "..", ".git") and len(s.encode()) < 200)  # fmt: skip


def _fits(files: dict[str, bytes]) -> bool:
    """No path is both a file and a folder."""
    return not any(a != b and b.startswith(a + "/") for a in files for b in files)


FILES = st.dictionaries(
    st.lists(SEGMENT, min_size=1, max_size=5).map("/".join),
    st.binary(max_size=60) | st.sampled_from([b"", b"a\r\nb\r\n", b"\xff\xfe\0", b"no newline"]),
    max_size=6,
).filter(_fits)


@settings(
    database=None, deadline=None, max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(files=FILES)
def test_a_snapshot_comes_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    """Any bytes below any path: what is loaded is what was saved."""
    history = History(tmp_path_factory.getbasetemp() / "one-history")
    assert history.load(history.save(files)) == files


def test_names_that_sort_oddly_are_kept(tmp_path: Path) -> None:
    """Git sorts a folder as if its name ended in a slash; git itself finds no fault in the tree."""
    files = {"a": b"1", "a.py": b"2", "a-b/x": b"3", "aa/b/c/d/e/f/g.py": b"4", "b/é.py": b"5"}
    files["".join(chr(0x1F40D) for _ in range(3)) + "\uffee.py"] = b"6"
    history = History(tmp_path)
    snapshot = history.save(files)
    assert history.load(snapshot) == files
    checked = subprocess.run(
        ["git", "--git-dir", tmp_path / "history.git", "fsck", "--strict", snapshot],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr


def test_names_that_are_no_utf_8_are_kept(tmp_path: Path) -> None:
    """A name from another age, as the file system gives it, comes back as it was."""
    files = {os.fsdecode(b"pkg/se\xf1al.py"): b"x = 1\n"}
    history = History(tmp_path)
    assert history.load(history.save(files)) == files


def test_a_large_file_is_kept(tmp_path: Path) -> None:
    """A megabyte that does not compress comes back."""
    data = os.urandom(1 << 20)
    history = History(tmp_path)
    assert history.load(history.save({"big.py": data})) == {"big.py": data}


def test_snapshots_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Older snapshots stay readable, also after git has cleaned up."""
    history = History(tmp_path)
    first = history.save({"a.py": b"1"})
    second = history.save({"a.py": b"2"})
    assert first != second
    subprocess.run(
        ["git", "--git-dir", tmp_path / "history.git", "gc", "-q", "--prune=now"],
        check=True, env=environment(),
    )  # fmt: skip
    assert history.load(first) == {"a.py": b"1"}
    assert History(tmp_path).load(second) == {"a.py": b"2"}


@pytest.mark.parametrize("snapshot", ["0" * 40, "not a snapshot", ""])
def test_a_snapshot_that_is_gone_is_an_error_with_a_way_on(tmp_path: Path, snapshot: str) -> None:
    """An id that the history does not know ends in words, not in a crash."""
    history = History(tmp_path)
    history.save({"a.py": b"1"})
    with pytest.raises(StorageError, match="cannot be read back") as caught:
        history.load(snapshot)
    assert "engine reset" in caught.value.next


def victim(folder: Path) -> Path:
    """Somebody's repository, with one commit."""
    folder.mkdir()
    (folder / "theirs.txt").write_text("theirs\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "theirs"]):
        subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@x", *words],
            cwd=folder, check=True, env=environment(),
        )  # fmt: skip
    return folder


def test_git_variables_of_the_caller_mislead_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run from inside somebody's git hook, the engine writes to its own repositories alone."""
    theirs = victim(tmp_path / "theirs")
    variables = {
        "GIT_DIR": str(theirs / ".git"),
        "GIT_WORK_TREE": str(theirs),
        "GIT_INDEX_FILE": str(theirs / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(theirs / ".git" / "objects"),
        "GIT_COMMON_DIR": str(theirs / ".git"),
        "GIT_NAMESPACE": "theirs",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_AUTHOR_DATE": "no date",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.autocrlf",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_TEMPLATE_DIR": str(theirs),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    before = listing(theirs)
    files = {"src/a.py": b"a = 1\r\n", "src/b.py": b"b = 2\n"}
    history = History(tmp_path / "private")
    snapshot = history.save(files)
    write_practice(tmp_path / "practice" / "x", files)
    assert history.load(snapshot) == files
    assert listing(theirs) == before
    assert {name: os.environ[name] for name in variables} == variables
    for name in variables:
        monkeypatch.delenv(name)
    practice = tmp_path / "practice" / "x"
    assert read_all(practice) == files
    assert git(practice, "status", "--porcelain") == ""
    assert git(practice, "rev-list", "--all", "--count") == "1\n"


def git(folder: Path, *words: str, **extra: str) -> str:
    """What git answers in a folder."""
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True,
        env=environment(extra),
    ).stdout  # fmt: skip


def hostile_home(folder: Path) -> dict[str, str]:
    """A home whose git settings run programs, rewrite line ends and sign commits."""
    folder.mkdir()
    hooks = folder / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-commit", "commit-msg", "post-checkout", "post-index-change",
                 "fsmonitor-watchman", "reference-transaction", "prepare-commit-msg"):  # fmt: skip
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {folder}/ran\n")
        (hooks / name).chmod(0o755)
    template = folder / "template"
    shutil.copytree(hooks, template / "hooks")
    (template / "from-template").write_text("x")
    (folder / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n\teol = crlf\n"
        f"\tfsmonitor = {hooks}/fsmonitor-watchman\n\tfileMode = false\n"
        f"[init]\n\ttemplateDir = {template}\n\tdefaultBranch = odd/name\n"
        "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /bin/false\n"
        "[user]\n\tuseConfigOnly = true\n"
    )
    return {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "xdg")}


def test_a_break_runs_nothing_of_the_users_git_settings(home: Path, tmp_path: Path) -> None:
    """Hooks, templates, fsmonitor, signing and autocrlf of ~/.gitconfig have no say in the copy."""
    file = home / HEAD
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    env = hostile_home(tmp_path / "user")
    answers = tmp_path / "answers.yaml"
    answers.write_text(ANSWERS)
    engine("break", LOUD, "--answers", answers, cwd=home, env=env, code=0)
    practice = home / "practice" / LOUD
    assert not (tmp_path / "user" / "ran").exists()
    assert not list(home.rglob("from-template"))
    assert (practice / HEAD).read_bytes() == file.read_bytes().replace(
        HEALTHY.encode(), BROKEN.encode()
    )
    assert git(practice, "status", "--porcelain", **env) == ""
    assert git(practice, "log", "--format=%s", **env) == "practice\n"
    assert not (practice / ".git" / "hooks").exists()
    loss = (practice / LOSS).read_bytes()
    (practice / LOSS).write_bytes(b"# thrown away\n" + loss)
    git(practice, "checkout", "-q", "--", LOSS, **env)  # and no line end is rewritten
    assert (practice / LOSS).read_bytes() == loss
    assert not (tmp_path / "user" / "ran").exists()
    mended = (practice / HEAD).read_bytes().replace(BROKEN.encode(), HEALTHY.encode())
    (practice / HEAD).write_bytes(mended)
    shown = git(practice, "diff", "--stat", **env)
    assert "1 file changed, 1 insertion(+), 1 deletion(-)" in shown
    engine("submit-fix", "--answers", answers, cwd=home, env=env, code=0)
    assert not (tmp_path / "user" / "ran").exists()


def loop(home: Path, answers: Path) -> None:
    """Everything a learner does with one break, wrong turns included."""
    practice = home / "practice" / LOUD / HEAD
    engine("break", LOUD, "--answers", answers, cwd=home, code=0)
    engine("observe", cwd=home, code=0)
    engine("hint", cwd=home, code=0)
    engine("submit-fix", cwd=home, code=1)
    engine("run", "--", "true", cwd=home, code=0)
    engine("reset", cwd=home, code=0)
    engine("break", LOUD, "--answers", answers, cwd=home, code=0)
    practice.write_text(practice.read_text().replace(BROKEN, HEALTHY))
    engine("submit-fix", "--answers", answers, cwd=home, code=0)
    engine("submit-build", "lm_head", cwd=home, code=0)
    engine("doctor", cwd=home)


def test_a_model_in_a_repository_of_its_own_is_never_touched(tmp_path: Path, answers: Path) -> None:
    """A whole loop leaves the model's tree and its .git as they were: bytes, modes and times."""
    code = tmp_path / "code"
    shutil.copytree(ROOT / "templates" / "minimodel" / "src", code / "src")
    lay_model(code)
    (code / "notes.txt").write_text("mine\n")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@x",
                  "commit", "-qm", "mine"]):  # fmt: skip
        git(code, *words)
    for name in ("post-commit", "pre-commit", "post-index-change"):
        (code / ".git" / "hooks" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
        (code / ".git" / "hooks" / name).chmod(0o755)
    (code / "src" / "minimodel" / "not-added.py").write_text("# not in git\n")
    before = listing(code)
    engine("init", "ada", "--model", code, cwd=tmp_path, code=0)
    assert listing(code) == before
    loop(tmp_path / "learners" / "ada", answers)
    assert listing(code) == before
    assert not (tmp_path / "hook-ran").exists()


def test_a_learner_inside_a_repository_adds_nothing_private_to_it(
    home: Path, tmp_path: Path, answers: Path
) -> None:
    """The repository around a learner sees notes and code, and neither practice nor history."""
    git(tmp_path, "init", "-q")
    before = listing(tmp_path / ".git")
    engine("break", LOUD, "--answers", answers, cwd=home, code=0)
    assert listing(tmp_path / ".git") == before
    seen = git(tmp_path, "status", "--porcelain", "-uall")
    assert f"learners/ada/{NOTES}" in seen and "learners/ada/src/" in seen
    assert "practice" not in seen and ".engine" not in seen
    git(tmp_path, "add", "-A")
    assert "practice" not in git(tmp_path, "ls-files")


def test_a_practice_copy_is_all_there_or_not_at_all(tmp_path: Path) -> None:
    """A file that cannot be written leaves no folder that looks like a practice copy."""
    with pytest.raises(StorageError):
        write_practice(tmp_path / "practice" / "x", {"a.py": b"", "a.py/b.py": b""})
    assert contents(tmp_path / "practice") == {".gitignore": b"*\n"}


@pytest.mark.parametrize("path", ["../outside.py", "/outside.py", "a/../../outside.py"])
def test_no_path_leads_out_of_the_practice_copy(tmp_path: Path, path: str) -> None:
    """A path that would leave the folder is refused, and nothing is written."""
    with pytest.raises(StorageError, match="outside"):
        write_practice(tmp_path / "practice" / "x", {path: b"x"})
    assert contents(tmp_path) == {"practice": "/", "practice/.gitignore": b"*\n"}


def test_a_copy_that_was_thrown_away_leaves_nothing(tmp_path: Path) -> None:
    """Folder, repository and read-only files go; the .gitignore beside them stays."""
    folder = tmp_path / "practice" / "x"
    write_practice(folder, {"a.py": b"x"})
    (folder / "kept.csv").write_text("data")
    (folder / "kept.csv").chmod(0o444)
    throw_away(folder)
    throw_away(folder)
    assert contents(tmp_path / "practice") == {".gitignore": b"*\n"}
