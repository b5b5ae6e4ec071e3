"""The hints of a break: which ladder, and what is measured or known of this learner's code in their texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.flows.numbers import localized
from engine.spec.index import Summary, Text
from engine.spec.texts import said

NEW_CODE = ("graft", "rewrite", "append")  # ways of injection that edit nothing of the learner's
PLACE = re.compile(r"\{(file|symbol|(?:healthy|broken)\.[A-Za-z_][\w ]*)\}")


def ladder(summary: Summary, known: Mapping[str, Any], *, blind: bool) -> tuple[Text, ...]:
    """The hints of an exercise, from the vaguest to the line. known: of the bug in this learner's code."""
    hints = summary.blind if blind else summary.hints
    instead = summary.blind_grafted if blind else summary.grafted
    ways = str(known.get("how", "")).split("+")
    if not set(ways) & {*NEW_CODE}:
        return hints
    return tuple(instead.get(str(number), hint) for number, hint in enumerate(hints, 1))


def next_one(count: int, taken: Sequence[int], fitting: Sequence[int]) -> int | None:
    """The number, from 1, of the hint that comes now: the first of those that fit what has failed, else the
    first that was not taken; None when all were.
    """
    left = [number for number in (*fitting, *range(1, count + 1)) if number not in taken]
    return next(iter(left), None)


def values_told(text: str) -> set[str]:
    """The recorded numbers that a hint tells: "loss" of `{broken.loss}`."""
    return {found[1].partition(".")[2] for found in PLACE.finditer(text)} - {""}


def filled(text: Text, known: Mapping[str, Any], lang: str) -> str:
    """A hint in a language. `{file}` and `{symbol}` are where the bug is in this learner's code;
    `{healthy.loss}` and `{broken.loss}` a recorded number as it was shown. What stands in no class and no
    function is in the module.
    """
    symbol = known.get("symbol") or Path(str(known.get("file") or "")).stem
    values = {**known, "symbol": symbol}
    for name, pair in known.get("values", {}).items():
        for version, value in pair.items():
            values[f"{version}.{name}"] = localized(value, lang)
    return PLACE.sub(lambda found: str(values.get(found[1]) or found[1]), said(text, lang))
