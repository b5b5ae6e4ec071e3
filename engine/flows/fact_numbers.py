"""What a script shows of a draw: two numbers of each vector, and how far they may lie apart."""

from __future__ import annotations

import math
import pprint
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.facts.compared import Given
from engine.judge.torch_compare import FLOOR, TIMES

Pairs = dict[str, list[float]]


IGNORED = "some targets -1"


def pairs(given: Given) -> Pairs:
    """Two numbers of each vector of a draw, by the names that the script gives to them."""
    found: Pairs = {}
    for (kind, name), array in given.values.items():
        if kind == "gradient":
            found[f"gradient of {name}"] = two(array)
        elif kind == "loss" and name != "loss":
            found[f"loss, {IGNORED}"] = [float(array.reshape(-1)[0]), 0.0]
        elif kind == "loss" or array.size == 1:
            where = "logits after a step" if kind == "update" else "logits"
            found[f"loss, {where}"] = [float(array.reshape(-1)[0]), 0.0]
        else:
            where = "logits after a step" if kind == "update" else name
            for index in np.ndindex(array.shape[:-1]):
                found[f"{where} {[*index]}"] = two(array[index])
    return found


def two(vector: Any) -> list[float]:
    """As the script does it."""
    flat = vector.reshape(-1)
    return [float(np.linalg.norm(flat)), float(flat @ np.linspace(-1, 1, len(flat)))]


def scored(given: Given) -> bool:
    return ("output", "logits without targets") in given.values


def allowed(given: Given, exact: Given, kinds: tuple[str, ...]) -> float:
    """What numbers may differ by: ten times of what rounding changes, as the judge allows."""
    wanted, other = (
        pairs(Given(None, {key: value for key, value in one.values.items() if key[0] in kinds}))
        for one in (given, exact)
    )
    apart = [
        math.dist(wanted[name], other[name]) / max(map(abs, [*wanted[name], 1e-9]))
        for name in wanted.keys() & other.keys()
    ]
    return max(FLOOR[kinds[0]], TIMES * max(apart, default=0.0))


def literal(wanted: Mapping[str, list[float]]) -> str:
    """Numbers as the script holds them."""
    short = {name: [float(f"{n:.7g}") for n in numbers] for name, numbers in wanted.items()}
    return "\nwanted = " + pprint.pformat(short, width=100, sort_dicts=False) + "\n"
