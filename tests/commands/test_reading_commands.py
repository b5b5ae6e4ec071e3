"""engine list, show, status, next, notes, doctor, submit-build: what they tell, and that they only read."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import (
    HEAD,
    LOSS,
    LOUD,
    NOTES,
    SILENCED,
    SILENCED_ANSWERS,
    Terminal,
    answer,
    engine,
    engine_json,
    kinds,
    lay_model,
    listing,
    mend,
    read_only_view,
    right_cause,
    session,
)  # fmt: skip

from engine.cli.submissions import answer_file
from engine.commands import break_, next_, show, submit_build, submit_fix
from engine.flows.answers import Answer
from engine.flows.listing import Stated, StatusReport
from engine.report import lists

READING = [["list"], ["show", "embedding"], ["show", LOUD], ["status"], ["next"], ["notes"]]
BUILDS = ["tensor", "module", "embedding", "lm_head", "cross_entropy"]


def test_list_as_json_has_the_promised_form(opened: Path) -> None:
    """Exactly the keys of the issue, in the order of the course, with the learner's states."""
    report = engine_json("list", cwd=opened)
    assert report.keys() == {"exercises"}
    for one in report["exercises"]:
        assert list(one)[:7] == ["id", "kind", "pack", "phase", "component", "title", "state"]
    found = [
        (one["id"], one["kind"], one["pack"], one["phase"], one["component"])
        for one in report["exercises"]
    ]
    assert found[:7] == [
        ("tensor", "build", "minimodel", "12", "tensor"),
        ("module", "build", "minimodel", "12", "module"),
        ("embedding", "build", "minimodel", "13", "embedding"),
        ("lm_head", "build", "minimodel", "13", "lm_head"),
        ("cross_entropy", "build", "minimodel", "18", "cross_entropy"),
        (LOUD, "break", "minimodel", "13", "lm_head"),
        (SILENCED, "break", "minimodel", "13", "lm_head"),
    ]  # fmt: skip
    assert {one["id"]: one["state"] for one in report["exercises"]}[LOUD] == "open"


def test_list_and_show_need_no_learner(tmp_path: Path) -> None:
    """Anywhere, in either language; every exercise is new."""
    report = engine_json("list", cwd=tmp_path)
    assert {one["state"] for one in report["exercises"]} == {"new"}
    assert "dos vocabularios" in engine("show", LOUD, "--lang", "es", cwd=tmp_path, code=0).stdout
    assert engine_json("doctor", cwd=tmp_path)["healthy"] is True
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("state", ["home", "opened", "closed"])
def test_reading_commands_never_write(state: str, request: pytest.FixtureRequest) -> None:
    """A full listing of the folder, with times, is the same before and after."""
    home: Path = request.getfixturevalue(state)
    before = listing(home)
    for words in READING:
        engine(*words, cwd=home, code=0)
        assert listing(home) == before, words


def test_reading_commands_work_where_nothing_can_be_written(opened: Path, tmp_path: Path) -> None:
    """On a read-only disk everything can be looked at; a hint says what is in the way."""
    with read_only_view(opened, tmp_path / "view") as view:
        for words in READING:
            engine(*words, cwd=view, code=0)
        assert engine_json("status", cwd=view)["open"] == LOUD
        done = engine("hint", cwd=view, code=4)
        assert "read-only" in done.stderr or "readonly" in done.stderr


def test_show_tells_of_a_break_only_what_may_be_known(home: Path) -> None:
    """Before: no symptom, cause, fix or hint. Open: the symptom. Closed: everything."""
    spec = session(home).catalogue.break_(LOUD)

    def parts() -> dict[str, str]:
        return dict(show.run(session(home), LOUD).parts)

    assert {"the_break", "pipeline", "predictions"} <= parts().keys()
    assert not {"symptom", "hidden_cause", "fix", "why", "next"} & parts().keys()
    assert "head.vocab_size_out" in parts()["pipeline"]
    break_.run(session(home), LOUD, answer)
    assert "symptom" in parts() and not {"hidden_cause", "fix", "why"} & parts().keys()
    mend(home)
    submit_fix.run(session(home), right_cause)
    assert parts()["hidden_cause"] == spec.hidden_cause["en"]
    break_.run(session(home), LOUD, answer)
    assert "hidden_cause" not in parts()


def test_show_tells_a_build_whole(home: Path) -> None:
    """Objective, signature, checks and the command to submit it."""
    parts = dict(engine_json("show", "lm_head", cwd=home)["parts"])
    assert {"objective", "background", "edit", "signature", "checks", "submit"} <= parts.keys()
    assert parts["submit"] == "engine submit-build lm_head"


