"""`engine run`: a learner's own command sees the practice copy first, and the model behind it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lab import write

from engine.errors import UsageError
from engine.run.command import run

SHOW = "import mine, other\nopen('seen', 'w').write(mine.x + other.x)\n"
ROOTS = ("src", "")
CHECK = "import mine\ndef test_it():\n    assert mine.x == 'practice '\n"


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Where the command is typed, a practice copy with one module, and a model with two."""
    here = write(tmp_path / "here", {"mine.py": "x = 'here '\n", "local.py": SHOW})
    practice = write(tmp_path / "a practice copy", {"src/mine.py": "x = 'practice '\n"})
    model = write(
        tmp_path / "a model",
        {
            "src/mine.py": "x = 'model '\n",
            "src/other.py": "x = 'model'\n",
            "tests/show.py": SHOW,
            "tests/test_mine.py": CHECK,
            "show.py": SHOW,
            "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n",
        },
    )
    return here, practice, model


@pytest.mark.parametrize("script", ["tests/show.py", "show.py", "local.py"])
def test_a_script_of_the_model_or_from_here_runs_in_the_practice_copy(
    places: tuple[Path, Path, Path], script: str
) -> None:
    """The broken module is imported, and what was not copied comes from the model."""
    here, practice, model = places
    assert run([sys.executable, script], *places, ROOTS) == 0
    assert (practice / "seen").read_text() == "practice model"
    assert not (model / "seen").exists() and not (here / "seen").exists()


@pytest.mark.parametrize("options", [["-u"], ["-B", "-O"], ["-X", "utf8"], ["-W", "ignore"]])
def test_a_script_is_found_behind_options(
    places: tuple[Path, Path, Path], options: list[str]
) -> None:
    """With a value of their own, or without."""
    assert run([sys.executable, *options, "tests/show.py"], *places, ROOTS) == 0
    assert (places[1] / "seen").read_text() == "practice model"


@pytest.mark.sweep(1)
@pytest.mark.parametrize("words", [["tests"], ["-q", "tests"], ["-x", "-q", "tests/test_mine.py"]])
def test_the_models_own_tests_run_on_the_practice_copy(
    places: tuple[Path, Path, Path], words: list[str]
) -> None:
    """Whatever import path their settings name."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    assert run(command, *places, ROOTS) == 0
    (places[1] / "src/mine.py").write_text("x = 'broken '\n")
    assert run(command, *places, ROOTS) == 1


def test_the_exit_status_is_the_commands_own(places: tuple[Path, Path, Path]) -> None:
    """Whatever it is; the end by a signal is told as a shell tells it."""
    assert run([sys.executable, "-c", "raise SystemExit(7)"], *places, ROOTS) == 7
    killed = "import os; os.kill(os.getpid(), 9)"
    assert run([sys.executable, "-c", killed], *places, ROOTS) == 137


def test_no_bytecode_is_left_in_either_tree(places: tuple[Path, Path, Path]) -> None:
    """The model is never written to, by no cache either."""
    run([sys.executable, "-c", "import mine, other"], *places, ROOTS)
    assert [path for place in places for path in place.rglob("*.pyc")] == []


def test_the_learners_own_import_path_is_kept_behind(
    places: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PYTHONPATH goes on working for what neither tree has."""
    write(tmp_path / "more", {"mine.py": "x = 'wrong'\n", "third.py": "x = 'third'\n"})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "more"))
    code = "import mine, third; assert (mine.x, third.x) == ('practice ', 'third')"
    assert run([sys.executable, "-c", code], *places, ROOTS) == 0


def test_a_command_that_is_not_there_is_a_usage_error(places: tuple[Path, Path, Path]) -> None:
    """With its name."""
    with pytest.raises(UsageError, match="no-such-command-here"):
        run(["no-such-command-here"], *places, ROOTS)


def test_no_command_is_a_usage_error(places: tuple[Path, Path, Path]) -> None:
    """With an example of one."""
    with pytest.raises(UsageError) as caught:
        run([], *places, ROOTS)
    assert "engine run --" in caught.value.next
