"""By which number two results differ, and what that number is: a size, a setting, a root of one.

A name is told only where the same formula gives the factor in every measurement that shows one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import Tolerance, within

NAMES = 40  # of what is known about a measurement, the first
LEAST = 1e-3  # what 1 minus it is told apart from 1
FEW = 12  # of its numbers, of which two are taken together
FEWEST = 3  # values that a pattern has to explain
SMALL = 1e-3  # a relative difference below this is no other formula, but something small
Known = Mapping[str, np.ndarray]  # inputs, and what the reference names on its way


class Pair(NamedTuple):
    """One value of one measurement: what was expected, what came, and what is known beside it."""

    wanted: np.ndarray
    given: np.ndarray
    known: Known


def formulas(known: Known) -> Iterator[tuple[str, float]]:
    """Numbers that a factor may be, each as NumPy would write it; the plainest first.

    known: arrays and numbers by name.
    """
    plain = {**_scalars(known), **_sizes(known)}
    for form in FORMS:
        for name, n in plain.items():
            yield from _made(form, name, n)
    yield from _shares(known)
    for one, a in list(_scalars(known).items())[:FEW]:
        for other, b in list(_scalars(known).items())[:FEW]:
            if one != other and b:
                yield f"{one} / {other}", a / b
            if one != other and LEAST < a < 1 and LEAST < b < 1:
                yield f"(1 - {one}) / sqrt(1 - {other})", (1 - a) / math.sqrt(1 - b)
                yield f"sqrt((1 - {one}) / (1 - {other}))", math.sqrt((1 - a) / (1 - b))


def _scalars(known: Known) -> dict[str, float]:
    return {name: float(a) for name, a in known.items() if not a.ndim and a.dtype.kind in "fiu"}


def _sizes(known: Known) -> dict[str, float]:
    """The sizes of arrays, and of their axes counted from the last."""
    found = {}
    for name, a in known.items():
        for axis in range(a.ndim if a.ndim > 1 else 0):
            found[f"{name}.shape[{axis - a.ndim}]"] = float(a.shape[axis])
        if a.ndim:
            found[f"{name}.size"] = float(a.size)
    return found


def _shares(known: Known) -> Iterator[tuple[str, float]]:
    """How large a part of some ids are not a certain one, and of a mask is True."""
    for name, a in known.items():
        if not a.ndim or a.dtype.kind not in "iub":
            continue
        kept = {f"({name} != {other})": a != b for other, b in known.items() if _one_id(b)}
        kept |= {name: a} if a.dtype.kind == "b" else {}
        for label, those in kept.items():
            if those.any():
                yield f"{label}.mean()", float(those.mean())
                yield f"1 / {label}.mean()", 1 / float(those.mean())
                yield f"{label}.sum()", float(those.sum())
                yield f"1 / {label}.sum()", 1 / float(those.sum())


def _one_id(value: np.ndarray) -> bool:
    return not value.ndim and value.dtype.kind in "iu"


FORMS: Mapping[str, Callable[[float], float]] = {
    "{0}": lambda n: n,
    "1 / {0}": lambda n: 1 / n,
    "sqrt({0})": math.sqrt,
    "1 / sqrt({0})": lambda n: 1 / math.sqrt(n),
    "1 - {0}": lambda n: 1 - n,
    "{0} - 1": lambda n: n - 1,
    "1 / (1 - {0})": lambda n: 1 / (1 - n),
    "sqrt(1 - {0})": lambda n: math.sqrt(1 - n),
    "1 / sqrt(1 - {0})": lambda n: 1 / math.sqrt(1 - n),
    "{0}**2": lambda n: n * n,
    "1 / {0}**2": lambda n: 1 / (n * n),
    "({0} - 1) / {0}": lambda n: (n - 1) / n,
    "{0} / ({0} - 1)": lambda n: n / (n - 1),
    "sqrt(({0} - 1) / {0})": lambda n: math.sqrt((n - 1) / n),
    "sqrt({0} / ({0} - 1))": lambda n: math.sqrt(n / (n - 1)),
}


def _made(form: str, name: str, n: float) -> Iterator[tuple[str, float]]:
    try:
        yield form.format(name), FORMS[form](n)
    except (ZeroDivisionError, ValueError, OverflowError):
        return


def factor_of(pair: Pair, tolerance: Tolerance, fewest: int) -> float | None:
    """The one factor between the two, which is not 1; None where there is none, or too few values show it."""
    there = pair.wanted != 0
    if there.sum() < fewest:
        return None
    factor = float(np.median(pair.given[there] / pair.wanted[there]))
    changed = pair.wanted * factor
    if not math.isfinite(factor) or not factor or not within(changed, pair.given, tolerance).all():
        return None
    apart = (~within(pair.wanted, changed, tolerance)).sum()
    return factor if apart >= fewest and len(np.unique(pair.wanted)) >= fewest else None


def one_factor(pairs: Sequence[Pair], tolerance: Tolerance, fewest: int) -> Said:
    """One factor for all values of the first pair, and what it is in all of them.

    Of single numbers it is told where the same formula, or the same factor, holds in three measurements.
    """
    single = not pairs[0].wanted.ndim
    pairs = [pair for pair in pairs if single is not bool(pair.wanted.ndim)]
    some = [(p, factor_of(p, tolerance, 1 if single else fewest)) for p in pairs]
    if some[0][1] is None or (single and (len(some) < fewest or any(f is None for _, f in some))):
        return ""
    factors = [(pair, factor) for pair, factor in some if factor is not None]
    first = factors[0][1]
    if abs(first - 1) < SMALL:
        return ""
    if single and len({round(float(p.wanted), 9) for p, _ in factors}) < fewest:
        return ""
    if all(abs(factor + 1) < tolerance.element for _, factor in factors):
        return Message("Your values are exactly the negative of the expected ones.")
    formula = formula_of(factors, tolerance)
    if formula:
        return Message(
            "Your values are {factor:.6g} times the expected ones, which is {formula}.",
            factor=first,
            formula=formula,
        )
    if single and any(abs(f / first - 1) > tolerance.element for _, f in factors):
        return ""
    return Message("Your values are {factor:.6g} times the expected ones.", factor=first)


def formula_of(factors: Sequence[tuple[Pair, float]], tolerance: Tolerance) -> str:
    """The plainest formula that gives each of the factors; "" where a plain number says as much."""
    first = factors[0][1]
    if len(factors) == 1 and any(abs(12 * n - round(12 * n)) < 1e-6 for n in (first, 1 / first)):
        return ""  # a half, or 3: too many sizes give it by chance
    if len(factors) > 2 and all(abs(f / first - 1) < tolerance.element for _, f in factors[1:]):
        if abs(first * 2 - round(first * 2)) < 1e-9:  # 2, or a half, whatever the sizes are
            return ""
    left: dict[str, None] | None = None
    for pair, factor in factors:
        few = dict(list(pair.known.items())[:NAMES])
        fits = {
            label: None
            for label, value in formulas(few)
            if abs(value - factor) <= tolerance.element * abs(factor)
        }
        left = fits if left is None else {label: None for label in left if label in fits}
    return next(iter(left or {}), "")
