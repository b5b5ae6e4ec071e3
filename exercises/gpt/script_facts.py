"""Facts of a training script, from what it did in order: `fact(events) -> (value, span, why)`.

Kinds: Z zero_grad, B backward, C clip, S step, R a scheduler's step, F a forward, L a cross-entropy,
V what a function of the script makes of a whole number.
"""

WORDS = {"Z": "zero_grad", "B": "backward", "C": "clip", "S": "step"}
NEAR = 0.02  # relative


def missing(why):
    return None, None, why


def span(event):
    """[file, first line, last line, first column, last column] of an event."""
    if event is None or not event["at"]:
        return None
    path, _, first, last, left, right = event["at"][0]
    return [path, first, last, left, right]


class Steps:
    """The events cut into steps: each from after one step of the optimizers to the next."""

    def __init__(self, events):
        self.events = events
        self.steps, current = [], []
        for event in events:
            backward = any(e["kind"] == "B" for e in current)
            stepped = any(e["kind"] == "S" for e in current)
            if stepped and event["kind"] in "BF" and backward:
                head, tail = cut(current)
                self.steps.append(head)
                current = tail
            current.append(event)
        if any(e["kind"] == "S" for e in current):
            self.steps.append(cut(current)[0])
        self.count = len(self.steps)

    def middle(self):
        """Steps after the first, in which everything has happened once."""
        return self.steps[1:]


def cut(events):
    """What belongs to a step, up to its last S, and what comes after."""
    last = max(i for i, e in enumerate(events) if e["kind"] == "S")
    return events[: last + 1], events[last + 1 :]


def order(steps):
    """The calls of one step, from the first thing that clears or fills gradients."""
    found, where = set(), None
    for step in steps.middle():
        letters = [e for e in step if e["kind"] in "ZBCS"]
        kinds = "".join(e["kind"] for e in letters)
        first = next(e for e in step if e["kind"] == "B")
        if (
            kinds.startswith("C")
            or "ZC" in kinds[: kinds.index("B")]
            or "CZ" in kinds[: kinds.index("B")]
        ):
            found.add("backward, step, clip")
            where = next(e for e in letters if e["kind"] == "C")
            continue
        text = ", ".join(WORDS[k] for k in collapsed(kinds))
        if "Z" not in kinds:
            if first["dirty"] == 0:
                text = "cleared by hand, " + text
            where = next(e for e in step if e["kind"] == "S")
        else:
            where = next((e for e in letters if e["kind"] == "Z"), None)
        found.add(text)
    if len(found) != 1:
        return missing("steps differ in their order")
    return found.pop(), span(where), ""


def collapsed(kinds):
    """ZZBBS -> ZBS."""
    return [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] != k]


def clean_grad(steps):
    for step in steps.middle():
        first = next(e for e in step if e["kind"] == "B")
        last = next(e for e in reversed(step) if e["kind"] == "S")
        backward = [e for e in step if e["kind"] == "B"]
        if first["dirty"] > 0:
            return "not 0", span(first), ""
        if last["norm"] == 0 and any(e["norm"] > 0 for e in backward):
            zero = next((e for e in reversed(step) if e["kind"] == "Z"), last)
            return "cleared before the step", span(zero), ""
    return "0", None, ""


def clipped(steps):
    every = [e for step in steps.steps for e in step if e["kind"] == "C"]
    if not every:
        return missing("the script does not clip through torch")
    for step in steps.middle():
        clips = [e for e in step if e["kind"] == "C"]
        if not clips:
            return missing("not every step clips")
        backward = max(i for i, e in enumerate(step) if e["kind"] == "B")
        ended = next(e for e in reversed(step) if e["kind"] == "S")
        if all(step.index(e) < backward for e in clips):
            kinds = [e["kind"] for e in step]
            if kinds.index("C") < kinds.index("B"):
                return "after the step", span(clips[0]), ""
            return missing("clips come between backward passes")
        owned = ended["owned"]
        if (
            len(clips) > 1
            and owned > 1
            and all(e["count"] == 1 for e in clips)
            and len(clips) >= owned // 2
        ):
            return "each parameter by itself", span(clips[0]), ""
    return "all together, before the step", span(clips[-1]), ""


