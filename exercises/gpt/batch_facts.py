"""Facts of what a training script feeds its model: mode, targets, input of the loss, batches."""

from pack.results import missing, span
from pack.steps import forwards


def train_mode(steps):
    train, _ = forwards(steps)
    if not train:
        return missing("no forward of a whole model was seen before a backward pass")
    event = next((e for e in train if not e["train"] or e["mixed"]), None)
    if event is not None:
        if not event["drops"]:
            return missing("the model is in eval mode, and has no dropout")
        return "eval", span(event), ""
    return (
        ("train" if any(e["drops"] for e in train) else "train, without dropout"),
        span(train[-1]),
        "",
    )


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
    return (
        ("eval" if any(e["drops"] for e in plain) else "eval, without dropout"),
        span(plain[-1]),
        "",
    )


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
    return values.pop(), span(meeting(*pairs[-1])), ""


def meeting(forward, loss):
    """Where targets meet the model's answer: the loss, if the loop itself computes it, else the forward."""
    same = forward["at"] and loss["at"] and loss["at"][0][:2] == forward["at"][0][:2]
    return loss if same else forward


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
