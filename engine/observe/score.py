"""Predictions against what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from engine.spec.types import Prediction


class Scored(msgspec.Struct, frozen=True):
    """A prediction with its measurement. `right`: None where the learner judges for themself."""

    id: str
    ask: str
    predicted: str
    measured: str
    confidence: int
    right: bool | None


def is_right(
    prediction: Prediction, answer: str | float, measured: str | float | None
) -> bool | None:
    """Whether an answer is what was measured; None for a text, or where nothing was measured."""
    if prediction.kind == "text" or measured is None:
        return None
    if prediction.kind == "number":
        if not isinstance(measured, float) or not isinstance(answer, (int, float)):
            return False
        return abs(float(answer) - measured) <= (prediction.tolerance or 0.0)
    return str(answer) == str(measured)


def brier(scored: Iterable[tuple[int, bool]]) -> float | None:
    """The mean of (confidence - outcome)^2, confidence from 0 to 1; 0.25 is a coin toss."""
    parts = [(confidence / 100 - right) ** 2 for confidence, right in scored]
    return sum(parts) / len(parts) if parts else None


class Bin(msgspec.Struct, frozen=True):
    """Predictions of about the same confidence, in percent: how many, and how many were right."""

    low: int
    high: int
    count: int
    right: int


def calibration(
    scored: Sequence[tuple[int, bool]],
    edges: Sequence[int] = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 101),
) -> tuple[Bin, ...]:
    """Predictions by confidence; a calibrated person is right about as often as they say."""
    bins = []
    for low, high in zip(edges, edges[1:], strict=False):
        inside = [right for confidence, right in scored if low <= confidence < high]
        if inside:
            bins.append(Bin(low, min(high, 100), len(inside), sum(inside)))
    return tuple(bins)