def test_status_tells_how_well_confidence_fits(closed: Path) -> None:
    """Of 70% and 80% the second was right, and the cause with 90%: three bins, Brier 0.18."""
    report = engine_json("status", cwd=closed)
    assert (report["predictions"], round(report["brier"], 4)) == (3, 0.18)
    found = [(b["low"], b["high"], b["count"], b["right"]) for b in report["calibration"]]
    assert found == [(70, 80, 1, 0), (80, 90, 1, 1), (90, 100, 1, 1)]
    told = engine("status", cwd=closed, code=0).stdout
    assert "0.18" in told and "100%" in told


def test_next_leads_through_the_first_phase(home: Path, tmp_path: Path) -> None:
    """Builds, then breaks, the open one first; what is done does not come again."""
    here = session(home)
    steps = []

    def step() -> str:
        report = next_.run(here)
        steps.append(report.command)
        return report.exercise

    for component in BUILDS:
        assert step() == component
        assert submit_build.run(here, component).passed
    assert step() == LOUD
    break_.run(here, LOUD, answer)
    assert step() == LOUD
    mend(home)
    submit_fix.run(here, right_cause)
    assert step() == SILENCED
    file = tmp_path / "answers.yaml"
    file.write_text(SILENCED_ANSWERS)
    break_.run(here, SILENCED, lambda opening: answer_file(file).predictions(opening.predictions))
    assert step() == SILENCED
    (home / "practice" / SILENCED / HEAD).write_bytes((home / HEAD).read_bytes())
    submit_fix.run(here, lambda *_: Answer("cause", "narrow", 90))
    assert next_.run(here).exercise not in (*BUILDS, LOUD, SILENCED)
    assert steps == [
        *(f"engine submit-build {component}" for component in BUILDS),
        f"engine break {LOUD}", "engine submit-fix", f"engine break {SILENCED}", "engine submit-fix",
    ]  # fmt: skip


def test_next_comes_back_to_what_was_put_aside(opened: Path) -> None:
    """An exercise that was reset is not done."""
    for component in BUILDS:
        submit_build.run(session(opened), component)
    engine("reset", cwd=opened, code=0)
    assert engine_json("next", cwd=opened)["exercise"] == LOUD


def test_notes_shows_the_file_and_its_text(closed: Path) -> None:
    """The path, and all that stands in it."""
    report = engine_json("notes", cwd=closed)
    assert report["file"] == str(closed / NOTES)
    assert report["text"] == (closed / NOTES).read_text()
    assert "### Fixed" in engine("notes", cwd=closed, code=0).stdout


# --------------------------------------------------------------------------------------- doctor


def test_doctor_finds_a_healthy_learner_healthy(home: Path) -> None:
    """Everything that a command needs is there, and the code can be imported."""
    report = engine_json("doctor", cwd=home)
    found = {one["what"]: one for one in report["findings"]}
    assert report["healthy"] and found["your code"]["good"] and "git" in found
    assert kinds(home) == []


SICK = {
    "missing class": ("class LMHead", "class Head", "LMHead"),
    "syntax error": ("class LMHead(Module):", "class LMHead(Module", HEAD),
    "missing module": ("import numpy as np", "import numpie as np", "numpie"),
    "leaves": ("class LMHead", "import os; os._exit(0)\nclass LMHead", "your"),
}


@pytest.mark.parametrize(("old", "new", "named"), SICK.values(), ids=SICK.keys())
def test_doctor_names_what_is_wrong_with_the_code(
    home: Path, old: str, new: str, named: str
) -> None:
    """Exit code 1, and the part of the learner's code that cannot be used."""
    (home / HEAD).write_text((home / HEAD).read_text().replace(old, new, 1))
    done = engine("doctor", cwd=home, code=1)
    assert "FAIL" in done.stdout and named in done.stdout


def test_doctor_names_an_interpreter_that_does_not_work(home: Path) -> None:
    """A `python:` in learner.yaml that is none is found out."""
    with (home / "learner.yaml").open("a") as file:
        file.write("python: /bin/false\n")
    done = engine("doctor", cwd=home, code=1)
    assert "/bin/false" in done.stdout


# --------------------------------------------------------------------------------- submit-build


