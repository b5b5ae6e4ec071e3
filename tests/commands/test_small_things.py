"""Small things that cost trust: each was met in somebody's first hour."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from workbench import HEAD, LOUD, answer, engine, engine_json, environment, kinds, session

from engine import __version__
from engine.commands import break_, init, reset
from engine.commands.session import Session
from engine.errors import LearnerCodeError, NotApplicable, UsageError
from engine.learner import learner as learners
from engine.spec.catalogue import Catalogue


def test_the_version(tmp_path: Path) -> None:
    assert engine("--version", cwd=tmp_path, code=0).stdout == f"engine {__version__}\n"


@pytest.mark.parametrize("words", [["-h"], ["break", "-h"], ["dev", "check", "-h"]], ids=" ".join)
def test_h_is_help(words: list[str], tmp_path: Path) -> None:
    assert "Usage: engine" in engine(*words, cwd=tmp_path, code=0).stdout


@pytest.mark.parametrize("words", [[], ["dev"]], ids=["engine", "dev"])
def test_no_command_is_help_and_nothing_else(words: list[str], tmp_path: Path) -> None:
    done = engine(*words, cwd=tmp_path, code=0)
    assert done.stdout.startswith("Usage: engine") and done.stderr == ""


def test_the_shell_can_be_told_to_complete(tmp_path: Path) -> None:
    done = engine(cwd=tmp_path, env={"_ENGINE_COMPLETE": "complete_bash", "COMP_WORDS": "engine sub", "COMP_CWORD": "1"})  # fmt: skip
    assert done.stdout.split() == ["submit-build", "submit-fix", "submit"]


def test_the_beginning_of_a_name_is_enough_where_one_begins_so(catalogue: Catalogue) -> None:
    assert catalogue.entry("rope-p").id == "rope-pairs-mixed"
    assert (
        catalogue.entry("tied-vocab-mismatch").id == "tied-vocab-mismatch"
    )  # another begins so, too
    with pytest.raises(UsageError, match="several") as caught:
        catalogue.entry("tied-vocab")
    assert "tied-vocab-mismatch, tied-vocab-mismatch-silenced" in caught.value.next
    for unknown in ("", "nonsense"):
        with pytest.raises(UsageError, match="no exercise"):
            catalogue.entry(unknown)


@pytest.mark.parametrize(
    "name", ["José", "李雷", "zoë_2", "d'arc", "../x", "", "-x", "a b", "नमस्ते"]
)
def test_names_are_of_letters_of_any_script(name: str, tmp_path: Path) -> None:
    if name in ("d'arc", "../x", "", "-x", "a b"):
        with pytest.raises(UsageError, match="cannot be a learner's name"):
            init.run(name, folder=tmp_path)
        return
    init.run(name, folder=tmp_path)
    assert Session.here(name, tmp_path).learner.settings.name == name
    decomposed = name.replace("é", "e\u0301")
    assert Session.here(decomposed, tmp_path).learner.home.name == name


def test_a_learner_is_found_from_the_folder_of_another(tmp_path: Path) -> None:
    for name in ("ada", "bob"):
        init.run(name, folder=tmp_path)
    inside = tmp_path / "learners" / "ada" / "src"
    assert learners.find("bob", inside).home.name == "bob"
    shutil.move(tmp_path / "learners", tmp_path / "students")
    assert learners.find("bob", tmp_path / "students" / "ada").home.name == "bob"
    with pytest.raises(UsageError) as caught:
        learners.find("eve", tmp_path / "students" / "ada")
    assert (
        str(tmp_path / "students") in caught.value.what and "ada/learners" not in caught.value.what
    )
    assert "ada, bob" in caught.value.next


def test_run_says_where_the_practice_copy_is_gone(opened: Path) -> None:
    shutil.rmtree(opened / "practice" / LOUD)
    done = engine("run", "--", "ls", cwd=opened, code=4)
    assert "The practice copy is gone" in done.stderr and "engine reset" in done.stderr


def test_notes_with_the_line_ends_of_windows_are_shown_as_they_are(opened: Path) -> None:
    file = opened / "phase-13/notes/breaks.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert "\\x0d" not in engine("notes", cwd=opened, code=0).stdout


def test_what_was_put_aside_is_taken_up_again(opened: Path) -> None:
    """Every byte, the attempt, its predictions; `git diff` is what was edited."""
    practice = opened / "practice" / LOUD
    (practice / HEAD).write_text((practice / HEAD).read_text() + "\n# mine\n")
    (practice / "remarks.txt").write_bytes(b"\xff mine\r\n")
    (practice / "src/minimodel/data.py").unlink()
    had = {p.relative_to(practice): p.read_bytes() for p in practice.rglob("*") if p.is_file() and ".git/" not in str(p)}  # fmt: skip
    reset.run(session(opened))
    assert not practice.exists()
    report = engine_json("reset", "--undo", cwd=opened)
    assert (report["exercise"], report["back"]) == (LOUD, str(practice))
    now = {p.relative_to(practice): p.read_bytes() for p in practice.rglob("*") if p.is_file() and ".git/" not in str(p)}  # fmt: skip
    assert now == had and session(opened).open_break().number == 1
    assert kinds(opened)[-1] == "resumed"
    diff = subprocess.run(["git", "diff", "--stat"], cwd=practice, check=True, capture_output=True, text=True, env=environment()).stdout  # fmt: skip
    assert "lm_head.py" in diff and "data.py" in diff


def test_there_must_be_something_to_take_up_again(opened: Path) -> None:
    """Not while one is open; not what was begun anew since."""
    with pytest.raises(NotApplicable, match="still open"):
        reset.undo(session(opened))
    reset.run(session(opened))
    with pytest.raises(NotApplicable, match="put aside"):
        reset.undo(session(opened), "rope-pairs-mixed")
    break_.run(session(opened), LOUD, answer)
    reset.run(session(opened), LOUD)
    reset.undo(session(opened))
    assert session(opened).open_break().number == 2


def test_a_git_configuration_that_cannot_be_read_is_no_bug(
    opened: Path, tmp_path: Path, answers: Path
) -> None:
    (tmp_path / ".gitconfig").write_bytes(b"rubbish \xff [\n")
    engine("observe", cwd=opened, env={"HOME": str(tmp_path)}, code=0)
    engine("reset", cwd=opened, env={"HOME": str(tmp_path)}, code=0)
    again = engine("break", LOUD, "--answers", answers, cwd=opened, env={"HOME": str(tmp_path)})
    assert again.returncode == 4 and ".gitconfig" in again.stderr
    assert "bug in the engine" not in again.stderr


def test_doctor_says_of_the_sandbox_what_is_there_though_the_model_is_gone(home: Path) -> None:
    healthy = {one["what"]: one for one in engine_json("doctor", cwd=home)["findings"]}
    shutil.rmtree(home / "src")
    found = {one["what"]: one for one in engine_json("doctor", cwd=home, code=1)["findings"]}
    assert not found["your code"]["good"]
    for name in found.keys() - {"your code"}:
        assert found[name] == healthy[name]


def test_a_line_that_cannot_be_parsed_is_quoted_from_the_practice_copy(opened: Path) -> None:
    practice = opened / "practice" / LOUD / HEAD
    lines = practice.read_text().splitlines()
    lines[9] = "mine = ("
    practice.write_text("\n".join(lines[:10]) + "\n")
    done = engine("submit-fix", cwd=opened, code=5)
    assert f"practice/{LOUD}/{HEAD}:10:" in done.stderr and "mine = (" in done.stderr


def test_a_part_that_is_half_written_does_not_stop_another(home: Path) -> None:
    (home / "src/minimodel/nn/attention.py").write_text("def half(:\n")
    assert engine_json("submit-build", "embedding", cwd=home)["passed"]
    done = engine("submit-build", "attention", cwd=home, code=5)
    assert "attention.py:1" in done.stderr
    here = session(home)
    with pytest.raises(LearnerCodeError, match="cannot parse"):
        here.model_files()


def test_a_folder_that_was_cloned_says_what_is_missing(opened: Path) -> None:
    shutil.rmtree(opened / ".engine")
    done = engine("status", cwd=opened, code=0)
    assert "no .engine" in done.stderr and "cloned" in done.stderr
    assert "no .engine" not in engine("list", cwd=opened.parent.parent.parent, code=0).stderr


def test_submit_submits_what_next_names(home: Path) -> None:
    """A build; where that is a break, nothing else is judged instead."""
    here = session(home)
    for id in ("tensor", "module", "embedding", "lm_head"):
        here.store.append(id, 1, "built", {"passed": True})
    assert engine_json("submit", cwd=home)["exercise"] == "cross_entropy"
    assert engine_json("next", cwd=home)["exercise"] == LOUD
    done = engine("submit", cwd=home, code=4)
    assert f"engine break {LOUD}" in done.stderr and kinds(home).count("built") == 5
