"""Facts of a model with the weights that it was made with: its first loss, head and embedding."""

import numpy as np
from pack import loss_facts
from pack.results import missing

HIGH = 3.0  # times log V, from which on a first loss shows that the logits are too large
SPREAD = 0.1  # how far from 1 the spread of an embedding's numbers may lie


def first_loss(case):
    """(loss over log V, "") or (None, why)."""
    done = case.done.get("start")
    if not done or not done["runs"] or done["failed"]:
        return None, "the model could not be run with its own first weights"
    run = done["runs"][0]
    if run["logits"] is None or (run["targets"] is None and run["loss"] is None):
        logits = done["runs"][-1]["logits"]
    else:
        logits = run["logits"]
    if run["loss"] is not None:
        value = float(run["loss"].reshape(-1)[0])
    elif logits is not None and np.isfinite(logits).all():
        flat = logits.reshape(-1, logits.shape[-1])
        value = float(
            np.mean([loss_facts.nll(flat, np.full(len(flat), n)) for n in range(0, 50, 7)])
        )
    else:
        return None, "no loss and no logits with the model's own first weights"
    return value / np.log(case.vocabulary), ""


def start(case):
    """The loss with the weights that the model was made with, against log V."""
    ratio, why = first_loss(case)
    if ratio is None:
        return missing(why)
    parts = case.parts("start")
    head = parts and parts.head  # whose output it is
    if not np.isfinite(ratio):
        return "not a number", head, ""
    return ("near log V" if ratio < 1.6 else f"{ratio:.1f} times log V"), head, ""


def tied(case):
    """Whether head and embedding are one tensor; where they are, whether it is one parameter with a head's
    spread; where they are not, whether they were meant to be.
    """
    parts = case.parts("first")
    if parts is None or parts.head is None or parts.table is None:
        return missing("no embedding or no head was found")
    table, weight = parts.table, parts.linears[parts.head.i][1]
    own = case.parts("start")
    if weight.storage != table.storage:
        same = own is not None and equal(own.table, own.head and own.linears[own.head.i][1])
        return ("two tensors, one a copy of the other" if same else "two tensors"), parts.head, ""
    if weight.i != table.i and weight.learns and table.learns:
        return "one memory under two parameters", parts.head, ""
    ratio, _ = first_loss(case)
    first = own.table.array if own is not None and own.table is not None else None
    if first is not None and ratio is not None and ratio > HIGH:
        if abs(first.std() - 1) < SPREAD:
            return "one tensor, with the spread of an embedding", parts.head, ""
    return "one tensor", parts.head, ""


def equal(a, b):
    """Whether two parameters hold the same numbers, which were drawn."""
    if a is None or b is None or a.array is None or b.array is None or a.storage == b.storage:
        return False
    one, two = a.array, b.array
    if one.shape != two.shape and one.T.shape == two.shape:
        one = one.T
    return one.shape == two.shape and one.std() > 0 and np.array_equal(one, two)
