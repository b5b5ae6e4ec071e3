"""Healthy and broken side by side: what was measured, in a form that can be shown and kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import stopped
from engine.judge.shown import shape_text, show
from engine.observe.arithmetic import evaluate
from engine.run.types import Outcome, Raised

CURVE_POINTS = 200  # of a curve, at most


class Row(msgspec.Struct, frozen=True):
    """One recorded value, healthy, broken and, where the practice copy was edited, now: a shape, or a
    number. `differs`: whether the latest is another one than the healthy one. `label`: what it is called
    where its name does not tell it.
    """

    name: str
    healthy: Said
    broken: Said
    differs: bool
    now: Said | None = None
    label: Said = ""


class Observation(msgspec.Struct, frozen=True):
    """What one probe measured on both versions, and on what became of the broken one (`now_curve`, and
    `now` of each row), where it was edited. `error` and `traceback`: of the latest.
    """

    title: str
    shapes: tuple[Row, ...]
    numbers: tuple[Row, ...]
    norms: tuple[Row, ...]
    healthy_curve: tuple[float, ...]
    broken_curve: tuple[float, ...]
    curve: str
    orientation: tuple[tuple[str, float], ...]
    error: Said
    healthy_error: Said
    traceback: tuple[str, ...]
    output: str
    now_curve: tuple[float, ...] = ()
    broken_error: Said = ""
    edited: bool = False
    unit: str = ""  # of the curve
    along: str = ""  # what is counted along it


def observe(
    title: str,
    healthy: Outcome,
    broken: Outcome,
    now: Outcome | None = None,
    *,
    curve: str,
    axes: tuple[str, str] = ("", ""),
    orientation: Mapping[str, str],
) -> Observation:
    """Put two outcomes of one probe side by side, and a third, where there is one. axes: the unit of the
    curve, and what is counted along it.
    """
    outcomes = [healthy, broken, *([] if now is None else [now])]
    latest = outcomes[-1]
    names = list(dict.fromkeys(name for outcome in outcomes for name in outcome.values))
    shapes, numbers, norms = [], [], []
    for name in names:
        values = [outcome.values.get(name) for outcome in outcomes]
        if any(isinstance(value, np.ndarray) for value in values):
            if name.startswith("grad"):
                norms.append(_row(name, map(_norm, values)))
            else:
                shapes.append(_row(name, map(_shape, values)))
        elif any(isinstance(value, dict) for value in values):
            if name != curve:
                numbers.append(_row(name, map(_ends, values)))
        else:
            numbers.append(_row(name, map(_plain, values)))
    return Observation(
        title,
        tuple(shapes),
        tuple(numbers),
        tuple(norms),
        _curve(healthy, curve),
        _curve(broken, curve),
        curve,
        tuple((label, evaluate(text)) for label, text in orientation.items()),
        _error(latest),
        _error(healthy),
        traceback(latest.raised),
        latest.output,
        () if now is None else _curve(now, curve),
        _error(broken),
        now is not None,
        *axes,
    )


def traceback(raised: Raised | None) -> tuple[str, ...]:
    """The frames of the learner's own files, outermost first."""
    if raised is None:
        return ()
    return tuple(frame.told for frame in raised.frames if not frame.path.startswith("pack/"))


def measured(outcome: Outcome, value: str) -> str | float | None:
    """What a prediction is compared with; None when it was not measured."""
    if value == "raised":
        return outcome.raised.type if outcome.raised else "none"
    if value == "last":
        return list(outcome.values)[-1] if outcome.values else "nothing"
    found = outcome.values.get(value)
    if found is None and (outcome.raised or outcome.stopped):
        return "none"
    if isinstance(found, (np.ndarray, np.generic)):
        found = found.item() if found.size == 1 else None
    if isinstance(found, bool) or found is None:
        return None if found is None else str(found)
    return float(found) if isinstance(found, (int, float)) else str(found)


def _row(name: str, shown: Iterable[Said]) -> Row:
    healthy, broken, *now = shown
    return Row(name, healthy, broken, healthy != (now or [broken])[0], now[0] if now else None)


def _shape(value: Any) -> str:
    return shape_text(value.shape) if isinstance(value, np.ndarray) else "-"


def _norm(value: Any) -> Said:
    if not isinstance(value, np.ndarray):
        return "-"
    norm = float(np.sqrt((np.asarray(value, dtype=np.float64) ** 2).sum()))
    return Message("{number:.4g}", number=norm)


def _ends(value: Any) -> Said:
    """A recorded list as its first and last item."""
    items = value.get("list", ()) if isinstance(value, dict) else ()
    if not items:
        return "-"
    return Message("{first} to {last}", first=show(items[0]), last=show(items[-1]))


def _plain(value: Any) -> Said:
    return "-" if value is None else show(value)


def _curve(outcome: Outcome, name: str) -> tuple[float, ...]:
    found = outcome.values.get(name)
    if isinstance(found, dict):
        found = found.get("list")
    if not isinstance(found, (list, np.ndarray)):
        return ()
    return tuple(float(x) for x in found[:CURVE_POINTS])


def _error(outcome: Outcome) -> Said:
    if outcome.raised:
        return f"{outcome.raised.type}: {outcome.raised.message}"
    if outcome.stopped:
        return Message("no answer: {why}", why=stopped(outcome))
    return ""
