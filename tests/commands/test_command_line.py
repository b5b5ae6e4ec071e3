"""Help, --json and exit codes of every command, and where a command finds its learner."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import typer
from workbench import (
    ANSWERS,
    BROKEN,
    GRACE,
    HEAD,
    LOUD,
    SILENCED,
    Terminal,
    answer,
    command,
    edit,
    engine,
    engine_json,
    environment,
    kinds,
    lay_model,
    listing,
    mend,
    session,
)  # fmt: skip

from engine.cli.learner import app
from engine.commands import break_, init

COMMANDS = [
    "init", "list", "show", "status", "next", "submit-build", "break", "observe", "diagnose",
    "hint",    "submit-fix", "submit", "watch", "run", "repro", "reset", "notes", "doctor", "check", "demo",
    "dev check", "dev schema",
]  # fmt: skip


def test_this_list_of_commands_is_whole() -> None:
    """No command escapes these tests."""
    group = typer.main.get_command(app)
    names = [name for name in group.commands if name != "dev"]
    names += [f"dev {name}" for name in group.commands["dev"].commands]
    assert set(COMMANDS) <= set(names)
    assert [name for name in names if not name.startswith("dev")] == COMMANDS[:-2]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_an_example(name: str, tmp_path: Path) -> None:
    """`--help` works anywhere and shows one whole command line."""
    done = engine(*name.split(), "--help", cwd=tmp_path, code=0)
    assert re.search(rf"Example:\s+engine {name}\b", done.stdout), done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("name", [n for n in COMMANDS if n not in ("run", "watch", "dev schema")])
def test_help_names_json(name: str) -> None:
    """Every command that reports can do so as JSON."""
    here: typer.core.TyperGroup = typer.main.get_command(app)
    for word in name.split():
        here = here.commands[word]
    assert any("--json" in parameter.opts for parameter in here.params)


# --------------------------------------------------------------------------------------- JSON


def test_json_is_one_object_all_the_way(home: Path, tmp_path: Path, answers: Path) -> None:
    """Each command of a whole loop prints one JSON object on standard output and nothing else."""

    def report(*words: str | Path, code: int = 0) -> dict:
        return engine_json(*words, cwd=home, code=code)

    made = engine_json("init", "bob", cwd=tmp_path)
    assert made["home"] == str(tmp_path / "learners" / "bob")
    assert {"exercises"} == report("list").keys()
    assert report("show", LOUD)["id"] == LOUD
    assert report("submit-build", "lm_head")["passed"] is True
    assert report("submit-build", "embedding")["verdict"]["measurements"] > 0
    broken = report("break", LOUD, "--answers", answers)
    assert broken["exercise"] == LOUD and Path(broken["practice"]).is_dir()
    assert report("observe")["observed"]["scored"]
    assert report("hint")["number"] == 1
    assert "Nothing has changed" in report("submit-fix", code=1)["error"]["what"]
    edit(home / "practice" / LOUD, HEAD, BROKEN, BROKEN + "  # looked at")
    refused = report("submit-fix", code=1)
    assert refused["passed"] is False and refused["reveal"] is None
    assert report("status")["open"] == LOUD
    assert report("next")["command"] == "engine submit-fix"
    assert LOUD in report("notes")["text"]
    mend(home)
    fixed = report("submit", "--answers", answers)
    assert fixed["passed"] is True and fixed["reveal"]["cause"]["right"] is True
    assert report("hint", "--all")["of"] == 3
    assert report("doctor")["healthy"] in (True, False)


@pytest.mark.slow
def test_the_demo_says_what_this_is_and_ends_with_the_bug(tmp_path: Path) -> None:
    """Three sentences first, no check of a build on a line of its own, the bug as a diff at the end;
    without a terminal nobody is waited for.
    """
    lines = engine("demo", cwd=tmp_path, code=0).stdout.splitlines()
    assert (
        all(line.endswith(".") and len(line) > 60 for line in lines[:3])
        and "on purpose" in lines[0]
    )
    assert [line for line in lines if line.startswith("Right: embedding (")]
    assert not [line for line in lines if re.match(r"ok +\d+/\d+ ", line)]
    end = lines[-12:]
    assert any(line.startswith("  +") and "256" in line for line in end)
    assert any(line.startswith("  -") and "vocab_size" in line for line in end)


def test_the_demo_waits_for_enter_on_a_terminal(tmp_path: Path) -> None:
    """Between the steps, unless --no-pause; Ctrl-C leaves nothing."""
    with Terminal("demo", cwd=tmp_path, env={"TMPDIR": str(tmp_path)}) as terminal:
        terminal.expect("Enter goes on")
        terminal.send("")
        terminal.expect("$ engine init ada")
        terminal.expect("Enter goes on")
        terminal.press(b"\x03")
        assert terminal.end() == 130
    assert list(tmp_path.iterdir()) == []
    with Terminal("demo", "--no-pause", cwd=tmp_path) as terminal:
        terminal.expect("$ engine submit-build")


def test_demo_as_json_is_one_object(tmp_path: Path) -> None:
    """The demo's reports come as one, whatever folder it is typed in, and leave nothing there."""
    report = engine_json("demo", cwd=tmp_path)
    assert report["silenced"]["passed"] is False and report["mended"]["passed"] is True
    assert list(tmp_path.iterdir()) == [] and not Path(report["learner"]).exists()


