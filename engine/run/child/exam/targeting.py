"""Draws under a constraint: a size, a value or a setting of an input comes near a number.

Whoever special-cases inputs writes down where the special case ends. A judge that has read that
number looks there. Sent to the child at the level exam: standard library, numpy when it is there.
"""

from __future__ import annotations

import sys

from engine.run.child.cases import Draws
from engine.run.child.exam.patterns import patterned

try:
    import numpy
except ImportError:  # a learner's interpreter without it, in which nothing is drawn
    numpy = None

USUAL = 1100  # sizes up to which any may be replaced
SITES = 2  # lines of a pack that ask for sizes, of which one is chosen
DEEP = 3  # frames that tell them apart
TURNS = 8  # sizes that are replaced in one draw; a pack that refuses all of them gets ordinary ones
LARGEST = 1 << 20  # numbers in all arrays of an input
DRAWN = 2 * LARGEST  # numbers that are drawn for one, of which some may come to nothing
PROBING = (5, 11)  # sizes by which it is seen how the entries of an array grow with one
FACTORS = (1.5, 0.6)  # of the number, that the largest value of an array is brought to
FAR = (
    40.0,
    1.5,
)  # the same, where a size is near it as well: most values have to be beyond the number


class TooMany(Exception):
    """An input that would be declined is not made."""


def drawn(draw, job):
    """Inputs of a probe, which `draw` draws, under the job's constraint; None where there are none."""
    constraint = job["constraint"]
    kind = constraint["kind"]

    def made(constraint):
        rng = ConstrainedDraws(job["seed"], constraint)
        inputs = draw(rng, job["regime"], job["dtype"])
        if constraint["kind"] == "size" and (not rng.leant or heavy(inputs)):
            return rng, None
        return rng, inputs

    if kind == "entries":
        return with_entries(lambda sized: made(sized)[1], constraint)
    rng, inputs = made(constraint)
    if inputs is None:
        return None
    if kind == "pattern":
        return patterned(rng, inputs, constraint["which"])
    if kind == "settings":
        others = (draw(rng, regime, job["dtype"]) for regime in constraint["regimes"])
        return with_settings(rng, inputs, others, constraint["settings"])
    if kind == "value":
        return with_value(inputs, constraint["number"], constraint["which"])
    if constraint["also"]:
        return with_value(inputs, constraint["also"], constraint["way"], FAR) or inputs
    return inputs


class ConstrainedDraws(Draws):
    """A generator of which a pack's cases.py gets sizes near a number."""

    def __init__(self, seed, constraint):
        super().__init__(seed)
        self._constraint = constraint
        self._turns = TURNS
        self._sites = []
        self._drawn = 0
        self.leant = False

    def standard_normal(self, size=None, *given, **named):
        """As ever, but not for more numbers than an input may hold."""
        self._drawn += int(numpy.prod(size or 1))
        if self._drawn > DRAWN:
            raise TooMany("more than %d numbers" % DRAWN)
        return super().standard_normal(size, *given, **named)

    def leaning(self, sizes, largest=USUAL):
        """The sizes, one of them replaced by the number, if that is not above `largest`: one limit for all of
        them, or a list with one for each.

        Only where the first line of a pack that asks does, or only where the second does: two large
        sizes together would make a huge input.
        """
        sizes, site = list(sizes), _lines()
        which, number = self._constraint.get("which", 0), self._constraint.get("number", 0)
        limits = [most or USUAL for most in largest] if type(largest) is list else [largest]
        if self._constraint["kind"] != "size" or number > limits[which // SITES % len(limits)]:
            return sizes
        if site not in self._sites:
            self._sites.append(site)
        wanted = self._sites.index(site) == which % SITES
        if wanted and sizes and self._turns:
            self._turns -= 1
            self.leant = True
            sizes[which // SITES % len(sizes)] = int(number)
        return sizes


def with_entries(made, constraint):
    """Inputs of which some array has more entries than the number says, as one size is large enough for
    that; None where none is.

    made: gives the inputs for the constraint of a size, None where it cannot be had.
    """

    def sized(size):
        return made({**constraint, "kind": "size", "number": size})

    few, more = (entries(sized(size)) for size in PROBING)
    if few == more:
        return None
    first, second = PROBING
    steps = -(-(constraint["number"] + 1 - few) * (second - first) // (more - few))
    inputs = sized(max(1, first + steps))
    return inputs if entries(inputs) > constraint["number"] else None


def entries(inputs):
    """Of the largest array; 0 where there are no inputs."""
    arrays = [v for v in (inputs or {}).values() if isinstance(v, numpy.ndarray)]
    return max((array.size for array in arrays), default=0)


def _lines():
    """Where in the pack sizes are asked for."""
    frame, lines = sys._getframe(2), []
    while frame is not None and len(lines) < DEEP:
        lines.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return lines


def with_value(inputs, number, which, factors=FACTORS):
    """Inputs of which one array, or all, or one setting is brought near the number; None when there
    is nothing that can be.
    """
    arrays = [n for n, v in inputs.items() if _scalable(v)]
    settings = [
        n for n, v in inputs.items() if type(v) is float and v > 0 and (v < 1) == (number < 1)
    ]
    places = [[name] for name in (*arrays, *settings)]
    if len(arrays) > 1:
        places.append(arrays)
    if not places:
        return None
    chosen = places[which // len(factors) % len(places)]
    target = number * factors[which % len(factors)]
    changed = dict(inputs)
    for name in chosen:
        value = inputs[name]
        if name in settings:
            changed[name] = number if which % len(factors) else (value + number) / 2
        else:
            changed[name] = (value * (target / numpy.abs(value).max())).astype(value.dtype)
    return changed


def with_settings(rng, inputs, others, names):
    """Inputs with one or more settings of these names taken from the first of other inputs that have such
    as go here and are not the same; None where none has.
    """
    for other in others:
        differing = [
            name
            for name in names
            if _differ(inputs.get(name), other.get(name)) and _goes(inputs, other.get(name))
        ]
        if differing:
            kept = [name for name in differing if rng.random() < 0.5]
            kept = kept or [differing[int(rng.integers(len(differing)))]]
            return {**inputs, **{name: other[name] for name in kept}}
    return None


def _differ(one, other):
    """Whether two settings are not the same; arrays are no settings."""
    if isinstance(one, numpy.ndarray) or isinstance(other, numpy.ndarray):
        return False
    return type(one) is not type(other) or one != other


def _goes(inputs, setting):
    """Whether a setting is legal beside any inputs: a 0 guards nothing (as an eps beside numbers whose square
    is next to nothing), and an integer may be compared with arrays that cannot hold it.
    """
    if type(setting) is float:
        return setting != 0.0
    if type(setting) is not int:
        return True
    kinds = [
        v.dtype for v in inputs.values() if isinstance(v, numpy.ndarray) and v.dtype.kind in "iu"
    ]
    return all(numpy.iinfo(k).min <= setting <= numpy.iinfo(k).max for k in kinds)


def _scalable(value):
    """An array of floats that are not all 0."""
    return isinstance(value, numpy.ndarray) and value.dtype.kind == "f" and bool(numpy.any(value))


def heavy(inputs):
    """Whether there is more in them than a judge has time for."""
    return sum(v.size for v in inputs.values() if isinstance(v, numpy.ndarray)) > LARGEST