@pytest.mark.parametrize("model", ["plain", "demo"])
def test_a_healthy_component_passes(home: Path, model: str) -> None:
    """Every check agrees; the graded file, its hash and the counts are told."""
    import hashlib

    lay_model(home, model)
    done = engine("submit-build", "lm_head", "-v", cwd=home, code=0)
    assert f"graded {HEAD}" in done.stdout and "measurements" in done.stdout
    report = engine_json("submit-build", "lm_head", cwd=home)
    assert dict(report["graded"])[HEAD] == hashlib.sha256((home / HEAD).read_bytes()).hexdigest()
    assert report["verdict"]["measurements"] > len(report["verdict"]["results"]) > 0


def test_a_wrong_component_is_told_what_was_expected_and_what_came(home: Path) -> None:
    """Exit code 1, with shapes, the first value that differs, and the way to a hint."""
    (home / LOSS).write_text((home / LOSS).read_text().replace(".mean()", ".sum()"))
    done = engine("submit-build", "cross_entropy", cwd=home, code=1)
    for words in ("FAIL", "loss is ", "should be", "logits (", "engine hint cross_entropy"):
        assert words in done.stdout, words
    states = {e["id"]: e["state"] for e in engine_json("list", cwd=home)["exercises"]}
    assert states["cross_entropy"] == "failed"


@pytest.mark.parametrize(
    ("new", "codes", "named"),
    [
        ("class Head(Module):", (1, 5), "LMHead"),
        ("class LMHead(Module", (5,), f"{HEAD}:"),
        ("import numpie\nclass LMHead(Module):", (1, 5), "numpie"),
        ("raise RuntimeError('half done')\nclass LMHead(Module):", (1, 5), "half done"),
        ("import os; os._exit(0)\nclass LMHead(Module):", (1, 5), "lm_head"),
    ],
    ids=["missing class", "syntax error", "missing module", "raises", "leaves"],
)
def test_code_that_cannot_be_used_is_told_so(
    home: Path, new: str, codes: tuple[int, ...], named: str
) -> None:
    """What is missing or wrong is named; no traceback of the engine's own is shown."""
    (home / HEAD).write_text((home / HEAD).read_text().replace("class LMHead(Module):", new))
    form = ["--json"] if "numpie" in new else []
    done = engine("submit-build", "lm_head", *form, cwd=home)
    assert done.returncode in codes, done.stdout + done.stderr
    assert named in done.stdout + done.stderr
    assert "engine/run" not in done.stdout + done.stderr


def test_without_a_name_the_first_unfinished_build_is_submitted(home: Path) -> None:
    """One after the other, until all have passed; then that is said."""
    builds = [
        entry.id for entry in session(home).catalogue.entries.values() if entry.kind == "build"
    ]
    *earlier, first, second = builds
    for component in earlier:
        session(home).store.append(component, 1, "built", {"passed": True})
    for component in (first, second):
        assert engine_json("submit-build", cwd=home)["exercise"] == component
    assert "has passed" in engine("submit-build", cwd=home, code=2).stderr


def test_list_and_status_say_how_far_one_is(opened: Path) -> None:
    """Done of all, the time that is left, the phases by name; status has no row of what is new."""
    here = session(opened)
    for id in ("tensor", "module"):
        here.store.append(id, 1, "built", {"passed": True})
    total = len(here.catalogue.entries)
    told = engine("list", cwd=opened, code=0).stdout
    left = sum(
        s.minutes for id, s in here.catalogue.summaries.items() if id not in ("tensor", "module")
    )
    assert told.startswith(f"2 of {total}, {round(left / 60)} h left\n")
    assert "\n12 Autograd: 2 of 2\n" in told and "\n13 Embeddings: 0 of " in told
    rows = {line.split()[0]: line for line in told.splitlines() if line.startswith("  ")}
    assert rows.keys() == here.catalogue.entries.keys() and "passed" in rows["tensor"]
    short = engine("status", cwd=opened, code=0).stdout
    assert f"2 of {total}, " in short and f"  {LOUD}" in short and "rope-pairs-mixed" not in short


def test_states_have_colours_on_a_terminal(opened: Path) -> None:
    """An open break is yellow, in list and status alike."""
    for words in ("list", "status"):
        with Terminal(words, cwd=opened) as terminal:
            assert terminal.end() == 0
            assert b"\x1b[33mopen" in terminal.raw


def test_a_pass_that_was_withdrawn_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    one = Stated("embedding", "build", "13", "changed", "Embeddings", 40)
    lists.status(StatusReport("ada", "/", "/", (one,), (), "", "", 0, (), 0, None))
    assert "changed since" in capsys.readouterr().out