ERRORS = [
    (["show", "tied-vocab-mismach"], 2),
    (["nosuch"], 2),
    (["show"], 2),
    (["show", LOUD, "--nosuch"], 2),
    (["status", "--learner", "nobody"], 2),
    (["init", "../evil"], 2),
    (["break", "embedding"], 2),
    (["break", LOUD], 2),
    (["break", LOUD, "--answers", "gone.yaml"], 2),
    (["submit-build", LOUD], 2),
    (["observe"], 4),
    (["hint"], 4),
    (["hint", "--all"], 4),
    (["submit-fix"], 4),
    (["reset"], 4),
]


@pytest.mark.parametrize(
    ("words", "code"), ERRORS, ids=lambda w: " ".join(w) if isinstance(w, list) else ""
)
def test_an_error_as_json_is_one_object(home: Path, words: list[str], code: int) -> None:
    """What, where, next and the exit code, on standard output; standard error stays silent."""
    done = engine(*words, "--json", cwd=home, code=code)
    error = json.loads(done.stdout)["error"]
    assert done.stderr == "" and done.stdout.count("\n") == 1
    assert error["exit_code"] == code and error["what"] and error["next"]


@pytest.mark.parametrize(
    ("words", "code"), ERRORS[::3], ids=lambda w: " ".join(w) if isinstance(w, list) else ""
)
def test_an_error_says_what_to_type_next(home: Path, words: list[str], code: int) -> None:
    """The same in words: on standard error, short, with the next step, and nothing was recorded."""
    done = engine(*words, cwd=home, code=code)
    assert done.stdout == "" and done.stderr.startswith("engine: ")
    assert 2 <= len(done.stderr.splitlines()) <= 6
    assert kinds(home) == [] and not (home / "practice").exists()


# ------------------------------------------------------------------------------------- exit codes


def test_exit_code_3_names_the_place_in_the_file(home: Path) -> None:
    """A typo in learner.yaml is shown with file, line, column and the nearest key."""
    (home / "learner.yaml").write_text("name: ada\npack: minimodel\nmodle: .\n")
    done = engine("status", cwd=home, code=3)
    assert f"{home}/learner.yaml:3:" in done.stderr and "model" in done.stderr