def accumulation(steps):
    values = set()
    where = None
    for step in steps.middle():
        backward = [e for e in step if e["kind"] == "B"]
        if len(backward) < 2:
            return missing("a step has one backward pass")
        ratios, loss = [], None
        for event in step:
            if event["kind"] == "L" and event.get("value"):
                loss = event["value"]
            elif event["kind"] == "B" and loss:
                ratios.append(event["value"] / loss)
        if len(ratios) != len(backward):
            return missing("the loss of a backward pass was not seen")
        mean, k = sum(ratios) / len(ratios), len(backward)
        ended = next(e for e in reversed(step) if e["kind"] == "S")
        where = backward[0]
        if abs(mean * k - 1) < NEAR:
            values.add("divided by the number of micro-steps")
        elif abs(mean - 1) < NEAR:
            last, clips = backward[-1]["norm"], [e for e in step if e["kind"] == "C"]
            reached = clips[0]["before"] if clips else ended["norm"]
            later = last > 0 and abs(reached * k / last - 1) < NEAR
            values.add("divided later" if later else "not divided")
        else:
            return missing("what is passed backward is another function of the loss")
    if len(values) != 1:
        return missing("steps differ")
    return values.pop(), span(where), ""


def rate(steps):
    ends = [[e for e in step if e["kind"] == "S"][-1] for step in steps.steps]
    rates = [tuple(e["rates"]) for e in ends]
    if not all(rates):
        return missing("the optimizer does not show its rate")
    if all(max(r, default=0) == 0 for r in rates):
        return "0 at every step", span(ends[-1]), ""
    first = next(i for i, e in enumerate(steps.events) if e["kind"] == "S")
    early = [e for e in steps.events[:first] if e["kind"] == "R"]
    late = [e for e in steps.events[first:] if e["kind"] == "R"]
    if early and late:
        return "scheduler before optimizer", span(early[0]), ""
    if len(set(rates)) > 1:
        return "set step by step", span(ends[-1]), ""
    unused = computed(steps, rates)
    if unused is not None:
        return "computed and not set", span(unused), ""
    if any(e["kind"] == "schedule" for e in steps.events) and not late:
        return missing("a scheduler was made and not stepped in the first steps")
    return "constant", span(ends[-1]), ""


def computed(steps, rates):
    """A call whose value changes from step to step and reaches no optimizer, or None."""
    used = {round(r, 12) for group in rates for r in group}
    by_name = {}
    for event in steps.events:
        if event["kind"] == "V":
            by_name.setdefault(event["name"], []).append(event)
    for calls in by_name.values():
        given = [e["given"] for e in calls]
        values = {round(e["value"], 12) for e in calls}
        steady = given == sorted(given) and len(set(given)) >= 3
        largest = max(values)
        near = any(abs(largest / r - 1) < 1.01 for r in used if r > 0)
        if steady and len(values) >= 3 and len(values - used) >= 2 and near and largest < 0.5:
            return calls[-1]
    return None


def forwards(steps):
    """(training forwards, the others): a training forward is the last one before a backward."""
    train, other, waiting = [], [], []
    for event in steps.events:
        if event["kind"] == "F":
            waiting.append(event)
        elif event["kind"] == "B" and waiting:
            train.append(waiting.pop())
            other += waiting
            waiting = []
    return train, other + waiting


def train_mode(steps):
    train, _ = forwards(steps)
    if not train:
        return missing("no forward of a whole model was seen before a backward pass")
    if not all(e["train"] for e in train):
        event = next(e for e in train if not e["train"])
        if not event["drops"]:
            return missing("the model is in eval mode, and has no dropout")
        return "eval", span(event), ""
    return "train", span(train[-1]), ""


def eval_mode(steps):
    _, other = forwards(steps)
    plain = [e for e in other if not e["grad"]]
    if not plain:
        return missing("no evaluation was seen in the first steps")
    for event in plain:
        if event["train"]:
            if not event["drops"]:
                return missing("evaluation runs in train mode, and the model has no dropout")
            return "train", span(event), ""
    return "eval", span(plain[-1]), ""


