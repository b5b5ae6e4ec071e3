"""engine break: refusals before any question, answers from a file, a terminal or an editor."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from workbench import (
    ANSWERS,
    BROKEN,
    HEAD,
    LOSS,
    LOUD,
    NOTES,
    SILENCED,
    Terminal,
    answer,
    contents,
    engine,
    engine_json,
    kinds,
    lay_model,
    listing,
    session,
)  # fmt: skip

from engine.cli.submissions import answer_file
from engine.commands import break_
from engine.errors import EngineError, NotApplicable
from engine.flows.predictions import Opening
from engine.learner import notes
from engine.spec.catalogue import Catalogue


def test_predictions_are_recorded_before_anything_is_broken(home: Path) -> None:
    """While the practice copy is made, notes and store hold the answers already."""
    (home / "practice").mkdir()
    (home / "practice" / ".gitignore").mkdir()  # the copy cannot be made: this is in the way
    (home / ".engine" / "history.git").write_text("in the way too")
    with pytest.raises(Exception):  # noqa: B017 - whatever stops it
        break_.run(session(home), LOUD, answer)
    assert kinds(home) == ["predicted"]
    assert not (home / "practice" / LOUD).exists()
    text = (home / NOTES).read_text()
    assert "confidence 70%" in text and "in the reshape to rows" in text
    assert "### Measured" not in text


def test_an_interrupted_break_goes_on_with_the_answers_it_has(home: Path) -> None:
    """Nobody answers twice: the second run asks nothing and opens attempt 1."""
    block = home / ".engine" / "history.git"
    block.write_text("in the way")
    with pytest.raises(Exception):  # noqa: B017
        break_.run(session(home), LOUD, answer)
    block.unlink()

    def nobody(_: Opening) -> None:
        raise AssertionError("asked again")

    assert break_.run(session(home), LOUD, nobody).attempt == 1
    assert kinds(home) == ["predicted", "injected", "observed"]
    assert (home / NOTES).read_text().count("### Predictions") == 1


def test_the_learner_is_asked_while_nothing_is_broken(home: Path) -> None:
    """When the questions come, the injection is planned, and no file and no event is there."""
    seen = {}

    def look(opening: Opening):
        seen.update(kinds=kinds(home), practice=(home / "practice").exists(), opening=opening)
        return answer(opening)

    break_.run(session(home), LOUD, look)
    assert seen["kinds"] == [] and not seen["practice"]
    assert [p.id for p in seen["opening"].predictions] == ["where", "rows", "message"]


def test_break_refuses_while_one_is_open(opened: Path, answers: Path) -> None:
    """The same or another: exit code 4, the open one named, nothing changed."""
    before = contents(opened / "practice"), (opened / NOTES).read_bytes(), kinds(opened)
    for id in (LOUD, SILENCED):
        done = engine("break", id, "--answers", answers, cwd=opened, code=4)
        assert f"{LOUD} is still open" in done.stderr
        assert "engine submit-fix" in done.stderr and "engine reset" in done.stderr
    assert (contents(opened / "practice"), (opened / NOTES).read_bytes(), kinds(opened)) == before


UNHEALTHY = {
    "wrong width": (HEAD, "= embedding.vocab_size", "= embedding.vocab_size + 1", "lm_head"),
    "not transposed": (HEAD, "logits = h @", "logits = h * 2.0 @", "lm_head"),
    "raises": (HEAD, "return logits", "raise NotImplementedError", "lm_head"),
    "no class": (HEAD, "class LMHead", "class Head", "lm_head"),
    "wrong loss": (LOSS, ".mean()", ".sum()", "lm_head"),
}


@pytest.mark.parametrize(("file", "old", "new", "mend"), UNHEALTHY.values(), ids=UNHEALTHY.keys())
def test_break_refuses_code_that_is_not_healthy_where_it_stands(
    home: Path, file: str, old: str, new: str, mend: str
) -> None:
    """What was expected and got, which build to look at; nothing was asked or recorded."""
    text = (home / file).read_text()
    assert old in text
    (home / file).write_text(text.replace(old, new))
    before, asked = (home / NOTES).read_bytes(), []
    with pytest.raises(NotApplicable, match=r"expected|has no LMHead") as caught:
        break_.run(session(home), LOUD, lambda opening: asked.append(opening) or answer(opening))
    assert f"engine submit-build {mend}" in caught.value.next
    assert "Nothing was changed" in caught.value.what
    assert not asked
    assert kinds(home) == [] and not (home / "practice").exists()
    assert (home / NOTES).read_bytes() == before


def test_faults_elsewhere_do_not_stand_in_the_way(home: Path, answers: Path) -> None:
    """An optimiser that is wrong is no reason to refuse a break of the head."""
    optim = home / "src/minimodel/optim.py"
    optim.write_text("raise RuntimeError('not written yet')\n")
    engine("break", LOUD, "--answers", answers, cwd=home, code=0)


def test_a_learner_on_the_template_is_refused_before_any_question(tmp_path: Path) -> None:
    """Stubs are not healthy: the message names the build to do first, and no question is asked."""
    engine("init", "ada", cwd=tmp_path, code=0)
    home = tmp_path / "learners" / "ada"
    done = engine("break", LOUD, cwd=home, code=4)
    assert "NotImplementedError" in done.stderr and "engine submit-build" in done.stderr
    assert kinds(home) == []


def test_without_terminal_and_answers_break_says_how(home: Path) -> None:
    """Exit code 2, the option named, nothing recorded."""
    done = engine("break", LOUD, cwd=home, code=2)
    assert f"engine break {LOUD} --answers FILE" in done.stderr
    assert kinds(home) == [] and not (home / "practice").exists()


ROWS = "  rows: {answer: 32, confidence: 80}\n"
BAD = {
    "no YAML": ("predictions: {\n", "answers.yaml:"),
    "a list": ("- 1\n", "predictions:"),
    "empty": ("", "empty"),
    "only a cause": ("cause: {answer: width, confidence: 90}\n", "'where'"),
    "one missing": (ANSWERS.replace(ROWS, ""), "'rows'"),
    "confidence missing": (ANSWERS.replace(", confidence: 80", ""), "'rows'"),
    "confidence 10": (ANSWERS.replace("70", "10"), "between 20"),
    "confidence 101": (ANSWERS.replace("80", "101"), "between 0"),
    "confidence in words": (ANSWERS.replace("80", "sure"), "between 0"),
    "unknown option": (ANSWERS.replace("logits", "nowhere"), "ids, hidden, logits"),
    "option 0": (ANSWERS.replace("logits", "0"), "ids, hidden, logits"),
    "option 6": (ANSWERS.replace("logits", "6"), "ids, hidden, logits"),
    "option of a French keyboard": (ANSWERS.replace("logits", '"²"'), "ids, hidden, logits"),
    "a word for a number": (ANSWERS.replace("32", "many"), "number"),
    "nan": (ANSWERS.replace("32", ".nan"), "number"),
    "infinity": (ANSWERS.replace("32", ".inf"), "number"),
    "400 digits": (ANSWERS.replace("32", "1" + "0" * 400), "number"),
    "a list for a number": (ANSWERS.replace("32", "[1, 2]"), "number"),
    "no words": (ANSWERS.replace("two shapes that do not fit", "''"), "words"),
    "unknown prediction": (ANSWERS.replace("  rows:", "  rwos:"), "'rwos'"),
    "key twice": (ANSWERS.replace(ROWS, ROWS + ROWS), "rows"),
    "tab": (ANSWERS.replace("  rows", "\trows"), "answers.yaml:3"),
    "no UTF-8": ("predictions: \udcff\n", "UTF-8"),
    "alias bomb": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "answers.yaml:"),
    "nested brackets": ("[" * 100_000, "answers.yaml:"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "named"), BAD.values(), ids=BAD.keys())
def test_answers_that_do_not_fit_are_named(answers: Path, text: str, named: str) -> None:
    """What is wrong with the file is said, by place or by name, and what would fit."""
    answers.write_bytes(text.encode("utf-8", "surrogateescape"))
    asked = Catalogue.find("minimodel").break_(LOUD).predictions
    with pytest.raises(EngineError) as caught:
        answer_file(answers).predictions(asked)
    assert caught.value.exit_code in (2, 3)
    assert named in str(caught.value)


@pytest.mark.parametrize("why", ["no YAML", "one missing", "confidence 10", "unknown option"])
def test_answers_that_do_not_fit_change_nothing(home: Path, answers: Path, why: str) -> None:
    """A break with such a file ends in words; nothing is recorded, written or broken."""
    answers.write_text(BAD[why][0])
    before = (home / NOTES).read_bytes()
    done = engine("break", LOUD, "--answers", answers, cwd=home)
    assert done.returncode in (2, 3) and BAD[why][1] in done.stderr
    assert kinds(home) == [] and not (home / "practice").exists()
    assert (home / NOTES).read_bytes() == before


@pytest.mark.parametrize("file", ["gone.yaml", "."])
def test_a_file_of_answers_that_cannot_be_read_is_named(home: Path, file: str) -> None:
    """A missing file, or a folder: exit code 2 before any work."""
    done = engine("break", LOUD, "--answers", file, cwd=home, code=2)
    assert file in done.stderr and kinds(home) == []


def test_the_report_holds_what_was_predicted_and_measured(home: Path, answers: Path) -> None:
    """Predictions scored against the measurement, both versions side by side, the symptom."""
    report = engine_json("break", LOUD, "--answers", answers, cwd=home)
    scored = {one["id"]: one for one in report["observed"]["scored"]}
    assert [scored[id]["right"] for id in ("where", "rows", "message")] == [False, True, None]
    assert report["attempt"] == 1 and report["symptom"]
    assert abs(report["observed"]["brier"] - (0.7**2 + 0.2**2) / 2) < 1e-9
    shown = report["observed"]["observations"][0]
    assert "ValueError" in shown["error"] and shown["traceback"]


def test_what_is_shown_gives_nothing_away(home: Path, answers: Path) -> None:
    """Neither the cause, nor the line, nor the hints are in what break and observe print."""
    spec = session(home).catalogue.break_(LOUD)
    for words in (["break", LOUD, "--answers", answers], ["observe"], ["show", LOUD], ["status"]):
        for form in ([], ["--json"]):
            if words[0] == "break" and form:
                continue
            told = " ".join(engine(*words, *form, cwd=home, code=0).stdout.split())
            assert BROKEN not in told
            for text in (spec.hidden_cause["en"], spec.fix["en"], *(h["en"] for h in spec.hints)):
                assert text.strip() not in told


def test_a_second_attempt_is_number_2(closed: Path, answers: Path) -> None:
    """After closing, the same break begins anew; the first entry stays as it was."""
    first = (closed / NOTES).read_bytes()
    report = engine_json("break", LOUD, "--answers", answers, cwd=closed)
    assert report["attempt"] == 2
    text = (closed / NOTES).read_bytes()
    assert text.startswith(first)
    for mark in (notes.start_mark(LOUD, 2), notes.end_mark(LOUD, 2)):
        assert mark.encode() in text[len(first) :]


@pytest.mark.parametrize("model", ["plain", "demo"])
def test_the_learners_model_is_not_written_to(home: Path, answers: Path, model: str) -> None:
    """Breaking leaves src/ as it was, to the time of each file."""
    lay_model(home, model)
    before = listing(home / "src")
    engine("break", LOUD, "--answers", answers, cwd=home, code=0)
    assert listing(home / "src") == before


# ----------------------------------------------------------------------------------- at a terminal


def test_a_person_is_asked_again_until_it_fits(home: Path) -> None:
    """Wrong answers are explained and asked again; the right ones are kept."""
    with Terminal("break", LOUD, cwd=home) as terminal:
        terminal.expect("Where does the first forward pass stop?")
        for wrong in ("9", "rows", "nowhere", "-1", "²"):
            terminal.expect("Your answer (1 to 5): ")
            terminal.send(wrong)
            terminal.expect("type a number from 1 to 5")
        terminal.expect("Your answer (1 to 5): ")
        terminal.send("4")
        terminal.expect("= in cross_entropy")
        for wrong in ("19", "101", "very", "nan"):
            terminal.expect("How sure are you (20 to 100%; 20 is a guess): ")
            terminal.send(wrong)
            terminal.expect("between 20")
        terminal.expect("How sure")
        terminal.send("85%")
        terminal.expect("How many rows")
        for wrong in ("many", "nan", "inf"):
            terminal.expect("Your answer: ")
            terminal.send(wrong)
            terminal.expect("is needed here")
        terminal.expect("Your answer: ")
        terminal.send("32")
        terminal.expect("How sure")
        terminal.send("50")
        terminal.expect("What will the last line")
        terminal.expect("Your answer: ")
        terminal.send("señal | `x` <b>")
        terminal.expect("How sure")
        terminal.send("100")
        terminal.expect("practice copy")
        assert terminal.end() == 0
    recorded = session(home).open_break().last("predicted")["answers"]
    assert [(a["answer"], a["confidence"]) for a in recorded] == [
        ("rows", 85), (32.0, 50), ("señal | `x` <b>", 100),
    ]  # fmt: skip
    assert "señal | `x` <b>" in (home / NOTES).read_text()


def test_what_was_typed_before_an_interruption_is_offered_again(home: Path) -> None:
    """Ctrl-C at a question loses no answer: Enter keeps it, something else takes its place."""
    with Terminal("break", LOUD, cwd=home) as terminal:
        for given in ("4", "85", "32", "50"):
            terminal.expect(": ")
            terminal.send(given)
        terminal.expect("What will the last line")
        terminal.press(b"\x03")
        assert terminal.end() == 130
    assert kinds(home) == ["drafted", "drafted"] and not (home / "practice").exists()
    with Terminal("break", LOUD, cwd=home) as terminal:
        terminal.expect("Enter keeps it")
        for offered, given in (("[4]: ", ""), ("[85]: ", "90"), ("[32]: ", ""), ("[50]: ", "")):
            terminal.expect(offered)
            terminal.send(given)
        terminal.expect("Your answer: ")
        terminal.send("a traceback")
        terminal.expect(": ")
        terminal.send("60")
        terminal.expect("practice copy")
        assert terminal.end() == 0
    attempt = session(home).open_break()
    recorded = attempt.last("predicted")["answers"]
    assert attempt.number == 1
    assert [(a["answer"], a["confidence"]) for a in recorded] == [
        ("rows", 90), (32.0, 50), ("a traceback", 60),
    ]  # fmt: skip
    assert (home / NOTES).read_text().count("### Predictions") == 1


def test_a_prediction_can_wait(home: Path) -> None:
    """Enter at a question breaks nothing; what was answered is offered again."""
    with Terminal("break", LOUD, cwd=home) as terminal:
        terminal.expect("Enter leaves it for later")
        for given in ("4", "85", ""):
            terminal.expect(": ")
            terminal.send(given)
        terminal.expect("Nothing is broken yet")
        terminal.expect(f"engine break {LOUD}")
        assert terminal.end() == NotApplicable.exit_code
    assert kinds(home) == ["drafted"] and not (home / "practice").exists()
    with Terminal("break", LOUD, cwd=home) as terminal:
        terminal.expect("[4]: ")
        terminal.send("")


def test_an_answer_that_no_longer_fits_is_asked_anew(home: Path) -> None:
    """The exercise may have changed since it was typed."""
    for id, given in (("where", "nowhere"), ("rows", 32.0), ("gone", "yes")):
        data = {"answer": {"id": id, "answer": given, "confidence": 70}}
        session(home).store.append(LOUD, 1, "drafted", data)
    offered = []
    break_.run(session(home), LOUD, lambda o: offered.extend(o.known) or answer(o))
    assert [(one.id, one.answer) for one in offered] == [("rows", 32.0)]
    assert session(home).open_break().number == 1


def test_a_terminal_that_speaks_latin_1_is_no_bug(home: Path) -> None:
    """An answer with a byte that is no UTF-8 is kept or asked again; the engine does not fall over."""
    with Terminal("break", LOUD, cwd=home) as terminal:
        for given in (b"4", b"80", b"32", b"80", b"la se\xf1al", b"80"):
            terminal.expect(": ")
            terminal.send(given)
        terminal.expect("engine")
        terminal.press(b"\x03")
        terminal.end()
        assert "bug in the engine" not in terminal.text
        assert "Traceback (most" not in terminal.text


def test_somebody_who_thinks_about_a_question_holds_nobody_up(home: Path, answers: Path) -> None:
    """Another terminal may break meanwhile; whoever answers later is told, and breaks nothing."""
    with Terminal("break", LOUD, cwd=home) as terminal:
        terminal.expect("Your answer (1 to 5): ")
        engine("break", LOUD, "--answers", answers, cwd=home, code=0)
        for given in ("4", "80", "32", "80", "two shapes"):
            terminal.send(given)
            terminal.expect(": ")
        terminal.send("80")
        terminal.expect("still open")
        assert terminal.end() == 4
    assert kinds(home).count("injected") == 1


# -------------------------------------------------------------------------------------- in $EDITOR


def editor(folder: Path, script: str) -> dict[str, str]:
    """An editor that is a Python script; it gets the file as its argument."""
    file = folder / "my editor.py"
    file.write_text(f"#!/usr/bin/env python3\nimport re, sys\nfile = sys.argv[-1]\n{script}")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return {"EDITOR": f"'{file}' --wait"}


FILL = """
text = open(file, newline="").read()
for answer, sure in (("logits", "70"), ("32", "80%"), ("two shapes", "60")):
    text = re.sub(r"answer:[ \\t]*(\\r?\\n)", f"answer: {answer}\\\\1", text, count=1)
    text = re.sub(r"confidence:[ \\t]*(\\r?\\n)", f"confidence: {sure}\\\\1", text, count=1)
