"""engine hint, reset, run and observe, on an open break."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workbench import (
    BROKEN,
    GRACE,
    HEAD,
    HEALTHY,
    LOUD,
    NOTES,
    ROOT,
    answer,
    contents,
    engine,
    engine_json,
    environment,
    kinds,
    mend,
    session,
)  # fmt: skip

from engine.code.symbols import symbols_of
from engine.commands import break_, hint, reset, submit_build
from engine.errors import NotApplicable
from engine.flows.hints import filled, next_one

# ---------------------------------------------------------------------------------------- hints


def test_hints_come_one_at_a_time(opened: Path) -> None:
    """Three calls, three hints; the third names the file; the fourth shows all of them again."""
    spec = session(opened).catalogue.break_(LOUD)
    for number in (1, 2, 3):
        report = engine_json("hint", cwd=opened)
        assert (report["number"], report["of"], len(report["hints"])) == (number, 3, 1)
        assert report["hints"][0][:30] == spec.hints[number - 1]["en"][:30]
    assert HEAD in report["hints"][0] and "{file}" not in report["hints"][0]
    told = engine("hint", cwd=opened, code=0).stdout
    assert told.startswith("You have seen all 3 hints; here they are again:\n")
    assert all(" ".join(text["en"].split())[:30] in " ".join(told.split()) for text in spec.hints)
    assert kinds(opened).count("hinted") == 3
    assert engine_json("status", cwd=opened)["hints_taken"] == 3


def test_hints_that_were_seen_can_be_read_again(opened: Path) -> None:
    """--again takes none; before the first there is nothing to be read."""
    with pytest.raises(NotApplicable, match="no hint"):
        hint.run(session(opened), again=True)
    for _ in range(2):
        hint.run(session(opened))
    report = hint.run(session(opened), again=True)
    assert (report.number, report.of, len(report.hints), report.again) == (2, 3, 2, True)
    assert kinds(opened).count("hinted") == 2


def test_one_hint_shows_nothing_of_the_next(opened: Path) -> None:
    """In words as well: the first hint alone, and nothing of the others."""
    spec = session(opened).catalogue.break_(LOUD)
    told = " ".join(engine("hint", cwd=opened, code=0).stdout.split())
    known = session(opened).open_break().injected
    assert filled(spec.hints[0], known, "en") in told
    assert spec.hints[1]["en"][:40] not in told and "vocab_size_out" not in told


def test_all_hints_are_for_afterwards(opened: Path, answers: Path) -> None:
    """--all is refused while the exercise is open, and shows the three once it is over."""
    done = engine("hint", "--all", cwd=opened, code=4)
    assert "only after" in done.stderr and kinds(opened).count("hinted") == 0
    mend(opened)
    engine("submit-fix", cwd=opened, code=0)
    assert len(engine_json("hint", "--all", cwd=opened)["hints"]) == 3


@pytest.mark.parametrize("id", [None, LOUD])
def test_all_hints_are_refused_while_a_later_attempt_is_open(opened: Path, id: str | None) -> None:
    """Put aside and begun again, the exercise is not over: its hints come one at a time."""
    reset.run(session(opened))
    break_.run(session(opened), LOUD, answer)
    with pytest.raises(NotApplicable):
        hint.run(session(opened), id, everything=True)


def test_a_build_has_hints_of_its_own(home: Path) -> None:
    """Named by its component, also while it was never tried; its state does not change."""
    first = engine_json("hint", "embedding", cwd=home)
    assert (first["exercise"], first["number"]) == ("embedding", 1)
    assert engine_json("hint", "embedding", cwd=home)["number"] == 2
    states = {e["id"]: e["state"] for e in engine_json("list", cwd=home)["exercises"]}
    assert states["embedding"] == "new"


def test_a_hint_helps_with_the_build_that_failed_last(home: Path) -> None:
    """Without a name the hint is for what was tried last and did not pass."""
    (home / HEAD).write_text(
        (home / HEAD).read_text().replace("logits = h @", "logits = h * 2.0 @")
    )
    engine("submit-build", "lm_head", cwd=home, code=1)
    assert engine_json("hint", cwd=home)["exercise"] == "lm_head"


def test_hints_are_counted_in_the_notes(opened: Path) -> None:
    """The finished entry says how many were taken."""
    hint.run(session(opened))
    hint.run(session(opened))
    mend(opened)
    engine("submit-fix", cwd=opened, code=0)
    assert "Hints taken: 2." in (opened / NOTES).read_text()


# ---------------------------------------------------------------------------------------- reset


def saved(home: Path) -> dict[str, bytes]:
    """The files of the practice copy, without its repository."""
    found = contents(home / "practice" / LOUD)
    return {k: v for k, v in found.items() if isinstance(v, bytes) and not k.startswith(".git/")}


def shell(line: str, cwd: Path) -> None:
    """Run a command line as somebody who pastes it does."""
    subprocess.run(["sh", "-ec", line], cwd=cwd, check=True, env=environment(), timeout=GRACE)


def odd_work(home: Path) -> dict[str, bytes]:
    """Edits of every kind in the practice copy; what is there then."""
    practice = home / "practice" / LOUD
    mend(home, "self.vocab_size_out = 0  # an idea")
    (practice / HEAD).write_bytes((practice / HEAD).read_bytes().replace(b"\n", b"\r\n"))
    (practice / "notes of mine.txt").write_bytes(b"\xff\0 bytes\r\n")
    (practice / "deep/er/data.bin").parent.mkdir(parents=True)
    (practice / "deep/er/data.bin").write_bytes(bytes(range(256)))
    (practice / ".hidden").write_text("kept too")
    (practice / "empty").touch()
    return saved(home)


def test_reset_saves_and_the_command_it_prints_restores(opened: Path, tmp_path: Path) -> None:
    """What is pasted from the output brings back every file, byte for byte."""
    had = odd_work(opened)
    done = engine("reset", cwd=opened, code=0)
    assert not (opened / "practice" / LOUD).exists()
    lines = done.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if "git" in line and "history.git" in line)
    (tmp_path / "elsewhere").mkdir()
    shell("\n".join(lines[first:]), tmp_path / "elsewhere")
    assert contents(tmp_path / "elsewhere" / "saved").items() >= had.items()
    assert LOUD in done.stdout and kinds(opened)[-1] == "reset"


def test_reset_restores_from_a_folder_with_a_difficult_name(opened: Path, tmp_path: Path) -> None:
    """Spaces and quotes in the path: the command can be pasted all the same."""
    home = tmp_path / 'my code\'s "folder" $x' / "learners" / "ada"
    home.parent.mkdir(parents=True)
    shutil.move(opened, home)
    had = saved(home)
    report = engine_json("reset", cwd=home)
    (tmp_path / "elsewhere").mkdir()
    shell(report["restore"], tmp_path / "elsewhere")
    assert contents(tmp_path / "elsewhere" / "saved").items() >= had.items()


def test_reset_leaves_the_rest_and_the_exercise_can_begin_again(
    opened: Path, answers: Path
) -> None:
    """Model and notes stay, with a line about the attempt; the next attempt is number 2."""
    own, notes = contents(opened / "src"), (opened / NOTES).read_bytes()
    report = engine_json("reset", cwd=opened)
    text = (opened / NOTES).read_bytes()
    assert contents(opened / "src") == own
    assert report["snapshot"][:12].encode() in text and len(text) > len(notes)
    states = {e["id"]: e["state"] for e in engine_json("list", cwd=opened)["exercises"]}
    assert states[LOUD] == "reset"
    assert engine_json("break", LOUD, "--answers", answers, cwd=opened)["attempt"] == 2


@pytest.mark.parametrize("id", ["tied-vocab-mismatch-silenced", "embedding"])
def test_reset_of_what_is_not_open_changes_nothing(opened: Path, id: str) -> None:
    """Another exercise's name is a mistake, not permission."""
    before = saved(opened), kinds(opened)
    assert f"{id} is not open" in engine("reset", id, cwd=opened, code=4).stderr
    assert (saved(opened), kinds(opened)) == before