def shift(steps):
    pairs = []
    x = None
    for event in steps.events:
        if event["kind"] == "F":
            x = event
        elif event["kind"] == "L" and x is not None and event["targets"] is not None:
            pairs.append((x, event))
        elif event["kind"] == "B":
            x = None
    pairs = [(f, e) for f, e in pairs if f["grad"]]
    if not pairs:
        return missing("no inputs with their targets were seen")
    values = {compared(f["x"], e["targets"]) for f, e in pairs}
    if len(values) != 1 or None in values:
        return missing("how targets follow from inputs was not seen")
    return values.pop(), span(pairs[-1][0]), ""


def compared(x, targets):
    """How the targets follow from rows of inputs; None where it cannot be told."""
    flat = flattened(targets)
    B, T = len(x), len(x[0]) if x else 0
    if T < 4 or not B:
        return None
    if len(flat) == B * (T - 1):
        inside = [n for row in x for n in row[1:]]
        return "the next token" if inside == flat else None
    if len(flat) != B * T:
        return None
    y = [flat[n * T : (n + 1) * T] for n in range(B)]
    ways = {
        "the next token": 1,
        "the same token": 0,
        "the token two ahead": 2,
        "the token before": -1,
    }
    for name, far in ways.items():
        pairs = [
            (row[t + far], want[t])
            for row, want in zip(x, y)
            for t in range(T)
            if 0 <= t + far < T and want[t] >= 0
        ]
        if len(pairs) >= B * T // 2 and all(a == b for a, b in pairs):
            return name
    return None


def flattened(value):
    return [n for one in value for n in flattened(one)] if isinstance(value, list) else [value]


def loss_input(steps):
    losses = [e for step in steps.steps for e in step if e["kind"] == "L" and e["name"] != "own"]
    if not losses:
        return missing("no cross-entropy of torch was seen")
    for event in losses:
        if event["probabilities"]:
            return "probabilities", span(event), ""
    words = {"cross_entropy": "logits", "nll_loss": "log probabilities"}
    return words[losses[-1]["name"]], span(losses[-1]), ""


def updated(steps):
    ends = [e for step in steps.steps for e in step if e["kind"] == "S"]
    model = ends[-1]["model"]
    moving = [e for e in ends if e["norm"] > 0 and max(e["rates"], default=0) > 0]
    if moving and not any(e["moved"] for e in moving):
        return "nothing moves", span(ends[-1]), ""
    if not model:
        return missing("no forward of a whole model was seen")
    covered = {n for e in ends for n in e["covered"]}
    if not covered:
        return "none of the model's parameters", span(ends[-1]), ""
    if len(covered) < model and model <= 2000:
        return (
            f"{model - len(covered)} of {model} parameters are in no optimizer",
            span(ends[-1]),
            "",
        )
    return "every parameter", span(ends[-1]), ""


def batches(steps):
    train, _ = forwards(steps)
    firsts = []
    for step in steps.steps:
        found = [e for e in step if e["kind"] == "F" and e in train]
        if found:
            firsts.append(found[0])
    if len(firsts) < 3:
        return missing("too few batches were seen")
    if all(e["x"] == firsts[0]["x"] for e in firsts):
        return "the same batch every step", span(firsts[-1]), ""
    return "different", span(firsts[-1]), ""


TRAINING = {
    "order": order,
    "clean_grad": clean_grad,
    "clipped": clipped,
    "accumulation": accumulation,
    "rate": rate,
    "shift": shift,
    "loss_input": loss_input,
    "train_mode": train_mode,
    "eval_mode": eval_mode,
    "updated": updated,
    "batches": batches,
}
LEAST = 3  # steps, below which nothing is said


def measure(recorded):
    """Every fact of a training script."""
    steps = Steps(recorded["events"])
    found = []
    for id, fact in TRAINING.items():
        if steps.count < LEAST:
            value, at, why = missing(f"{steps.count} steps were seen: {recorded['why']}")
        else:
            value, at, why = fact(steps)
        found.append({"id": id, "value": value, "at": at, "why": why})
    return found