@pytest.mark.parametrize(
    ("line", "code"), [("pack: nopack", 2), ("model: nowhere", 2), ("roles: {Nobody: a:b}", 2)]
)
def test_settings_that_do_not_fit_are_named(home: Path, line: str, code: int) -> None:
    """A pack, a folder or a role that does not exist: what is wrong, and where to put it right."""
    (home / "learner.yaml").write_text(f"name: ada\n{line}\n")
    done = engine("submit-build", "embedding", cwd=home, code=code)
    assert line.split()[-1].strip("{}:").split(":")[0] in done.stderr or "Nobody" in done.stderr


def test_exit_code_5_for_code_that_does_not_parse(home: Path) -> None:
    """A syntax error in the model stops a break before anything is asked, with file and line."""
    (home / HEAD).write_text("class LMHead(:\n")
    done = engine("break", LOUD, cwd=home, code=5)
    assert f"{HEAD}:1:" in done.stderr and kinds(home) == []


def test_exit_code_130_for_ctrl_c(home: Path) -> None:
    """Ctrl-C at a question ends at once: nothing recorded, nothing written, exit code 130."""
    before = listing(home / "src"), (home / "phase-13/notes/breaks.md").read_bytes()
    with Terminal("break", LOUD, cwd=home) as terminal:
        terminal.expect("Your answer")
        terminal.send("3")
        terminal.expect("How sure")
        terminal.press(b"\x03")
        assert terminal.end() == 130
        assert "interrupted" in terminal.text and "Traceback" not in terminal.text
    assert kinds(home) == [] and not (home / "practice").exists()
    assert (listing(home / "src"), (home / "phase-13/notes/breaks.md").read_bytes()) == before


def test_the_end_of_the_input_is_an_interruption(home: Path) -> None:
    """Ctrl-D at a question is as good as Ctrl-C."""
    with Terminal("break", LOUD, cwd=home) as terminal:
        terminal.expect("Your answer")
        terminal.press(b"\x04")
        assert terminal.end() == 130
    assert kinds(home) == []


def test_ctrl_c_while_the_engine_works_leaves_nothing(home: Path) -> None:
    """Interrupted while it looks for a place for the bug, it says so and records nothing."""
    slow = home / HEAD
    slow.write_text(slow.read_text() + "\n__import__('time').sleep(1)\n")  # at every import
    with Terminal("break", LOUD, cwd=home) as terminal:
        terminal.expect("looking for a place")
        terminal.press(b"\x03")
        assert terminal.end() == 130
        assert "Traceback" not in terminal.text
    assert kinds(home) == [] and not (home / "practice").exists()


def test_a_verdict_that_takes_a_while_says_so(home: Path) -> None:
    """A line on the terminal after the first second."""
    slow = home / HEAD
    text = slow.read_text()
    assert "def forward" in text
    slow.write_text(text + "\n_now = LMHead.forward\n\n\ndef _later(self, h):\n"
                    "    __import__('time').sleep(0.05)\n    return _now(self, h)\n\n\n"
                    "LMHead.forward = _later\n")  # fmt: skip
    with Terminal("submit-build", "lm_head", cwd=home) as terminal:
        terminal.expect(" measurements ...")
        for _ in session(home).catalogue.build("lm_head").questions:
            terminal.expect("Your answer")
            terminal.press(b"\n")  # leaves it open
        assert terminal.end() == 0


def test_without_a_command_the_commands_are_listed(tmp_path: Path) -> None:
    """`engine` alone is a question, and the answer is the list of commands."""
    done = engine(cwd=tmp_path)
    told = done.stdout + done.stderr
    assert done.returncode in (0, 2) and all(name in told for name in ("init", "break", "demo"))


def test_no_git_is_not_a_bug_of_the_engine(home: Path, tmp_path: Path, answers: Path) -> None:
    """Without git on the PATH a break says that git is missing."""
    env = {"PATH": str(tmp_path / "nothing-here")}
    done = engine("break", LOUD, "--answers", answers, cwd=home, env=env)
    assert (
        done.returncode == 4
        and "git is not installed" in done.stderr
        and "a bug in" not in done.stderr
    )
    told = engine("doctor", cwd=home, env=env, code=1).stdout
    assert re.search(r"FAIL\s+git", told)