# ------------------------------------------------------------------------------------------ run

TELL = """\
import json, os, sys
import minimodel.nn.lm_head as m
from minimodel.nn.embedding import Embedding
print(json.dumps({
    "file": m.__file__, "width": m.LMHead(Embedding(512, 4)).vocab_size_out,
    "cwd": os.getcwd(), "argv": sys.argv[1:],
}))
"""


def told(done: subprocess.CompletedProcess[str]) -> dict:
    """What the script printed."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def script(file: Path) -> Path:
    """A script of the learner's that says whose code it got."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TELL)
    return file


@pytest.mark.parametrize("place", ["check.py", "scripts/check.py", "src/check.py"])
@pytest.mark.parametrize("absolute", [True, False], ids=["absolute", "relative"])
def test_a_script_of_the_model_tree_gets_the_broken_code(
    opened: Path, place: str, absolute: bool
) -> None:
    """Also by absolute path, and where the script's own folder holds the package."""
    file = script(opened / place)
    word = str(file) if absolute else place
    found = told(engine("run", "--", sys.executable, word, "a", "-b", "--json", cwd=opened))
    practice = opened / "practice" / LOUD
    assert (found["file"], found["width"]) == (str(practice / HEAD), 256)
    assert (found["cwd"], found["argv"]) == (str(practice), ["a", "-b", "--json"])


