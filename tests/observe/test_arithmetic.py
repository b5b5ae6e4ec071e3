"""Little arithmetic: what it computes, and that it computes nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from engine.observe.arithmetic import evaluate

NAMES = {
    "V": 50_000.0, "d": 64.0, "healthy.loss": [4.0, 2.0, 1.0], "broken.norms": {"list": [1.0, 10.0]},
    "broken.y": np.arange(6.0).reshape(2, 3),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7.0),
        ("2 ** -1", 0.5),
        ("-(V - d)", -49_936.0),
        ("2 * V * d / 10**6", 6.4),
        ("log(exp(2))", 2.0),
        ("ln(exp(3))", 3.0),
        ("healthy.loss[-1]", 1.0),
        ("min(healthy.loss[:-1]) / max(healthy.loss)", 0.5),
        ("sum(broken.norms)", 11.0),
        ("broken.y[1, 2] - mean(broken.y)", 2.5),
        ("len(healthy.loss)", 3.0),
        ("norm(broken.norms[:1])", 1.0),
    ],
)
def test_it_computes_numbers_names_and_parts(text: str, value: float) -> None:
    assert evaluate(text, NAMES) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "V.real", "__import__('os')", "open('/etc/passwd')", "[1, 2]", "'a' * 9", "V if V else 0",
        "healthy.loss", "healthy.loss[7]", "1 / 0", "9 ** 9 ** 9", "(lambda: 1)()", "min(1, 2)", "max(default=1)",
        "sin(1)", "-" * 5_000 + "1", "(" * 300 + "1" + ")" * 300, "V; d", "True",
    ],
)  # fmt: skip
def test_anything_else_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        evaluate(text, NAMES)