# ------------------------------------------------------------------------------- exercises by name


@pytest.mark.parametrize(
    "typed", ["tied-vocab-mismach", "tied-vocab", f"minimodel/{LOUD[:-1]}", "lmhead"]
)
@pytest.mark.parametrize("verb", ["show"])
def test_an_unknown_exercise_names_the_nearest(home: Path, verb: str, typed: str) -> None:
    """A slip of the finger is answered with what was meant."""
    done = engine(verb, typed, cwd=home, code=2)
    assert ("lm_head" if typed == "lmhead" else LOUD) in done.stderr
    assert "engine list" in done.stderr or "beginning of several" in done.stderr


def test_an_exercise_may_be_named_with_its_pack(home: Path, answers: Path) -> None:
    """pack/ID is the same exercise."""
    assert engine_json("show", f"minimodel/{LOUD}", cwd=home)["id"] == LOUD
    engine("break", f"minimodel/{LOUD}", "--answers", answers, cwd=home, code=0)
    assert (home / "practice" / LOUD).is_dir()


# ---------------------------------------------------------------------------------- whose command


@pytest.mark.parametrize("words", [["status"], ["hint"], ["submit-build"], ["break", LOUD],
                                   ["run", "--", "true"], ["submit"]], ids=" ".join)  # fmt: skip
def test_elsewhere_there_is_no_learner(tmp_path: Path, words: list[str]) -> None:
    """Outside a learner's folder a command says so, and how to make one; nothing appears."""
    done = engine(*words, cwd=tmp_path, code=2)
    assert "not a learner's folder" in done.stderr and "engine init" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", [".", "src/minimodel/nn", "phase-13/notes", ".engine", "practice",
                                    f"practice/{LOUD}/src/minimodel"])  # fmt: skip
def test_a_command_works_from_any_subfolder(opened: Path, folder: str) -> None:
    """The learner is the nearest parent folder that holds a learner.yaml."""
    report = engine_json("status", cwd=opened / folder)
    assert (report["home"], report["open"]) == (str(opened), LOUD)


def test_a_fix_can_be_submitted_from_inside_the_practice_copy(opened: Path, answers: Path) -> None:
    """Where one edits is where one submits."""
    mend(opened)
    inside = opened / "practice" / LOUD / "src" / "minimodel"
    engine("submit-fix", "--answers", answers, cwd=inside, code=0)


def test_the_only_learner_below_is_found(home: Path) -> None:
    """From the folder above learners/ no name is needed while there is one."""
    assert engine_json("status", cwd=home.parents[1])["home"] == str(home)


def test_of_several_learners_one_must_be_named(home: Path) -> None:
    """With two learners a command asks which; --learner says so, inside a folder too."""
    top = home.parents[1]
    init.run("bob", folder=top)
    done = engine("status", cwd=top, code=2)
    assert "ada, bob" in done.stderr and "--learner" in done.stderr
    assert engine_json("status", "--learner", "bob", cwd=top)["learner"] == "bob"
    assert engine_json("status", "--learner", "bob", cwd=home / "src")["learner"] == "bob"
    assert engine_json("status", cwd=home)["learner"] == "ada"
    done = engine("status", "--learner", "eve", cwd=top, code=2)
    assert "ada, bob" in done.stderr and "engine init eve" in done.stderr


