"""What a person types at a prompt, or writes into a file of answers, and what comes of it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from workbench import LOUD, Terminal, engine, kinds, lay_model, session

from engine.cli import ask
from engine.errors import UsageError
from engine.flows import questions
from engine.flows.answers import checked, checked_answer, lowest, question_of
from engine.flows.numbers import names_in, number_in, written
from engine.flows.questions import Answered, Asked, Reply, acceptable, checked_grade
from engine.report.pages import answered
from engine.report.paper import console
from engine.spec.types import Option, Prediction, Question, Range

OPTIONS = tuple(
    Option(id=f"o{i}", text={"en": f"option {i}", "es": f"opción {i}"}) for i in range(5)
)
CHOICE = Prediction(id="where", kind="choice", ask={"en": "Where?"}, options=OPTIONS)
NUMBER = Prediction(
    id="loss", kind="number", ask={"en": "d_model = 64, V = 50,000. How much?"}, unit="nats", tolerance=0.05
)  # fmt: skip


@pytest.mark.parametrize(("count", "low"), [(5, 20), (4, 25), (3, 33), (2, 50), (0, 0)])
def test_the_lowest_confidence_is_that_of_a_guess(count: int, low: int) -> None:
    assert lowest(OPTIONS[:count]) == low


def test_somebody_who_guesses_among_five_may_say_so() -> None:
    assert checked(CHOICE, "2", 20).confidence == 20
    with pytest.raises(UsageError, match="between 20"):
        checked(CHOICE, "2", 19)


@pytest.mark.parametrize(
    ("typed", "lang", "number"),
    [
        ("3,0", "es", 3.0), ("3.5", "es", 3.5), ("12,5 * 2", "es", 25.0), ("12.288.000", "es", 12_288_000),
        ("12 288 000", "es", 12_288_000), ("1,000 * 2", "en", 2000.0), ("log(V)", "en", 10.8198),
        ("2 * d_model", "es", 128.0), ("V*d_model", "en", 3_200_000), ("1e-3", "en", 1e-3),
        ("-2^3", "en", -8),
    ],
)  # fmt: skip
def test_a_prediction_takes_numbers_and_formulas_as_people_write_them(
    typed: str, lang: str, number: float
) -> None:
    assert checked_answer(NUMBER, typed, lang) == pytest.approx(number, rel=1e-5)


@pytest.mark.parametrize("raw", [True, "true", "3,0", "nan", "inf", "", None, [3]])
def test_what_is_no_number_is_refused(raw: object) -> None:
    """`true` in a file is not 1."""
    with pytest.raises(UsageError, match="is needed here"):
        checked_answer(NUMBER, raw, "en")


def test_the_tolerance_is_said_with_the_question() -> None:
    assert question_of(NUMBER, "en").endswith("How much? [nats, ± 0.05]")
    assert question_of(NUMBER, "es").endswith("[nats, ± 0,05]")
    assert question_of(CHOICE, "en") == "Where?"


def test_names_of_a_text_are_those_that_it_gives_a_number_by() -> None:
    text = "T = 8, d_model is 64, d_ff = 4 * 64, the width d is 8², V = 50,000, and lr = 0.125."
    spanish = "T = 8, d_ff = 4 · 64, V = 50 000, lr = 0,125, e i es 3."
    assert names_in({"en": text}) == {"T": 8, "d_model": 64, "V": 50_000, "lr": 0.125}
    assert names_in({"es": spanish}) == {"T": 8, "V": 50_000, "lr": 0.125, "i": 3}


@pytest.mark.parametrize(
    ("number", "lang", "text"),
    [(12288000, "en", "12,288,000"), (12288000, "es", "12\u00a0288\u00a0000"), (3.25, "es", "3,25"), (7, "es", "7")],
)  # fmt: skip
def test_numbers_are_written_as_the_language_does(number: float, lang: str, text: str) -> None:
    assert written(number, lang) == text
    assert number_in(text, {}, "here", lang) == number


@pytest.mark.parametrize(
    ("typed", "grade"),
    [("y", "yes"), ("Sí", "yes"), ("si", "yes"), ("p", "partly"), ("en parte", "partly"), ("N", "no"), ("no", "no")],
)  # fmt: skip
def test_a_grade_is_taken_in_either_language_and_as_a_letter(typed: str, grade: str) -> None:
    assert checked_grade(typed, "here") == grade


QUESTION = Question(
    id="n", kind="number", ask={"en": "V = {V} and d_model = {d}?"}, answer="V * d",
    given={"V": Range(low=512, high=512), "d": Range(low=64, high=64)}, because={"en": "{answer}", "es": "{answer}"},
)  # fmt: skip


def test_a_question_takes_a_formula_in_the_names_of_its_text() -> None:
    asked = Asked("n", "number", "V = 512 and d_model = 64?", "", (), {"V": 512, "d": 64}, "")
    assert acceptable(asked, "V*d_model") == "V*d_model"
    found = questions.judged(QUESTION, asked, Reply("V*d_model"), "en")
    assert found.right and found.shown == "V*d_model = 32,768"
    assert questions.judged(QUESTION, asked, Reply("32768,0"), "es").right


def told(one: Answered, monkeypatch: pytest.MonkeyPatch) -> str:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    answered(console(), one)
    return stream.getvalue()


def test_feedback_shows_what_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = Answered("q", "Why?", "o2", False, "Because.", "option 2")
    assert "Wrong: option 2" in told(chosen, monkeypatch)


def test_partly_comes_back_as_partly(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Question(id="w", kind="words", ask={"en": "Why?"}, model_answer={"en": "So."})
    asked = Asked("w", "words", "Why?", "", (), {}, "So.")
    one = questions.judged(spec, asked, Reply("It is.", "partly"), "en")
    text = told(one, monkeypatch)
    assert "Partly: It is." in text and "Wrong" not in text


BAD = {
    "predictions: {where: {answer: logits, confidence: 70}}": "'rows'",
    "prediction: {}": "none of its keys",
    "predictions:\n  where: {answer: logits, confidence: 70}\n  rows: {answer: true, confidence: 80}\n  message: {answer: x, confidence: 60}\n": "A number is needed",
    "predictions:\n  where: {answer: logits, confidence: 70}\n  rows: {answer: 32, confidence: 80}\n  message: {answer: x, confidence: 60}\ncause: {answer: nonsense, confidence: 90}\n": "none of the options",
}


@pytest.mark.parametrize(("text", "said"), BAD.items(), ids=["missing", "key", "true", "cause"])
def test_a_file_of_answers_is_read_whole_before_anything_is_looked_for(
    home: Path, text: str, said: str
) -> None:
    """The model would be refused, too: what comes first is the file."""
    (home / "src/minimodel/nn/lm_head.py").write_text("raise RuntimeError\n")
    (home / "answers.yaml").write_text(text)
    done = engine("break", LOUD, "--answers", "answers.yaml", cwd=home, code=2)
    assert said in done.stderr and kinds(home) == []


@pytest.mark.parametrize("columns", [40, 80, 100])
def test_prompts_are_wrapped_at_words(home: Path, columns: int) -> None:
    """No line of a question, an option or a prompt is wider than the terminal."""
    with Terminal("break", LOUD, cwd=home, columns=columns) as terminal:
        for prompt, given in (
            ("to 5): ", "9"), ("to 5): ", "3"), ("guess): ", "10"), ("guess): ", "90"), ("answer: ", "32"),
            ("guess): ", "80"),
        ):  # fmt: skip
            terminal.expect(prompt)
            terminal.send(given)
        terminal.expect("What will")
        terminal.press(b"\x03")
        terminal.end()
        asked = terminal.text[terminal.text.index("Before you look") :]
    spec = session(home).catalogue.break_(LOUD)
    assert not [line for line in asked.splitlines() if len(line.rstrip()) > columns]
    flat = " ".join(asked.split())
    for option in spec.predictions[0].options:
        assert " ".join(option.text["en"].split()) in flat
    assert f"= {spec.predictions[0].options[2].text['en']}" in flat


def test_a_spanish_learner_is_asked_and_understood_in_spanish(home: Path) -> None:
    lay_model(home)
    settings = home / "learner.yaml"
    settings.write_text(settings.read_text().replace("lang: en", "lang: es"))
    with Terminal("submit-build", "embedding", cwd=home) as terminal:
        for prompt, given in (
            ("Tu respuesta: ", "V*d_model"), ("Tu respuesta: ", "2*V*d_model/10^6"),
            ("(de 1 a 3): ", "1"), ("Tu respuesta: ", "Es lineal."), ("(sí, en parte, no): ", "sí"),
        ):  # fmt: skip
            terminal.expect(prompt)
            terminal.send(given)
        assert terminal.end() == 0
    answers = session(home).latest("embedding").all("answered")
    assert [one["right"] for one in answers if one["kind"] == "number"] == [True, True]
    assert answers[-1]["grade"] == "yes"


def test_the_terminal_asks_only_where_there_is_one() -> None:
    assert not ask.interactive()
