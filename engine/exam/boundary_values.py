"""Draws near the numbers that a change brought into the code, and which of them can decide.

A verdict near such a number has to be as right as any other. So a difference counts there only where
the code before the break gives finite values, the reference gives the same, and numbers that are a
hundred roundings away give the same too.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import numpy as np

from engine.judge.compare import Tolerance, difference
from engine.run.types import SMALL, UNRUN, Case, Outcome, Values

ROUNDINGS = 100
VANISHING = 1e-30
UNSEEN = 0.1  # of what may differ: by more, a variant that keeps fewer digits is seen
GROSS = 0.05  # of the largest number of a result: by more, it is no rounding,
NOISE = 0.02  # where such a variant is off by no more than this share of that
LOOSE = {"float64": Tolerance(1e-3, 1e-6, 1e-9), "float32": Tolerance(1e-2, 1e-3, 2e-5)}
# Of the largest number in sight, what any other may be off by. Near a large number a softmax may be all
# but shut: exp(x - logsumexp(x)) is off by a rounding times its scores, which may be 1e5, while what it
# leaves of a gradient is next to nothing.
REST = {"float64": 2e-11, "float32": 2e-4}


def _left_to_chance(case: Case) -> bool:
    """Whether a value has to be near a number, a size is as small as can be, or a setting is another
    regime's, in what is drawn by lot: its regime promises that nothing rare counts, and no longer does so
    with other values, or where there is little to draw of.
    """
    constraint = case.draw.constraint
    if constraint is None or not {"seed", "seeds"} & case.inputs.keys():
        return False
    return (
        constraint.kind in ("value", "pattern", "settings")
        or constraint.also > 0
        or constraint.name == SMALL
    )


def given(case: Case, own: Outcome) -> bool:
    """Whether there is an input that can tell, and the code before the break gave finite values for it,
    none of them next to nothing throughout: where all gates are shut, one right way to write a
    gradient gives 1e-153 and another gives 0.
    """
    if case.declined or own.stopped or own.raised or _left_to_chance(case):
        return False
    return all(_finite(value) and not _vanishes(value) for value in own.values.values())


def _vanishes(value: object) -> bool:
    numbers = _floats(value)
    return numbers is not None and bool(numbers.any()) and bool(np.abs(numbers).max() < VANISHING)


def too_large(outcome: Outcome) -> bool:
    """Whether some code had not the time, the memory or the stack for an input, which no contract promises:
    what goes number by number may be right and slow.
    """
    short = outcome.raised is not None and outcome.raised.type in ("MemoryError", "RecursionError")
    return short or outcome.stopped in ("timeout", UNRUN)


def apart(own: Outcome, theirs: Outcome, dtype: str) -> bool:
    """Whether a candidate differs by more than right code may, where its inputs are anything: a gradient
    that all but cancels keeps few of its digits, and none below a hundred roundings of 1 or a share
    (REST) of the largest number in sight. Two right ways to sum it leave different rests.
    """
    rest = _rest(own, dtype)
    values = {
        name: value if _within(rest, value, theirs.values.get(name)) else theirs.values.get(name)
        for name, value in own.values.items()
        if name in theirs.values
    }
    levelled = msgspec.structs.replace(theirs, values=values)
    return difference(own, levelled, dtype=dtype, tolerances=LOOSE) is not None


def rounded(own: Outcome, theirs: Outcome, again: Outcome, moved: Outcome, *, dtype: str) -> bool:
    """Whether a candidate is as far from the code before the break as it is from itself when its inputs
    move by a hundred roundings: right code that keeps fewer digits here.

    again: what it gives for the same inputs once more; where that is something else, it is no rounding.
    moved: what it gives for the moved ones.
    """
    if difference(theirs, again, dtype=dtype) is not None or theirs.raised or moved.raised:
        return False
    if difference(own, theirs, dtype=dtype, aspects=("inputs",)) is not None:
        return False
    rest = _rest(own, dtype)
    for name, value in own.values.items():
        other, step = theirs.values.get(name), _gap(theirs.values.get(name), moved.values.get(name))
        gap = _gap(value, other)
        if gap is None or step is None:
            if difference(
                Outcome(values={name: value}), Outcome(values={name: other}), dtype=dtype
            ):
                return False
        elif not (np.isfinite(step) and gap <= max(rest, ROUNDINGS * step)):  # NaN is no rounding
            return False
    return True


def _rest(own: Outcome, dtype: str) -> float:
    """A hundred roundings of 1, or what any number may be off by beside the largest in sight."""
    sizes = [
        float(np.abs(array).max(initial=0.0))
        for array in map(_floats, own.values.values())
        if array is not None
    ]
    return max(ROUNDINGS * float(np.finfo(dtype).eps), REST[dtype] * max(sizes, default=0.0))


def _within(rest: float, one: object, other: object) -> bool:
    gap = _gap(one, other)
    return gap is not None and gap <= rest


def _gap(one: object, other: object) -> float | None:
    """How far two recorded values of floats are apart; None where they are none, or of other kinds."""
    first, second = _floats(one), _floats(other)
    if first is None or second is None or type(one) is not type(other):
        return None
    if (first.shape, first.dtype) != (second.shape, second.dtype):
        return None
    with np.errstate(invalid="ignore"):  # infinities apart are NaN, which is near nothing
        return float(np.abs(first - second).max(initial=0.0))


def _floats(value: object) -> np.ndarray | None:
    """The numbers of a recorded value: an array of floats, a float, or a list of floats."""
    if isinstance(value, dict) and all(isinstance(item, float) for item in value.get("list", [0])):
        return np.asarray(value["list"])
    if isinstance(value, float):
        return np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value
    return None


def _finite(value: object) -> bool:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return bool(np.isfinite(value).all())
    return not isinstance(value, float) or bool(np.isfinite(value))


def decides(case: Case, own: Outcome, moved: Outcome, theirs: Outcome, coarse: str = "") -> bool:
    """Whether this input tells right from wrong, and not one rounding from another. coarse: a variant of
    the reference that keeps fewer digits; where it is seen to, only a gross difference counts.

    Where the input is so large that the reference gives no answer, the code before the break stands for
    it: a large size is as legal as a small one.
    """
    dtype = case.draw.dtype
    if difference(own, moved, dtype=dtype, aspects=("raised", "value")) is not None:
        return False
    reference, constraint = case.expected.get(""), case.draw.constraint
    if reference is None:
        return constraint is not None and constraint.kind in ("size", "entries")
    rough = case.expected.get(coarse, reference)
    seen = difference(reference, rough, dtype=dtype, times=UNSEEN) is not None
    if seen and not _gross(own, theirs, reference, rough):
        return False
    return difference(reference, own, dtype=dtype) is None


def steady(own: Outcome, moved: Outcome, dtype: str) -> frozenset[str]:
    """The recorded names whose values stay, for rounding, when inputs move by a hundred roundings: with two
    features a norm's output does, and the gradient of its input, which all but cancels, does not.
    """
    return frozenset(
        name
        for name, value in own.values.items()
        if name in moved.values
        and not difference(
            Outcome(values={name: value}), Outcome(values={name: moved.values[name]}), dtype=dtype
        )
    )


def only(outcome: Outcome, names: Collection[str]) -> Outcome:
    """An outcome with these of its values."""
    values = {name: value for name, value in outcome.values.items() if name in names}
    return msgspec.structs.replace(outcome, values=values)


def plainly(case: Case, own: Outcome, theirs: Outcome, coarse: str = "") -> bool:
    """Whether a difference is no rounding, however far the candidate moves when its inputs do: a gross one
    where numbers follow a pattern. No number is vast there; code that asks for the pattern itself (ties,
    whole numbers, rows that are alike) finds none any more in inputs that were moved.
    """
    reference, constraint = case.expected.get(""), case.draw.constraint
    if reference is None or constraint is None or constraint.kind != "pattern":
        return False
    return _gross(own, theirs, reference, case.expected.get(coarse, reference))


def _gross(own: Outcome, theirs: Outcome, reference: Outcome, rough: Outcome) -> bool:
    """Whether the candidate is further off than a variant that keeps fewer digits could be: no answer, no
    number, another shape or dtype, or by a good part of a result of which that variant has most digits.

    What the reference does not record is open, and tells nothing.
    """
    if theirs.raised is not None:
        return True
    for name, value in own.values.items():
        numbers = _floats(value)
        noise = _gap(reference.values.get(name), rough.values.get(name))
        if numbers is None or noise is None:
            continue
        gap = _gap(value, theirs.values.get(name))
        least = GROSS * float(np.abs(numbers).max(initial=0.0))
        if gap is None or not np.isfinite(gap) or (gap > least and noise <= NOISE * least):
            return True
    return False


def with_reference(case: Case, own: Outcome) -> Case:
    """Where the reference gave no answer, the code before the break stands for it."""
    return case if "" in case.expected else msgspec.structs.replace(case, expected={"": own})


def jittered(case: Case) -> Case:
    """The same case, its arrays a few roundings away."""
    rng = np.random.default_rng(case.draw.seed)

    def moved(value: object) -> object:
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return value
        step = ROUNDINGS * np.finfo(value.dtype).eps
        return (value * (1 + step * rng.uniform(-1, 1, value.shape))).astype(value.dtype)

    inputs: Values = {name: moved(value) for name, value in case.inputs.items()}
    return msgspec.structs.replace(case, inputs=inputs)
