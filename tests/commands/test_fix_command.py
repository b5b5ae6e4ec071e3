"""engine submit-fix: what is refused reveals nothing, what is right closes the exercise."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest
from workbench import (
    BROKEN,
    HEAD,
    HEALTHY,
    LOSS,
    LOUD,
    NOTES,
    SILENCED,
    SILENCED_ANSWERS,
    Terminal,
    contents,
    edit,
    engine,
    engine_json,
    kinds,
    listing,
    mend,
    right_cause,
    session,
)  # fmt: skip

from engine.cli.submissions import answer_file
from engine.commands import break_, submit_fix
from engine.errors import LearnerCodeError, NotApplicable
from engine.flows.answers import Answer
from engine.report.json_lines import to_json

CHECK = "    if logits.shape[:-1] != targets.shape:"
WRONG = {
    "a comment": lambda practice: edit(practice, HEAD, BROKEN, BROKEN + "  # checked"),
    "512": lambda practice: edit(practice, HEAD, "256", "512"),
    "fewer rows": lambda practice: edit(
        practice, LOSS, CHECK,
        "    if logits.ndim == 2 and len(logits.data) > len(targets):\n"
        f"        logits = logits[: len(targets)]\n{CHECK}",
    ),
    "no check": lambda practice: edit(practice, LOSS, CHECK, "    if False:"),
    "narrow logits": lambda practice: edit(
        practice, HEAD, "return logits", "return logits[..., : self.vocab_size_out]"
    ),
}  # fmt: skip


@pytest.mark.sweep(2)
@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_fix_is_refused_and_nothing_is_revealed(opened: Path, change) -> None:
    """Neither the cause nor the healthy line is in the report, the notes or the practice copy."""
    practice = opened / "practice" / LOUD
    change(practice)
    spec = session(opened).catalogue.break_(LOUD)
    before = contents(practice), (opened / NOTES).read_bytes()
    report = submit_fix.run(session(opened), lambda *_: pytest.fail("asked for the cause"))
    assert not report.passed and report.reveal is None and not report.verdict.passed
    told = " ".join(to_json(report).split())
    assert not secrets(spec, told)
    assert (contents(practice), (opened / NOTES).read_bytes()) == before
    assert session(opened).open_break().exercise == LOUD


def secrets(spec, told: str) -> list[str]:
    """What of the reveal is in a text."""
    texts = [spec.hidden_cause, spec.fix, spec.why, *spec.hints]
    texts += [text for option in spec.cause.options for text in (option.text, option.because)]
    return [t for t in [HEALTHY, *(" ".join(text["en"].split()) for text in texts)] if t in told]


def test_a_wrong_fix_is_told_what_differs_and_no_more(opened: Path) -> None:
    """Exit code 1, expected and got, in words; the same as JSON, without the reveal."""
    WRONG["512"](opened / "practice" / LOUD)
    spec = session(opened).catalogue.break_(LOUD)
    words = engine("submit-fix", cwd=opened, code=1)
    told = " ".join((words.stdout + words.stderr).split())
    assert "vocab_size_out is 512, should be" in told and "pass" in told
    assert not secrets(spec, told)
    report = engine_json("submit-fix", cwd=opened, code=1)
    assert report["passed"] is False and report["reveal"] is None
    assert not secrets(spec, " ".join(str(report).split()))


def test_when_nothing_has_changed_nothing_is_judged(opened: Path) -> None:
    """At once, in words; where the learner's own tree changed instead, that is said."""
    told = engine("submit-fix", cwd=opened, code=1).stderr
    assert f"Nothing has changed in practice/{LOUD}/ yet." in told and "Your own code" not in told
    edit(opened, HEAD, HEALTHY, HEALTHY + "  # here")
    told = engine("submit-fix", cwd=opened, code=1).stderr
    assert f"Your own code did: {HEAD}." in told
    assert "submitted" not in kinds(opened)


def test_a_syntax_error_is_the_learners_and_is_shown_with_its_place(opened: Path) -> None:
    """Exit code 5, file and line of the practice copy, still open; nothing was judged."""
    edit(opened / "practice" / LOUD, HEAD, BROKEN, "self.vocab_size_out = (")
    done = engine("submit-fix", cwd=opened, code=5)
    assert f"{HEAD}:" in done.stderr and "Traceback" not in done.stderr
    assert kinds(opened)[-1] != "submitted"
    assert engine_json("observe", cwd=opened, code=5)["error"]["exit_code"] == 5


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "code", ["raise SystemExit(0)", "import os; os._exit(0)", "1 / 0", "import nosuchmodule",
             "import sys; sys.stdout.write('PASSED ' * 9)"]
)  # fmt: skip
def test_code_that_ends_early_is_no_fix(opened: Path, code: str) -> None:
    """Leaving, raising or printing while imported is refused in words, and keeps the break open."""
    edit(opened / "practice" / LOUD, HEAD, "class LMHead", f"{code}\n\n\nclass LMHead")
    with contextlib.suppress(LearnerCodeError):
        assert not submit_fix.run(session(opened)).passed
    assert session(opened).open_break().exercise == LOUD