def test_a_module_and_a_line_of_code_get_the_broken_code(opened: Path) -> None:
    """python -c and python -m as well."""
    found = told(engine("run", "--", sys.executable, "-c", TELL, cwd=opened))
    assert found["width"] == 256
    script(opened / "src" / "check.py")
    assert told(engine("run", "--", sys.executable, "-m", "check", cwd=opened))["width"] == 256


def test_a_script_typed_from_its_own_folder_is_found(opened: Path) -> None:
    """From any subfolder: the name that the shell completes there is the script that runs."""
    script(opened / "scripts" / "check.py")
    done = engine("run", "--", sys.executable, "check.py", cwd=opened / "scripts")
    assert told(done)["width"] == 256


TESTS = """\
import minimodel.nn.lm_head as m

def test_it_is_the_practice_copy():
    assert "practice" in m.__file__
"""
PYTEST_SETTINGS = {
    "none": "",
    "pythonpath": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
    "testpaths": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("settings", PYTEST_SETTINGS.values(), ids=PYTEST_SETTINGS.keys())
def test_the_learners_pytest_tests_the_broken_code(opened: Path, settings: str) -> None:
    """`engine run -- python -m pytest tests`, the help's own example, on tests of the model tree."""
    (opened / "tests").mkdir()
    (opened / "tests" / "test_mine.py").write_text(TESTS)
    if settings:
        (opened / "pyproject.toml").write_text(settings)
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    done = engine("run", "--", *words, cwd=opened)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("status", [0, 1, 5, 130])
def test_the_exit_status_of_the_command_passes_through(opened: Path, status: int) -> None:
    """Whatever the command ends with is what `engine run` ends with."""
    engine("run", "--", "sh", "-c", f"exit {status}", cwd=opened, code=status)


def test_a_command_that_a_signal_ended_ends_as_a_shell_says_it(opened: Path) -> None:
    """128 and the number of the signal."""
    engine("run", "--", "sh", "-c", "kill -9 $$", cwd=opened, code=137)


def test_a_command_that_does_not_exist_is_named(opened: Path) -> None:
    """Exit code 2, and the word that cannot be run."""
    assert "no-such-command" in engine("run", "--", "no-such-command", cwd=opened, code=2).stderr


def test_run_needs_an_open_break(home: Path) -> None:
    """Without one there is no practice copy: exit code 4, in words although the command has --json."""
    done = engine("run", "--", "python", "x.py", "--json", cwd=home, code=4)
    assert done.stdout == "" and "No break is open" in done.stderr


def test_run_asks_nothing_of_ones_own_model(opened: Path) -> None:
    """It runs the practice copy, whatever has become of the code that it was made of."""
    model = Path(engine_json("status", cwd=opened)["model"])
    (model / HEAD).write_text("def broken(:\n")
    engine("run", "--", sys.executable, "-c", "import minimodel", cwd=opened, code=0)


def test_run_leaves_no_bytecode_and_a_clean_status(opened: Path) -> None:
    """After running the learner's code git still sees nothing but the learner's edits."""
    words = ("run", "--", sys.executable, "-c", "import minimodel.nn.loss")
    engine(*words, cwd=opened, env={"PYTHONDONTWRITEBYTECODE": ""}, code=0)
    seen = subprocess.run(
        ["git", "status", "--porcelain"], cwd=opened / "practice" / LOUD, check=True,
        capture_output=True, text=True, env=environment(),
    ).stdout  # fmt: skip
    assert seen == ""
    assert not list((opened / "src").rglob("__pycache__"))


# -------------------------------------------------------------------------------------- observe


def test_observe_measures_what_is_there_now(opened: Path) -> None:
    """Before the edit the two versions differ; after the right one they agree; then it breaks anew."""
    first = engine_json("observe", cwd=opened)["observed"]["observations"][0]
    assert "ValueError" in first["error"] and any(row["differs"] for row in first["shapes"])
    mend(opened)
    mended = engine_json("observe", cwd=opened)["observed"]["observations"][0]
    assert mended["error"] == "" and not any(row["differs"] for row in mended["shapes"])
    practice = opened / "practice" / LOUD / HEAD
    practice.write_text(practice.read_text().replace("embedding.vocab_size", "64"))
    again = engine_json("observe", cwd=opened)["observed"]["observations"][0]
    assert "64" in json.dumps(again["shapes"])


def test_predictions_are_not_judged_by_an_edit(opened: Path) -> None:
    """As they were scored first; what is there now stands beside healthy and broken."""
    first = engine_json("observe", cwd=opened)["observed"]
    practice = opened / "practice" / LOUD / HEAD
    practice.write_text(practice.read_text().replace(BROKEN, "self.vocab_size_out = 64"))
    again = engine_json("observe", cwd=opened)["observed"]
    assert (again["scored"], again["brier"]) == (first["scored"], first["brier"])
    rows = again["observations"][0]["shapes"]
    found = [row for row in rows if len({row["healthy"], row["broken"], row["now"]}) == 3]
    assert found and "256" in found[0]["broken"] and "64" in found[0]["now"]
    told = engine("observe", cwd=opened, code=0).stdout
    assert re.search(r"healthy +broken +now\n", told)


def test_observe_shows_the_learners_frames_alone(opened: Path) -> None:
    """The traceback names the learner's files, relative, and nothing of the engine or the pack."""
    frames = engine_json("observe", cwd=opened)["observed"]["observations"][0]["traceback"]
    assert frames and all(frame.startswith("src/minimodel/") for frame in frames)


def test_observe_says_what_is_seen_and_where_to_look(opened: Path) -> None:
    """Shapes, the orientation lines and the score of the predictions, in words."""
    done = engine("observe", cwd=opened, code=0)
    for words in ("(32, 256)", "np.log(512) = 6.238", "wrong", "Brier", "ValueError"):
        assert words in done.stdout
    assert BROKEN not in done.stdout


def test_two_edits_of_the_same_length_within_a_second_are_told_apart(opened: Path) -> None:
    """No stale bytecode: 256 and 255 are as different as they are."""
    file = opened / "practice" / LOUD / HEAD
    first = engine_json("observe", cwd=opened)["observed"]["observations"][0]
    file.write_text(file.read_text().replace("= 256", "= 128"))
    second = engine_json("observe", cwd=opened)["observed"]["observations"][0]
    assert "256" in first["error"] and "128" in second["error"]


def test_a_hint_names_the_function_though_an_import_changed_first() -> None:
    """What stands in no function has no name: the first changed line that has one counts."""
    old = b"import math\n\n\ndef scaled(x):\n    return x / math.sqrt(2)\n"
    module = ast.parse(old)
    assert symbols_of(module, old, b"\ndef scaled(x):\n    return x\n") == ["scaled"]
    assert symbols_of(module, old, old.replace(b"math\n", b"cmath\n")) == []


def test_a_hint_of_a_build_is_about_the_check_that_failed() -> None:
    """Those that fit come first, then the others in their order; none comes twice."""
    assert next_one(3, [], [2, 3]) == 2
    assert next_one(3, [2], [2, 3]) == 3
    assert next_one(3, [2, 3], [2, 3]) == 1
    assert next_one(3, [1], []) == 2
    assert next_one(3, [3, 1, 2], [2]) is None


def test_hint_follows_the_check_that_failed_first(home: Path) -> None:
    """And comes back to the others when those are through."""
    file = home / "src/minimodel/nn/embedding.py"
    build = session(home).catalogue.build("embedding")
    text = file.read_text()
    assert "0.02, (" in text
    file.write_text(text.replace("0.02, (", "1.0, ("))
    assert not submit_build.run(session(home), "embedding").passed
    failed = session(home).latest("embedding").last("built")["failing"][0]["check"]
    first = build.hints_for[failed][0]
    assert first > 1  # so another one would come without the check
    assert hint.run(session(home), "embedding").hints == (build.hints[first - 1]["en"],)


def test_what_is_not_written_yet_is_told_as_that_before_a_hint(home: Path) -> None:
    """Which check failed first says nothing then, so hints come in their order."""
    healthy = (home / HEAD).read_text()
    (home / HEAD).write_text((ROOT / "templates" / "minimodel" / HEAD).read_text())
    assert not submit_build.run(session(home), "lm_head").passed
    failed = session(home).latest("lm_head").last("built")["failing"][0]["check"]
    build = session(home).catalogue.build("lm_head")
    assert build.hints_for[failed][0] > 1
    told = engine("hint", cwd=home, code=0).stdout
    assert "not written yet; `engine show lm_head`" in told and build.hints[0]["en"] in told
    (home / HEAD).write_text(healthy.replace(HEALTHY, BROKEN))
    assert not submit_build.run(session(home), "lm_head").passed
    assert not hint.run(session(home), "lm_head").unwritten


def test_a_hint_without_a_function_names_the_module() -> None:
    """And not the word that stands for it in the exercise."""
    known = {"file": "src/minimodel/nn/loss.py", "symbol": ""}
    assert (
        filled({"en": "in {file}, in {symbol}"}, known, "en")
        == "in src/minimodel/nn/loss.py, in loss"
    )
