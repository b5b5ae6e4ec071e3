"""All facts of a model: `measure(recorded)` -> [{"id", "value", "at", "why"}]."""

from pack import model_facts, run_facts
from pack.graph import Graph, at, number
from pack.parts import Parts


def decoded(recorded, place):
    """The experiment at this place as numbers, with its graph."""
    arrays, done = recorded["arrays"], recorded["experiments"][place]
    runs = [
        {
            **{name: number(run[name], arrays) for name in ("tokens", "targets", "logits", "loss")},
            "place": run["place"],
        }
        for run in done["runs"]
    ]
    graph = Graph(done["trace"], arrays) if done["trace"] else None
    return {**done, "runs": runs, "graph": graph}


class Case:
    """What was recorded of a model: experiments by name, parts by name."""

    def __init__(self, recorded):
        self.recorded = recorded
        self.vocabulary, self.context = recorded["vocabulary"], recorded["context"]
        self.done = {name: decoded(recorded, n) for n, name in enumerate(recorded["names"])}
        self._parts = {}

    def parts(self, name):
        """The parts found in a traced experiment, None where it failed."""
        if name not in self._parts:
            done = self.done.get(name)
            if done is None or done["graph"] is None or not done["runs"]:
                return None
            if done["graph"].tokens is None or done["graph"].tokens.array is None:
                return None
            run = {
                **done["runs"][0],
                "vocabulary": self.vocabulary,
                "context": self.context,
                "mask": self.recorded["mask"],
                "rotations": False,
                "idle_tables": False,
            }
            parts = self._parts[name] = Parts(done["graph"], run)
            run["idle_tables"] = run_facts.idle_tables(parts, done)
            run["rotations"] = run_facts.unused_rotations(self, parts, done)
        return self._parts[name]


def count(recorded):
    """How many parts of a decoder the first experiment shows."""
    parts = Case(recorded).parts("first")
    return 0 if parts is None else parts.count()


def summary(recorded):
    """What was taken for the model: layers, width, heads."""
    parts = Case(recorded).parts("first")
    if parts is None:
        return {}
    heads = 0
    if parts.layers:
        first = parts.layers[0]
        heads = len(first)
        if heads == 1:
            q = first[0][0].q
            heads = max(1, parts.width // max(1, q.shape[-1]))
    return {"layers": len(parts.layers), "width": parts.width, "heads": heads}


def measure(recorded):
    """Every fact of a model, in order."""
    case = Case(recorded)
    found = [of_runs(case, id, fact) for id, fact in model_facts.RUN.items()]
    found += [told(id, fact(case)) for id, fact in run_facts.CASE.items()]
    return found


def told(id, result):
    value, call, why = result
    return {"id": id, "value": value, "at": at(call), "why": why}


def of_runs(case, id, fact):
    """A fact that must come out the same on two draws of weights and shapes."""
    parts = [case.parts(name) for name in ("first", "second")]
    if parts[0] is None:
        return told(id, (None, None, "the model could not be traced"))
    results = [fact(one) for one in parts if one is not None]
    first, last = results[0], results[-1]
    if first[0] is None and case.parts("bare") is not None:
        first = last = fact(case.parts("bare"))
    if first[0] != last[0]:
        if None in (first[0], last[0]):
            return told(id, (None, None, first[2] or last[2]))
        return told(id, (None, None, f"two draws disagree ({first[0]}; {last[0]})"))
    return told(id, first)