text += "my own words\\n"
open(file, "w", newline="").write(text)
"""


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_predictions_can_be_written_in_an_editor(
    home: Path, tmp_path: Path, newline: bytes
) -> None:
    """The questions are in the notes, the editor opens on them, the answers are read back."""
    notes_file = home / NOTES
    notes_file.write_bytes(notes_file.read_bytes().replace(b"\n", newline))
    env = editor(tmp_path, FILL)
    engine("break", LOUD, "--editor", cwd=home, env=env, code=0)
    recorded = session(home).open_break().last("predicted")["answers"]
    assert [(a["id"], a["answer"], a["confidence"]) for a in recorded] == [
        ("where", "logits", 70), ("rows", 32.0, 80), ("message", "two shapes", 60),
    ]  # fmt: skip
    text = notes_file.read_text()
    assert "my own words" in text and text.count(notes.start_mark(LOUD, 1)) == 1
    assert text.count("### Predictions") == 1 and "Somebody merges two tokenizers" in text


EDITORS = {
    "leaves it empty": ("", "'where'"),
    "fails": ("sys.exit(3)", "editor"),
    "deletes the questions": ("open(file, 'w').write('mine')", "not found"),
    "writes nonsense": (FILL.replace('"32"', '"many"'), "number"),
    "writes bytes": ("open(file, 'ab').write(b'\\xff\\xfe')", ""),
}


@pytest.mark.parametrize(("script", "named"), EDITORS.values(), ids=EDITORS.keys())
def test_an_editor_that_brings_no_answers_is_no_harm(
    home: Path, tmp_path: Path, script: str, named: str
) -> None:
    """What was written stays in the notes; nothing is recorded or broken; the next try works."""
    own = (home / NOTES).read_bytes()
    done = engine("break", LOUD, "--editor", cwd=home, env=editor(tmp_path, script), code=2)
    assert named in done.stderr
    assert kinds(home) == [] and not (home / "practice").exists()
    assert (
        (home / NOTES)
        .read_bytes()
        .startswith(b"mine" if "'w'" in script and "mine" in script else own)
    )


def test_an_answer_that_does_not_fit_can_be_put_right_in_the_editor(
    home: Path, tmp_path: Path
) -> None:
    """The second time the editor opens on what was written the first time."""
    engine(
        "break",
        LOUD,
        "--editor",
        cwd=home,
        env=editor(tmp_path, EDITORS["writes nonsense"][0]),
        code=2,
    )
    right = "text = open(file).read()\nopen(file, 'w').write(text.replace('answer: many', 'answer: 32'))"
    engine("break", LOUD, "--editor", cwd=home, env=editor(tmp_path, right), code=0)
    assert session(home).open_break().last("predicted")["answers"][1]["answer"] == 32.0
    assert (home / NOTES).read_text().count(notes.start_mark(LOUD, 1)) == 1


@pytest.mark.parametrize("value", ["", "no-such-editor-anywhere", "'unbalanced"])
def test_an_editor_that_does_not_exist_is_named(home: Path, value: str) -> None:
    """No EDITOR, one that is not installed, or one that no shell could read: exit code 2, in words."""
    done = engine("break", LOUD, "--editor", cwd=home, env={"EDITOR": value}, code=2)
    assert "EDITOR" in done.stderr or "editor" in done.stderr
    assert kinds(home) == []
