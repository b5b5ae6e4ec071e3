"""`engine run`: a learner's own command sees the practice copy first, and the model behind it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lab import write

from engine.errors import UsageError
from engine.run.command import run

SHOW = "import mine, other\nopen('seen', 'w').write(mine.x + other.x)\n"


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A practice copy with one module, and a model with two."""
    practice = write(tmp_path / "practice", {"src/mine.py": "x = 'practice '\n"})
    model = write(
        tmp_path / "model",
        {
            "src/mine.py": "x = 'model '\n",
            "src/other.py": "x = 'model'\n",
            "tests/show.py": SHOW,
            "show.py": SHOW,
        },
    )
    return practice, model


@pytest.mark.parametrize("script", ["tests/show.py", "show.py"])
def test_a_script_of_the_model_runs_in_the_practice_copy(
    places: tuple[Path, Path], script: str
) -> None:
    """The broken module is imported, and what was not copied comes from the model."""
    practice, model = places
    assert run([sys.executable, script], practice, model, ("src", "")) == 0
    assert (practice / "seen").read_text() == "practice model"
    assert not (model / "seen").exists()


def test_the_exit_status_is_the_commands_own(places: tuple[Path, Path]) -> None:
    """Whatever it is."""
    assert run([sys.executable, "-c", "raise SystemExit(7)"], *places, ("src",)) == 7


def test_no_bytecode_is_left_in_either_tree(places: tuple[Path, Path]) -> None:
    """The model is never written to, by no cache either."""
    run([sys.executable, "-c", "import mine, other"], *places, ("src", ""))
    assert [path for place in places for path in place.rglob("*.pyc")] == []


def test_the_learners_own_import_path_is_kept_behind(
    places: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PYTHONPATH goes on working for what neither tree has."""
    write(tmp_path / "more", {"mine.py": "x = 'wrong'\n", "third.py": "x = 'third'\n"})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "more"))
    code = "import mine, third; assert (mine.x, third.x) == ('practice ', 'third')"
    assert run([sys.executable, "-c", code], *places, ("src", "")) == 0


def test_a_command_that_is_not_there_is_a_usage_error(places: tuple[Path, Path]) -> None:
    """With its name."""
    with pytest.raises(UsageError, match="no-such-command-here"):
        run(["no-such-command-here"], *places, ("src",))


def test_no_command_is_a_usage_error(places: tuple[Path, Path]) -> None:
    """With an example of one."""
    with pytest.raises(UsageError) as caught:
        run([], *places, ("src",))
    assert "engine run --" in caught.value.next
