"""The model's own loss."""

import numpy as np
from pack.results import missing

RIGHT = "mean nll"


def loss(parts):
    """The model's loss against the mean negative log-likelihood of its logits and the targets."""
    run = parts.run
    if run["loss"] is None or run["targets"] is None:
        return missing("the model gives no loss")
    logits, targets, value = run["logits"], run["targets"], float(run["loss"].reshape(-1)[0])
    call = parts.loss_call()
    if logits is None or logits.reshape(-1, logits.shape[-1]).shape[0] != targets.size:
        return missing("the model gives a loss and no logits for every token")
    B, T = run["tokens"].shape
    cube, wanted = logits.reshape(B, T, -1), targets.reshape(B, T)
    for told, pair in (("", (cube, wanted)), (", shifted inside", (cube[:, :-1], wanted[:, 1:]))):
        for name, known in forms(*pair):
            if abs(value - known) <= 1e-4 * max(1.0, abs(known)):
                return name + told * (name == RIGHT), call, ""
    return missing("the loss is another function of the logits (an extra term, a mask?)")


def forms(logits, targets):
    """(name, value) of what a loss may be of logits (B, T, V) and targets (B, T)."""
    V, T = logits.shape[-1], targets.shape[1]
    flat, wanted = logits.reshape(-1, V), targets.reshape(-1)
    mixed = logits.reshape(-1, V, T).transpose(0, 2, 1)
    yield RIGHT, nll(flat, wanted)
    yield "cross-entropy of probabilities", nll(soft(flat), wanted)
    yield (
        "logits and targets in different order",
        nll(logits.transpose(1, 0, 2).reshape(-1, V), wanted),
    )
    yield "classes and tokens exchanged by a reshape", nll(mixed.reshape(-1, V), wanted)
    yield "logits and targets in different order", nll(flat, targets.T.reshape(-1))


def nll(logits, targets):
    top = logits.max(-1, keepdims=True)
    logs = logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))
    return float(-logs[np.arange(len(targets)), targets].mean())


def soft(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
