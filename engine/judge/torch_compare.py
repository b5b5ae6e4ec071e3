"""Is one model the same as another? What both gave for the same draws, compared in float64.

A draw may differ by ten times of what rounding changes in it: the distance of the healthy model's own
results in float32 and in float64; and by more where both models agree in float64. Of several things that
differ in a draw the first one counts, in the order errors, numbers that are none, outputs, loss, gradients,
a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.errors import Message, Said
from engine.judge.compare import NO_ERROR, Difference
from engine.judge.result import Result
from engine.judge.shown import show
from engine.run.types import Draw, Raised

Array = Any
Key = tuple[str, str]  # (kind, name)
Values = Mapping[Key, Array]
TIMES = 10.0
USELESS = 0.02  # a draw in which rounding changes more than this says nothing
FIXED = {"output": 1e-4, "loss": 1e-4, "gradient": 1e-3, "update": 1e-3}  # where float64 cannot run
FLOOR = {"output": 2e-5, "loss": 2e-5, "gradient": 1e-4, "update": 1e-4}
FAINT = 1e-3  # of the largest gradient: smaller ones are compared with this
SMALLEST = 1e-9
QUIET = ("tiny", "alike")  # regimes in which what is normalised hardly varies
KINDS = ("raised", "finite", "output", "loss", "gradient", "update")
SHOWS = {
    "parameters": {"en": "the same parameters", "es": "los mismos parámetros"},
    "first": {"en": "weights at the start", "es": "pesos al comienzo"},
    "raised": {"en": "runs without an error", "es": "se ejecuta sin error"},
    "finite": {"en": "gives numbers", "es": "da números"},
    "output": {"en": "outputs", "es": "las salidas"},
    "loss": {"en": "loss", "es": "la loss"},
    "gradient": {"en": "gradients", "es": "gradientes"},
    "update": {"en": "outputs after a step", "es": "salidas después de un paso"},
    "evaluation": {"en": "evaluation without chance", "es": "evaluación sin azar"},
    "dropout": {"en": "dropout in training", "es": "dropout al entrenar"},
}


class Case(msgspec.Struct, frozen=True):
    """One draw that counts. exact, exact_got: both models in float64, where they can run so. got: None where
    it raised. draw: what repeats it.
    """

    regime: str
    inputs: Said
    wanted: Values
    exact: Values | None
    got: Values | None
    raised: Raised | None = None
    draw: Draw | None = None
    exact_got: Values | None = None


class Apart(NamedTuple):
    """What differs in a draw. times: how often the tolerance goes into it."""

    kind: str
    times: float
    difference: Difference
    case: Case


def compared(cases: Sequence[Case]) -> list[Result]:
    """A result for each kind of difference, in the order that teaches; none after the first that is found, as
    of them nothing is known.
    """
    found = [apart for case in cases if (apart := differs(case)) is not None]
    results = []
    for kind in KINDS:
        mine = [apart for apart in found if apart.kind == kind]
        worst = max(mine, key=lambda apart: apart.times, default=None)
        results.append(result(kind, len(cases), worst, pattern(kind, mine, len(cases))))
        if mine:
            break
    return results


def result(kind: str, count: int, apart: Apart | None = None, told: Said = "") -> Result:
    """One check over so many draws."""
    plain = Result(kind, "", SHOWS[kind], apart is None, count)
    if apart is None:
        return plain
    raised = apart.case.raised
    return msgspec.structs.replace(
        plain,
        regime=apart.case.regime,
        draw=apart.case.draw,
        inputs=apart.case.inputs,
        difference=apart.difference,
        pattern=told,
        frames=raised.frames if raised else (),
        traceback=tuple(frame.told for frame in raised.frames) if raised else (),
    )


def differs(case: Case) -> Apart | None:
    """The first thing that differs in a draw."""
    if case.raised is not None or case.got is None:
        raised = case.raised or Raised("Nothing")
        error = f"{raised.type}: {raised.message}"[:300]
        return Apart("raised", 1.0, Difference("raised", "", NO_ERROR, error), case)
    for (kind, name), wanted in case.wanted.items():
        got = case.got.get((kind, name))
        if got is None:
            lacking = Difference("missing", named(kind, name), show(wanted), Message("nothing"))
            return Apart(kind, np.inf, lacking, case)
        if got.shape != wanted.shape:
            return Apart(kind, np.inf, shapes(named(kind, name), wanted, got), case)
        if not np.isfinite(got).all():
            return Apart("finite", 1.0, value(named(kind, name), wanted, got), case)
    for kind in KINDS[2:]:
        found = numbers(case, kind)
        if found:
            return max(found, key=lambda one: one.times)
    return None


def doubtful(case: Case) -> bool:
    """Whether a draw differs by more than is always allowed, so that rounding has to be looked at."""
    if case.got is None or case.raised is not None:
        return False
    for key, wanted in case.wanted.items():
        got = case.got.get(key)
        if got is None or got.shape != wanted.shape or not np.isfinite(got).all():
            return False
    return any(far > FLOOR[kind] for kind in KINDS[2:] for _, far, _ in distances(case, kind))


def distances(case: Case, kind: str) -> list[tuple[Key, float, float]]:
    """(key, distance against size, size) of the arrays of a kind."""
    assert case.got is not None
    keys = [key for key in case.wanted if key[0] == kind and case.wanted[key].size]
    largest = max((np.abs(case.wanted[key]).max() for key in keys), default=0.0)
    found = []
    for key in keys:
        wanted, faint = case.wanted[key], FAINT * largest if kind == "gradient" else 0.0
        size = max(float(np.abs(wanted).max()), faint, SMALLEST)
        found.append((key, float(np.abs(wanted - case.got[key]).max()) / size, size))
    return found


def numbers(case: Case, kind: str) -> list[Apart]:
    """The arrays of a kind that lie too far apart; none where rounding decides more than they say."""
    found: list[Apart] = []
    allowed = tolerance(case, kind)
    if case.got is None or allowed > USELESS or agree_exactly(case, kind):
        return found
    for key, far, _ in distances(case, kind):
        if far > allowed:
            wanted, got, name = case.wanted[key], case.got[key], named(*key)
            told = norms(name, wanted, got) if kind == "gradient" else value(name, wanted, got)
            found.append(Apart(kind, far / allowed, told, case))
    return found


def agree_exactly(case: Case, kind: str) -> bool:
    """Whether both models give the same in float64: what they differ by is rounding, each in its own form.
    One tree alone does not tell how far another form may lie, where a softmax is saturated, say.
    """
    if case.exact is None or case.exact_got is None:
        return False
    for key, wanted in case.exact.items():
        got = case.exact_got.get(key)
        if got is None or got.shape != wanted.shape:
            return False
        if not (np.isfinite(got).all() and np.isfinite(wanted).all()):
            return False
    exact = msgspec.structs.replace(case, wanted=case.exact, got=case.exact_got)
    return all(far <= FLOOR[kind] for _, far, _ in distances(exact, kind))


def tolerance(case: Case, kind: str) -> float:
    """What arrays of a kind may differ by in this draw, against their size."""
    if case.exact is None:
        return FIXED[kind]
    healthy = msgspec.structs.replace(case, got=case.exact)
    keys = [key for key in case.wanted if key[0] == kind]
    for key in keys:
        exact = case.exact.get(key)
        if exact is None or exact.shape != case.wanted[key].shape or not np.isfinite(exact).all():
            return FIXED[kind]
    rounding = (far for _, far, _ in distances(healthy, kind))
    return max(FLOOR[kind], TIMES * max(rounding, default=0.0))


def finite(values: Values) -> bool:
    """Whether all that a draw gave are numbers."""
    return all(bool(np.isfinite(one).all()) for one in values.values())


def named(kind: str, name: str) -> Said:
    """What an array is, in words."""
    if kind == "gradient":
        return Message("the gradient of {parameter}", parameter=name)
    if kind == "loss" and name != "loss":
        return Message("the loss where some targets are -1")
    return name


def value(name: Said, wanted: Array, got: Array) -> Difference:
    """Where two arrays lie furthest apart."""
    distance = np.abs(wanted - got)
    distance[~np.isfinite(distance)] = np.inf
    index = np.unravel_index(int(distance.argmax()), distance.shape)
    apart = distance > 1e-5 * np.abs(wanted).max()
    return Difference(
        "value",
        name,
        show(float(wanted[index])),
        show(float(got[index])),
        index=tuple(int(i) for i in index) if wanted.size > 1 else (),
        differing=int(apart.sum()),
        total=wanted.size,
        shape=wanted.shape,
    )


def both(say: Callable[[Any], Said], wanted: Any, got: Any) -> tuple[Said, Said]:
    """The same said of two things."""
    return say(wanted), say(got)


def norms(name: Said, wanted: Array, got: Array) -> Difference:
    """Two gradients by their norms; by how they lie to each other, where those agree."""
    a, b = float(np.linalg.norm(wanted)), float(np.linalg.norm(got))
    if abs(a - b) > 1e-3 * max(a, b):
        return Difference("value", name, norm(a), norm(b))
    cosine = float((wanted * got).sum() / max(a * b, SMALLEST**2))
    turned = Message("of norm {norm:.4g}, cosine {cosine:.4f} to it", norm=b, cosine=cosine)
    return Difference("value", name, norm(a), turned)


def norm(number: float) -> Said:
    return Message("of norm {norm:.4g}", norm=number)


def shapes(name: Said, wanted: Array, got: Array) -> Difference:
    return Difference("shape", name, *both(shape, wanted.shape, got.shape))


def shape(found: Sequence[int]) -> Said:
    return Message("shape {shape}", shape=str(tuple(found)))


def pattern(kind: str, found: Sequence[Apart], count: int) -> Said:
    """What is systematic about the draws that differ."""
    if not found or kind in ("raised", "finite"):
        return ""
    if kind == "loss":
        return Message("The outputs agree; only the loss differs.")
    if kind == "gradient":
        return Message(
            "The outputs agree, the gradients do not: something is computed without them, or cut off from"
            " them."
        )
    if kind == "update":
        return Message(
            "Outputs and gradients agree; after a step of gradient descent the outputs do not: something is"
            " kept from the call before, or is no parameter."
        )
    if all(apart.case.regime in QUIET for apart in found):
        return Message(
            "They differ only where what is normalised hardly varies: something small is added there that is"
            " another number."
        )
    return Message("They differ in {count} of {total} draws.", count=len(found), total=count)
