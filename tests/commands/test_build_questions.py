"""After a passing build: questions, whose answers are computed, chosen, or judged by oneself."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from workbench import GRACE, command, engine, engine_json, environment, kinds, session

from engine.cli.submissions import answer_file
from engine.commands import questions as asking
from engine.commands import status, submit_build
from engine.errors import UsageError
from engine.flows import questions
from engine.flows.numbers import number_in
from engine.flows.questions import Asked, Reply
from engine.learner.store import alone
from engine.spec.types import Option, Question, Range

RIGHT = {
    "parameters": Reply("V * d"),
    "half-precision": Reply("2 * V * d / 10**6"),
    "one-hot": Reply("work"),
    "own-words": Reply("Linear in the table.", "yes"),
}
CHANCE = random.SystemRandom()
TEXT = {"en": "?", "es": "?"}
NUMBER = Question(
    id="n", kind="number", ask={"en": "{V} by {d}?"}, answer="V * d",
    given={"V": Range(low=10_000, high=20_000, step=1000), "d": Range(low=3, high=5)},
    because={"en": "{answer}"},
)  # fmt: skip
BUILDS = "phase-13/notes/builds.md"


def replies(given: dict[str, Reply]):
    """An Ask that knows some answers."""
    return lambda asked: given.get(asked.id)


def test_each_time_the_numbers_are_others_and_stay_in_their_ranges() -> None:
    seen = {tuple(questions.drawn(NUMBER, "en", CHANCE).drawn.values()) for _ in range(60)}
    assert len(seen) > 5
    assert all(V in range(10_000, 20_001, 1000) and 3 <= d <= 5 for V, d in seen)
    asked = questions.drawn(NUMBER, "en", CHANCE)
    assert asked.ask == f"{asked.drawn['V']:,} by {asked.drawn['d']}?"


@pytest.mark.parametrize(
    ("answer", "right"),
    [("V * d", True), ("{product}", True), ("{product:,}", True), ("{near}", True), ("{far}", False), ("V + d", False)],
)  # fmt: skip
def test_a_number_is_right_within_its_tolerance_and_may_be_a_formula(
    answer: str, right: bool
) -> None:
    asked = questions.drawn(NUMBER, "en", CHANCE)
    product = asked.drawn["V"] * asked.drawn["d"]
    text = answer.format(product=product, near=product * 1.004, far=product * 1.006)
    found = questions.judged(NUMBER, asked, Reply(text), "en")
    assert found.right is right
    assert found.because == f"{product:,}"


def test_what_is_no_number_says_so() -> None:
    asked = questions.drawn(NUMBER, "en", CHANCE)
    with pytest.raises(UsageError, match="A number or a formula"):
        questions.judged(NUMBER, asked, Reply("many"), "en")


def test_right_answers_close_their_questions_and_wrong_ones_stay_open(home: Path) -> None:
    wrong = {**RIGHT, "one-hot": Reply("rounding"), "own-words": Reply("No idea.", "no")}
    first = submit_build.run(session(home), "embedding", replies(wrong))
    assert first.passed
    assert [one.id for one in first.questions if not one.right] == ["one-hot", "own-words"]
    assert "exactly" in first.questions[2].because  # why the wrong choice is wrong
    assert first.open_questions == 2
    assert status.run(session(home)).open_questions == (("embedding", 2),)
    second = submit_build.run(session(home), "embedding", replies(RIGHT))
    assert [one.id for one in second.questions] == ["one-hot", "own-words"]
    assert second.open_questions == 0
    assert status.run(session(home)).open_questions == ()


def test_own_words_are_kept_with_the_model_answer_beside_them(home: Path) -> None:
    submit_build.run(session(home), "embedding", replies(RIGHT))
    kept = (home / BUILDS).read_text()
    assert "Linear in the table." in kept and "I had it" in kept
    spec = session(home).catalogue.build("embedding")
    assert spec.questions[3].model_answer["en"][:60] in kept


def test_nobody_is_asked_where_the_build_fails(home: Path) -> None:
    file = home / "src/minimodel/nn/embedding.py"
    file.write_text(file.read_text().replace("0.02", "0.5"))
    report = submit_build.run(session(home), "embedding", lambda _: pytest.fail("asked"))
    assert not report.passed and report.questions == ()


def test_without_a_terminal_it_passes_and_the_questions_stay_open(home: Path) -> None:
    report = engine_json("submit-build", "embedding", cwd=home)
    assert report["passed"] and report["questions"] == [] and report["open_questions"] == 4
    assert "Questions about embedding" in engine("status", cwd=home).stdout


def test_answers_come_from_a_file(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text(
        "questions:\n  parameters: {answer: V*d}\n  one-hot: {answer: 1}\n"
        "  own-words: {answer: It is linear., grade: partly}\n"
    )
    report = engine_json("submit-build", "embedding", "--answers", file, cwd=home)
    assert [one["id"] for one in report["questions"]] == ["parameters", "one-hot", "own-words"]
    assert report["questions"][0]["right"] and not report["questions"][2]["right"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("questions: {one-hot: {answer: maybe}}", "none of the options"),
        ("questions: {own-words: {answer: x}}", "Type yes, partly or no"),
        ("questions: {parameters: {answer: lots}}", "A number or a formula"),
        ("questions: {parameters: 7}", "No answer to the question"),
    ],
)
def test_a_file_that_does_not_fit_says_where(
    home: Path, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text(text)
    done = engine("submit-build", "embedding", "--answers", file, cwd=home, code=2)
    assert said in done.stderr


SLIPS = {
    "is not known": Question(id="q", kind="number", ask=TEXT, answer="W", because=TEXT),
    "does not say why": Question(id="q", kind="number", ask=TEXT, answer="2"),
    "none of its options": Question(id="q", kind="choice", ask=TEXT, right="a"),
    "option 'a' does not say why": Question(
        id="q", kind="choice", ask=TEXT, right="a", options=(Option(id="a", text=TEXT),)
    ),
    "a text names {W}": Question(
        id="q", kind="number", ask={"en": "{W}?"}, answer="2", because={"en": "{answer}"}
    ),
    "no `model_answer`": Question(id="q", kind="words", ask=TEXT),
    "range of V is empty": Question(
        id="q", kind="number", ask=TEXT, answer="V", because=TEXT, given={"V": Range(low=2, high=1)}
    ),
}


@pytest.mark.parametrize(("said", "question"), SLIPS.items(), ids=SLIPS.keys())
def test_slips_of_an_author_are_reported(said: str, question: Question) -> None:
    assert any(said in slip for slip in questions.slips(question))


def test_a_number_in_a_file_counts_options_as_the_exercise_lists_them(
    home: Path, tmp_path: Path
) -> None:
    """They are shuffled where somebody is asked."""
    file = tmp_path / "answers.yaml"
    spec = session(home).catalogue.build("embedding")
    options = [option.id for option in spec.questions[2].options]
    for number, id in enumerate(options, 1):
        file.write_text(f"questions: {{one-hot: {{answer: {number}}}}}")
        ask = questions.written(answer_file(file), spec.questions)
        for _ in range(5):
            asked = questions.drawn(spec.questions[2], "en", CHANCE)
            assert ask(asked) == Reply(id)


def test_a_file_that_does_not_fit_costs_nothing(home: Path, tmp_path: Path) -> None:
    """It is read before anything is judged or recorded."""
    file = tmp_path / "answers.yaml"
    file.write_text("questions: {parameters: {answer: V * d}, own-word: {answer: x, grade: yes}}")
    done = engine("submit-build", "embedding", "--answers", file, cwd=home, code=2)
    assert "no question 'own-word'" in done.stderr and "own-words" in done.stderr
    assert kinds(home) == [] and done.stdout == ""


@pytest.mark.parametrize(
    ("text", "number"), [("12,288,000", 12_288_000), ("1,000 * 2", 2000), ("2^10", 1024)]
)
def test_numbers_are_read_as_people_write_them(text: str, number: float) -> None:
    assert number_in(text, {}, "here") == number


@pytest.mark.parametrize("text", ["12,5", "1,0000", "1,23"])
def test_a_decimal_comma_is_not_taken_for_thousands(text: str) -> None:
    with pytest.raises(UsageError, match="A number or a formula"):
        number_in(text, {}, "here")


def test_somebody_who_thinks_holds_nobody_up(home: Path) -> None:
    """A second terminal can work on the same learner meanwhile."""

    def think(asked: Asked) -> Reply:
        with alone(home / ".engine", patience=0):
            return RIGHT[asked.id]

    assert submit_build.run(session(home), "embedding", think).open_questions == 0


def test_answers_are_kept_even_where_the_next_one_is_interrupted(home: Path) -> None:
    def ask(asked: Asked) -> Reply:
        if asked.id == "one-hot":
            raise KeyboardInterrupt
        return RIGHT[asked.id]

    with pytest.raises(KeyboardInterrupt):
        submit_build.run(session(home), "embedding", ask)
    assert kinds(home) == ["built", "answered", "answered"]


def test_a_model_answer_of_several_paragraphs_is_quoted_whole(home: Path) -> None:
    asked = Asked("own-words", "words", "Why?", "", (), {}, "First.\n\nSecond.")
    asking._note(session(home), "embedding", 1, asked, Reply("So.", "partly"))
    assert "> First.\n>\n> Second.\n" in (home / BUILDS).read_text()


def test_a_reader_who_has_left_changes_no_verdict(home: Path) -> None:
    """`engine submit-build | head -1`: what comes after is judged and recorded all the same."""
    process = subprocess.Popen(
        command("submit-build", "attention"), cwd=home, env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith(b"ok: ")
    process.stdout.close()
    errors = process.stderr.read()
    process.wait(GRACE)
    assert b"Traceback" not in errors
    assert [data["passed"] for data in session(home).latest("attention").all("built")] == [True]


def test_what_it_stands_on_is_named_when_it_fails(home: Path) -> None:
    file = home / "src/minimodel/nn/lm_head.py"
    file.write_text(file.read_text().replace("return logits", "return logits * 2"))
    report = submit_build.run(session(home), "lm_head")
    assert not report.passed and report.first == ("embedding",)


def test_questions_are_asked_at_the_terminal(home: Path) -> None:
    from engine.cli import ask

    shown = Asked("q", "choice", "Which?", "", (("a", "A"), ("b", "B")), {}, "")
    assert questions.acceptable(shown, " 2 ") == "b"
    assert questions.acceptable(shown, "") == ""
    assert callable(ask.question("es"))
