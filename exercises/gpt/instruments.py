"""Numbers that are shown of a model, healthy beside broken: a pure function for each kind of look."""

import numpy as np
from pack import attention, sampler_facts
from pack.facts import Case
from pack.steps import Steps, forwards

SEEN = 1e-12  # weights above this are of visible tokens


def run(recorded):
    """Of "first" (random weights), the "start" and the "end" of a training, and "dropping": name -> number.

    The parts are found where all weights are random, and looked at where they are the model's own.
    """
    case = Case(recorded)
    parts, found = case.parts("first"), {}
    graphs = [done["graph"] if (done := case.done.get(n)) else None for n in ("start", "end")]
    for graph, prefix in zip(graphs, ("", "last_")):
        if parts is None or graph is None or len(graph.calls) != len(parts.graph.calls):
            continue
        weights = last_weights(parts, graph.values)
        if weights is not None:
            found[prefix + "largest_weight"] = float(weights.max(-1).mean())
            found[prefix + "score_spread"] = score_spread(weights)
        if not prefix:
            found.update(streams(parts, graph.values))
            found["logit_spread"] = spread(parts.logits and graph.values[parts.logits.i])
    noise = case.done.get("dropping")
    if noise and len(noise["runs"]) > 1:
        one, two = (each["logits"] for each in noise["runs"][:2])
        if one is not None and two is not None and one.shape == two.shape:
            found["eval_noise"] = float(np.abs(one - two).max())
    return {name: value for name, value in found.items() if value is not None}


def streams(parts, values):
    """Standard deviations of what the first attention and the last norm are given (or the head, where it
    reads no norm).
    """
    found = {}
    made = attention.projection_of(parts.layers[0][0][0].v) if parts.layers else None
    if made is not None:
        read = parts.linears[made.call.i][0]
        found["stream_first"] = spread(values[before_norm(parts, read).i])
    if parts.head is not None:
        read = parts.linears[parts.head.i][0]
        found["stream_last"] = spread(values[before_norm(parts, read).i])
    return found


def before_norm(parts, value):
    kind, found = parts.reads(value)
    return found.X if kind == "norm" else found


def spread(value):
    return None if value is None or value.array is None else float(value.array.std())


def last_weights(parts, values):
    """The attention weights of the last layer, (N, T, T), as they meet the values; None unseen."""
    if not parts.layers:
        return None
    found = [weights_of(head, values, parts.T) for head, *_ in parts.layers[-1]]
    if any(one is None for one in found):
        return None
    return np.concatenate(found)


def weights_of(head, values, T):
    """(N, T, T) of one head or of several; of torch's own attention from its arguments."""
    if head.kind == "by hand":
        return attention.square(values[head.weights.i], T)
    q, k = values[head.q.i].array, values[head.k.i].array
    if q is None or k is None:
        return None
    if q.ndim == 4 and k.shape[1] != q.shape[1] and q.shape[1] % k.shape[1] == 0:
        k = np.repeat(k, q.shape[1] // k.shape[1], 1)
    scale = head.call.kwargs.get("scale")
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    mask = head.call.argument(3, "attn_mask")
    if head.call.argument(5, "is_causal", False):
        scores = np.where(np.tril(np.ones((T, T), bool)), scores, -np.inf)
    elif mask is not None:
        if mask.array is None:
            return None
        hidden = mask.dtype == "bool"
        scores = np.where(mask.array, scores, -np.inf) if hidden else scores + mask.array
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        return (powers / powers.sum(-1, keepdims=True)).reshape(-1, T, T)


def score_spread(weights):
    """The standard deviation of the scores within a row, over the tokens that are seen; None where no row
    sees two.
    """
    seen = weights > SEEN
    rows = seen.sum(-1) > 1
    if not rows.any() or not np.isfinite(weights).all():
        return None
    with np.errstate(divide="ignore"):
        logs = np.where(seen, np.log(np.where(seen, weights, 1.0)), 0.0)
    count = np.maximum(seen.sum(-1, keepdims=True), 1)
    off = np.where(seen, logs - logs.sum(-1, keepdims=True) / count, 0.0)
    return float(np.sqrt(((off**2).sum(-1) / count[..., 0])[rows].mean()))


def script(recorded):
    """Of what a training script did: name -> number, or a curve as a list. Raw norms: before a clip."""
    steps = Steps(recorded["events"])
    if not steps.count:
        return {}
    ends = [[e for e in step if e["kind"] == "S"] for step in steps.steps]
    norms = [float(np.sqrt(sum(e["norm"] ** 2 for e in end))) for end in ends]
    rates = [max(rates) for end in ends if (rates := [r for e in end for r in e["rates"]])]
    train, other = forwards(steps)
    found = {
        "gradient_norms": norms,
        "first_norm": norms[0],
        "last_norm": norms[-1],
        "first_raw_norm": backward(steps.steps[0])[-1]["norm"],
        "last_raw_norm": backward(steps.steps[-1])[-1]["norm"],
        "leftover_gradient": max(backward(step)[0]["dirty"] for step in steps.steps),
        "moved": max(sum(e["moved"] for e in end) for end in ends),
        "owned": max(e["model"] or e["owned"] for end in ends for e in end),
        "train_dropping": sum(e["train"] for e in train),
        **losses(steps),
    }
    if rates:
        found.update(rates=rates, last_rate=rates[-1])
    evaluated = [e for e in other if not e["grad"]]
    if evaluated:
        found["eval_dropping"] = sum(e["train"] for e in evaluated)
    return found


def backward(step):
    return [e for e in step if e["kind"] == "B"]


def losses(steps):
    """The mean loss of each step's batches, and that of the first evaluation."""
    curve, other, waiting = [], [], []
    for step in steps.steps:
        batches = []
        for event in step:
            if event["kind"] == "L" and event.get("value"):
                waiting.append(event["value"])
            elif event["kind"] == "B":
                batches.append(waiting.pop() if waiting else event["value"])
                other.append(waiting)
                waiting = []
        curve.append(float(np.mean(batches)))
    found = {"losses": curve, "first_loss": curve[0], "last_loss": curve[-1]}
    evaluations = [values for values in [*other, waiting] if values]
    if evaluations:
        found["eval_loss"] = float(np.mean(evaluations[0]))
    return found


def sampling(recorded):
    """Of the runs "plain", "cold" (temperature 0.5), "hot" (2), "top_k" (5) and "long": name -> number."""
    runs = sampler_facts.decoded(recorded)
    found = {}
    for run_, name in (("plain", "entropy"), ("cold", "entropy_cold"), ("hot", "entropy_hot")):
        p = sampler_facts.drawn(runs[run_]) if run_ in runs else None
        if p is not None:
            found[name] = float(-(p[p > 0] * np.log(p[p > 0])).sum())
    p = sampler_facts.drawn(runs["top_k"]) if "top_k" in runs else None
    if p is not None:
        found["candidates_top_k"] = int((p > 0).sum())
    position, _, _ = sampler_facts.position(runs)
    if position is not None:
        found["agrees"] = "yes" if position == "of the last position" else "no"
    read = runs["long"]["read"]
    if read and read[0] is not None:
        found["read"] = int(read[0].size)
    return found
