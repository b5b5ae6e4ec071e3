"""What a learner is shown, and how predictions are scored."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.observe.diagnostics import evaluate, measured, observe
from engine.observe.score import brier, calibration, is_right
from engine.run.types import Frame, Outcome, Raised
from engine.spec.types import Prediction


@pytest.mark.parametrize(
    ("text", "value"), [("log(512)", math.log(512)), ("2 * 8 / 4", 4), ("-sqrt(16) + 2**3", 4)]
)
def test_simple_arithmetic_is_computed(text, value):
    """Orientation lines are computed, not copied."""
    assert evaluate(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["__import__('os')", "log", "log(1, 2)", "(1).real", "1 / 0", "x", "'a'", ""]
)
def test_anything_more_than_arithmetic_is_refused(text):
    """A spec cannot run code in the engine's process."""
    with pytest.raises(ValueError):
        evaluate(text)


def test_shapes_are_shown_side_by_side_and_frames_are_the_learners_own():
    """Rows that differ are marked, and frames of the pack are left out."""
    healthy = Outcome(values={"logits": np.zeros((2, 3)), "loss": 1.5, "grad_w": np.ones(4)})
    raised = Raised(
        "ValueError",
        ("ValueError",),
        "no",
        (Frame("pack/x/call.py", 1, "f", ""), Frame("src/a.py", 7, "g", "boom")),
    )
    broken = Outcome(values={"logits": np.zeros((6,))}, raised=raised)
    seen = observe("t", healthy, broken, curve="", orientation={"np.log(2)": "log(2)"})
    assert [(r.healthy, r.broken, r.differs) for r in seen.shapes] == [("(2, 3)", "(6,)", True)]
    assert [(r.name, r.healthy, r.broken) for r in seen.norms] == [("grad_w", "2", "-")]
    assert seen.traceback == ("src/a.py:7 in g: boom",)
    assert seen.error == "ValueError: no"


def test_what_a_prediction_is_compared_with():
    """A recorded value, the exception's type, or the last thing that was recorded."""
    outcome = Outcome(values={"rows": 32, "loss": np.asarray(5.5)}, raised=Raised("ValueError"))
    assert measured(outcome, "rows") == 32.0
    assert measured(outcome, "loss") == 5.5
    assert measured(outcome, "raised") == "ValueError"
    assert measured(outcome, "last") == "loss"
    assert measured(outcome, "trend") == "none"
    assert measured(Outcome(values={"a": 1}), "raised") == "none"


@pytest.mark.parametrize(("answer", "right"), [(5.55, True), (5.65, False), (5.45, False)])
def test_a_number_is_right_within_its_tolerance(answer, right):
    """The tolerance is the prediction's own."""
    prediction = Prediction(id="l", kind="number", ask={}, tolerance=0.05)
    assert is_right(prediction, answer, 5.544) is right


def test_a_text_is_left_to_the_learner():
    """No keyword decides."""
    assert is_right(Prediction(id="t", kind="text", ask={}), "anything", None) is None


def test_brier_score_and_calibration():
    """Sure and right is 0, a coin toss is 0.25, sure and wrong is 1."""
    assert brier([(100, True)]) == 0
    assert brier([(50, True), (50, False)]) == pytest.approx(0.25)
    assert brier([(100, False)]) == 1
    assert brier([]) is None
    bins = calibration([(55, True), (58, False), (100, True)])
    assert [(b.low, b.high, b.count, b.right) for b in bins] == [(50, 60, 2, 1), (90, 100, 1, 1)]
