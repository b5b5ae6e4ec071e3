"""A pack's side: draw the inputs of a probe, and ask the reference, and its variants, for each.

Sent to the child as text: standard library, and numpy where arrays come along.
"""

from __future__ import annotations

import importlib

from engine.run.child.values import cast, describe, snapshot, writable

try:
    import numpy
except ImportError:  # a learner's interpreter without it, in which nothing is drawn
    numpy = None


class Draws(numpy.random.Generator if numpy else object):
    """A generator of random numbers, which a pack's cases.py may also ask for sizes (`leaning`): they stay
    as they are, but for a draw under a constraint: see exam/targeting.py.
    """

    leant = False  # whether a size was replaced

    def __init__(self, seed):
        super().__init__(numpy.random.PCG64(seed))

    def leaning(self, sizes, largest=None):
        """The sizes, as they are drawn."""
        return list(sizes)


class Names:
    """Collects what a reference records (compared) and names (intermediates, for injection).

    A reference computes in float64 whatever the learner uses; its arrays are rounded once, here.
    """

    def __init__(self, dtype):
        self.dtype = dtype
        self.recorded = {}
        self.named = {}

    def record(self, **named):
        for name, value in named.items():
            self.recorded[name] = cast(snapshot(value), self.dtype)

    def within(self, **bounds):
        """A statistic is right between two numbers, both included."""
        self.recorded.update({name: {"within": list(pair)} for name, pair in bounds.items()})

    def offered(self, **named):
        """Right where the learner's code has it; an error's name stands for code that has not."""
        for name, value in named.items():
            self.recorded[name] = {"offered": cast(snapshot(value), self.dtype)}

    def name(self, **named):
        self.named.update({name: snapshot(value) for name, value in named.items()})


def drawn(job, exam):
    """Inputs of a probe; None where there are none under the draw's constraint."""
    if not job.get("constraint"):
        return drawing(job)(Draws(job["seed"]), job["regime"], job["dtype"])
    targeting = exam["targeting"]
    try:
        return targeting.drawn(drawing(job), job)
    except Exception:  # it asks for what the pack cannot draw
        return None


def drawing(job):
    """The pack's function that draws the inputs of a probe."""
    cases = importlib.import_module("pack.%s.cases" % job["component"])
    return getattr(cases, job["probe"])


def case_job(job, trees, exam):
    """Draw inputs from a seed (unless given) and run the reference on them, once per variant."""
    answer = {"inputs": job.get("inputs"), "expected": {}, "named": {}, "raised": None}
    try:
        if answer["inputs"] is None:
            answer["inputs"] = drawn(job, exam)
            if answer["inputs"] is None:
                answer["inputs"], answer["declined"] = {}, True
                return answer
        reference = importlib.import_module("pack.%s.reference" % job["component"])
        probe = getattr(reference, job["probe"])
        for variant in job["variants"]:
            names = Names(job["dtype"])
            raised = None
            inputs = {name: cast(value, "float64") for name, value in answer["inputs"].items()}
            try:
                probe(names, variant or None, **writable(inputs))
            except Exception as error:
                raised = describe(error, trees)
                raised["mentions"] = [str(part) for part in getattr(error, "mentions", ())]
            answer["expected"][variant] = {"values": names.recorded, "raised": raised}
            if not variant:
                answer["named"] = names.named
    except Exception as error:
        answer["raised"] = describe(error, trees)
    return answer