@pytest.mark.parametrize("word", ["status", "check"])
def test_a_folder_that_is_gone_is_named(tmp_path: Path, word: str) -> None:
    """A shell whose folder was removed gets words and no traceback."""
    words = " ".join(command(word))
    done = subprocess.run(
        ["sh", "-c", f"mkdir gone && cd gone && rmdir ../gone && exec {words}"], cwd=tmp_path,
        env=environment(), capture_output=True, text=True, timeout=GRACE, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "no longer exists" in done.stderr


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["mi código [bold]x[/] 100%\x1b[31m", "a b'c\"d $HOME;#?&"])
def test_a_folder_may_have_any_name(
    healthy_learner: Path, tmp_path: Path, answers: Path, name: str
) -> None:
    """Spaces, brackets, quotes, accents and worse in the path change nothing."""
    home = tmp_path / name / "learners" / "ada"
    home.parent.mkdir(parents=True)
    subprocess.run(["cp", "-a", str(healthy_learner), str(home)], check=True)
    broken = engine("break", LOUD, "--answers", answers, cwd=home, code=0)
    assert "\x1b" not in broken.stdout
    assert "\x1b" not in engine("status", cwd=home, code=0).stdout
    mend(home)
    engine("submit-fix", "--answers", answers, cwd=home, code=0)
    assert kinds(home)[-1] == "closed"


def test_a_folder_whose_name_is_no_utf_8_is_no_bug(healthy_learner: Path, tmp_path: Path) -> None:
    """A path from a Latin-1 disk: commands work, in words and as JSON."""
    top = tmp_path / os.fsdecode(b"c\xf3digo")
    home = top / "learners" / "ada"
    home.parent.mkdir(parents=True)
    subprocess.run(["cp", "-a", str(healthy_learner), home], check=True)
    assert "ada" in engine("status", cwd=home, code=0).stdout
    assert engine_json("status", cwd=home)["learner"] == "ada"


def test_a_learner_in_spanish_reads_and_writes_spanish(tmp_path: Path, answers: Path) -> None:
    """--lang es: texts, questions and notes are Spanish."""
    engine("init", "ana", "--lang", "es", cwd=tmp_path, code=0)
    home = tmp_path / "learners" / "ana"
    lay_model(home)
    shown = engine("show", LOUD, cwd=home, code=0).stdout
    assert "Una tabla, dos vocabularios" in shown and "One table" not in shown
    engine("break", LOUD, "--answers", answers, cwd=home, code=0)
    notes = (home / "phase-13/notes/breaks.md").read_text()
    for words in ("### Predicciones", "confianza 70%", "### Medido", "¿Dónde se detiene"):
        assert words in notes
    assert "### Predictions" not in notes
    edit(home / "practice" / LOUD, HEAD, BROKEN, BROKEN + "  # visto")
    for words in (["submit-fix"], ["submit-build", "lm_head"]):
        told = engine(*words, cwd=home).stdout
        assert "el ancho que anuncia" in told and "the width it announces" not in told
    assert "Mira en" in engine("hint", cwd=home, code=0).stdout


def test_both_breaks_can_be_started_one_after_the_other(closed: Path, tmp_path: Path) -> None:
    """After the loud form the silenced one, in a copy of its own."""
    file = tmp_path / "more.yaml"
    file.write_text(
        "predictions:\n  first-loss: {answer: 5.5, confidence: 70}\n"
        "  trend: {answer: falls, confidence: 80%}\n"
        "  high-target: {answer: 3, confidence: 60.4}\n"
    )
    engine("break", SILENCED, "--answers", file, cwd=closed, code=0)
    assert (closed / "practice" / LOUD).is_dir() and (closed / "practice" / SILENCED).is_dir()
    assert session(closed).open_break().exercise == SILENCED


def test_answers_may_be_json(home: Path, tmp_path: Path) -> None:
    """The file of answers is YAML, and so JSON as well."""
    import yaml

    file = tmp_path / "answers.json"
    file.write_text(json.dumps(yaml.safe_load(ANSWERS)))
    engine("break", LOUD, "--answers", file, cwd=home, code=0)
    assert session(home).open_break().exercise == LOUD


def test_a_flow_needs_no_terminal(home: Path) -> None:
    """What the commands call can be called from Python, with the same effect."""
    report = break_.run(session(home), LOUD, answer)
    assert report.practice == str(home / "practice" / LOUD)
    assert engine_json("status", cwd=home)["open"] == LOUD