PROPERTY = (
    "\n    @property\n    def vocab_size_out(self):\n        return self.embedding.vocab_size\n"
)
RIGHT = {
    "as it was": HEALTHY,
    "from the shape": "self.vocab_size_out = embedding.weight.shape[0]",
    "from the data": "self.vocab_size_out = len(embedding.weight.data)",
    "a property": PROPERTY,
    "a step on the way": "n, _ = embedding.weight.shape\n        self.vocab_size_out = int(n)",
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("new", RIGHT.values(), ids=RIGHT.keys())
def test_any_right_fix_is_accepted(opened: Path, new: str) -> None:
    """How it is written is nobody's business: it closes the exercise."""
    mend(opened, new)
    report = submit_fix.run(session(opened), right_cause)
    assert report.passed and report.reveal is not None
    assert report.restored is (new == HEALTHY)
    assert kinds(opened)[-3:] == ["submitted", "caused", "closed"]


def test_a_new_file_may_be_part_of_a_fix(opened: Path) -> None:
    """A helper module that the learner adds is judged with the rest, and is in the diff."""
    practice = opened / "practice" / LOUD
    (practice / "src/minimodel/nn/sizes.py").write_text("def rows(e):\n    return e.vocab_size\n")
    edit(
        practice,
        HEAD,
        "import numpy as np",
        "import numpy as np\n\nfrom minimodel.nn.sizes import rows",
    )
    mend(opened, "self.vocab_size_out = rows(embedding)")
    report = submit_fix.run(session(opened), right_cause)
    assert report.passed
    assert "+++ b/src/minimodel/nn/sizes.py" in report.diff
    assert {path for path, _ in report.graded} == {HEAD, "src/minimodel/nn/sizes.py"}


def test_a_right_fix_is_revealed_and_closed(opened: Path, answers: Path) -> None:
    """Exit code 0: cause, both diffs, why, what is next; the entry in the notes is complete."""
    mend(opened, RIGHT["from the shape"])
    model = listing(opened / "src")
    done = engine("submit-fix", "--answers", answers, cwd=opened, code=0)
    told = " ".join(done.stdout.split())
    spec = session(opened).catalogue.break_(LOUD)
    for text in (spec.hidden_cause["en"], spec.why["en"], spec.next["en"]):
        assert " ".join(text.split()) in told
    assert HEALTHY in told and RIGHT["from the shape"] in told and "That was the cause" in told
    notes = (opened / NOTES).read_text()
    assert f"+        {RIGHT['from the shape']}" in notes and spec.hidden_cause["en"] in notes
    assert listing(opened / "src") == model
    for words in (["submit-fix"], ["observe"], ["reset"]):
        assert "No break is open" in engine(*words, cwd=opened, code=4).stderr


def test_without_an_answer_to_the_cause_the_fix_counts_all_the_same(opened: Path) -> None:
    """Nobody there to be asked: right is right, and no cause is recorded."""
    mend(opened)
    report = engine_json("submit-fix", cwd=opened)
    assert report["passed"] and report["reveal"]["cause"] is None
    assert "caused" not in kinds(opened)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("given", ["nonsense, confidence: 90", "width, confidence: 20"])
def test_a_cause_that_does_not_fit_keeps_the_break_open(
    opened: Path, answers: Path, given: str
) -> None:
    """An impossible answer is refused with exit code 2; the fix can be submitted again."""
    mend(opened)
    answers.write_text(f"cause: {{answer: {given}}}\n")
    engine("submit-fix", "--answers", answers, cwd=opened, code=2)
    assert session(opened).open_break().exercise == LOUD
    engine("submit-fix", cwd=opened, code=0)


def test_a_wrong_cause_is_explained(opened: Path) -> None:
    """A right fix with a wrong explanation is closed, and the explanation is put right."""
    mend(opened)
    report = submit_fix.run(session(opened), lambda q, o: Answer("cause", "transpose", 60))
    assert report.passed and report.reveal is not None and report.reveal.cause is not None
    assert report.reveal.cause.right is False
    assert "inside the head" in report.reveal.cause.because
    assert "wrong" in (opened / NOTES).read_text().split("My answer to the cause")[1]


def test_a_person_is_asked_for_the_cause(opened: Path) -> None:
    """At a terminal the four mechanisms are asked, again when it does not fit, and then revealed."""
    mend(opened)
    with Terminal("submit-fix", cwd=opened) as terminal:
        told = terminal.expect("(1 to 4): ")
        options = [
            line for line in told.splitlines() if line.strip()[:2] in ("1.", "2.", "3.", "4.")
        ]
        assert len(options) == 4
        for wrong in ("5", "x", "²"):
            terminal.send(wrong)
            terminal.expect("(1 to 4): ")
        right = next(line for line in options if "does not take from the embedding" in line)
        terminal.send(right.strip()[0])
        terminal.expect("guess): ")
        terminal.send("20")
        terminal.expect("guess): ")
        terminal.send("90")
        terminal.expect("That was the cause")
        assert terminal.end() == 0
    assert kinds(opened)[-1] == "closed"


def test_the_cause_can_wait(opened: Path) -> None:
    """Enter leaves the break open, as Ctrl-C does, and says what asks again."""
    mend(opened)
    with Terminal("submit-fix", cwd=opened) as terminal:
        terminal.expect("Enter leaves it for later")
        terminal.expect("(1 to 4): ")
        terminal.send("")
        terminal.expect("stays open")
        terminal.expect("engine submit-fix")
        assert terminal.end() == NotApplicable.exit_code
    assert kinds(opened)[-1] == "submitted"
    engine("submit-fix", cwd=opened, code=0)


def test_ctrl_c_at_the_cause_keeps_the_break_open(opened: Path) -> None:
    """Interrupted before the reveal: exit code 130, notes as they were, and it can be closed later."""
    mend(opened)
    before = (opened / NOTES).read_bytes()
    with Terminal("submit-fix", cwd=opened) as terminal:
        terminal.expect("(1 to 4): ")
        terminal.press(b"\x03")
        assert terminal.end() == 130
    assert (opened / NOTES).read_bytes() == before
    assert session(opened).open_break().exercise == LOUD
    engine("submit-fix", cwd=opened, code=0)


def test_a_practice_copy_that_is_gone_can_be_put_aside(opened: Path) -> None:
    """Without the folder there is nothing to judge: exit code 4, and reset is the way on."""
    shutil.rmtree(opened / "practice")
    done = engine("submit-fix", cwd=opened, code=4)
    assert "engine reset" in done.stderr
    engine("reset", cwd=opened, code=0)
    assert kinds(opened)[-1] == "reset"


def test_a_history_that_is_gone_is_named(opened: Path) -> None:
    """Without the snapshot there is nothing to compare with: exit code 4, reset works."""
    shutil.rmtree(opened / ".engine" / "history.git")
    done = engine("submit-fix", cwd=opened, code=4)
    assert "history.git" in done.stderr and "engine reset" in done.stderr
    engine("reset", cwd=opened, code=0)


def test_the_fix_is_judged_and_not_the_model(opened: Path) -> None:
    """What the learner does to their own model meanwhile changes nothing about the fix."""
    (opened / HEAD).write_text("raise RuntimeError('rewriting this')\n")
    mend(opened)
    assert submit_fix.run(session(opened), right_cause).passed


def test_submit_takes_what_is_open(opened: Path, answers: Path) -> None:
    """`engine submit` is submit-fix while a break is open, and submit-build after."""
    engine("submit", cwd=opened, code=1)
    mend(opened)
    assert engine_json("submit", "--answers", answers, cwd=opened)["exercise"] == LOUD
    assert engine_json("submit", cwd=opened)["exercise"] == "tensor"


def test_the_silenced_form_goes_the_whole_way(closed: Path, tmp_path: Path) -> None:
    """The second exercise of the path: broken, half a fix refused, the whole fix accepted."""
    file = tmp_path / "answers.yaml"
    file.write_text(SILENCED_ANSWERS)
    answers = answer_file(file)
    own = session(closed).model_files()
    report = break_.run(
        session(closed), SILENCED, lambda opening: answers.predictions(opening.predictions)
    )
    practice = Path(report.practice)
    assert [one.right for one in report.observed.scored] == [True, True, True]
    assert "[..., : self.vocab_size_out]" in (practice / HEAD).read_text()
    edit(practice, HEAD, "[..., : self.vocab_size_out]", "")
    half = submit_fix.run(session(closed))
    (practice / HEAD).write_bytes(own[HEAD])
    whole = submit_fix.run(session(closed), lambda *_: Answer("cause", "narrow", 90))
    assert not half.passed and half.reveal is None
    assert whole.passed and whole.reveal is not None
