"""Runs the learner's cross_entropy."""

import numpy as np


def forward(learner, record, logits, targets, ignore_index):
    """logits: (..., V), targets: (...,). The loss in nats and its gradient."""
    leaf = learner.Tensor(logits, requires_grad=True)
    if ignore_index is None:
        loss = learner.cross_entropy(leaf, targets)
    else:
        loss = learner.cross_entropy(leaf, targets, ignore_index=ignore_index)
    record(loss=np.asarray(loss.data).reshape(()))
    loss.backward()
    record(grad_logits=leaf.grad)


def scaled(learner, record, logits, targets, factor):
    """A loss used further on: the gradient that comes from above is passed through."""
    leaf = learner.Tensor(logits, requires_grad=True)
    loss = learner.cross_entropy(leaf, targets) * factor
    loss.backward()
    record(grad_logits=leaf.grad)


def loss_of(learner, logits, targets):
    """The loss as a float. Where NumPy gives inf, plain Python raises (math.exp, math.log): also inf."""
    try:
        loss = learner.cross_entropy(learner.Tensor(logits), targets)
    except (ArithmeticError, ValueError):
        return float("inf")
    return float(np.asarray(loss.data).reshape(()))


def large(learner, record, logits, targets):
    """Is the loss of these logits a number?"""
    record(finite=bool(np.isfinite(loss_of(learner, logits, targets))))


def sweep(learner, record, V, levels, dtype):
    """One row of V logits and the target 1, first with one wrong token at a, then with all at -a."""
    target = np.array([1])
    up, down = [], []
    for a in levels:
        row = np.zeros((1, V), dtype)
        row[0, 0] = a  # the model is more and more sure of the wrong token 0
        up.append(loss_of(learner, row, target))
        down.append(loss_of(learner, np.full((1, V), -a, dtype), target))
    record(losses_up=up, first_bad_up=first_bad(levels, up))
    record(losses_down=down, first_bad_down=first_bad(levels, down))


def first_bad(levels, losses):
    """The first level whose loss is not a number; 0 where all are."""
    return next((float(a) for a, loss in zip(levels, losses) if not np.isfinite(loss)), 0.0)


def kind(loss):
    if np.isfinite(loss):
        return "finite"
    return "nan" if np.isnan(loss) else "inf" if loss > 0 else "minus-inf"


def batch(learner, record, logits, targets):
    """One step's loss on a batch (B, T, V) in which a single row is far from 0."""
    leaf = learner.Tensor(logits, requires_grad=True)
    loss = learner.cross_entropy(leaf, targets)
    value = float(np.asarray(loss.data).reshape(()))
    record(loss=value, loss_is=kind(value))
    loss.backward()
    record(grad_logits=leaf.grad, nan_gradients=int(np.isnan(leaf.grad).sum()))


def climb(learner, record, V, levels, dtype):
    """One row of V logits and the target 1: first the right token climbs, then a wrong one."""
    target = np.array([1])
    for name, token in (("right", 1), ("wrong", 0)):
        losses = []
        for a in levels:
            row = np.zeros((1, V), dtype)
            row[0, token] = a
            losses.append(loss_of(learner, row, target))
        record(**{name: losses, "last_" + name: losses[-1]})
    leaf = learner.Tensor(np.zeros((1, V), dtype), requires_grad=True)
    learner.cross_entropy(leaf, target).backward()
    gradient = -float(leaf.grad[0, 1])  # healthy: 1 - 1/V
    record(first_gradient=gradient)


def descend(learner, record, V, steps, lr, dtype):
    """Gradient descent on a single row of V logits, all 0 at first, with the target 1."""
    row, losses = np.zeros((1, V), dtype), []
    for _ in range(steps):
        leaf = learner.Tensor(row, requires_grad=True)
        loss = learner.cross_entropy(leaf, np.array([1]))
        loss.backward()
        losses.append(float(np.asarray(loss.data).reshape(())))
        row = (row - lr * leaf.grad).astype(dtype)
    record(losses=losses, last=losses[-1])


def elsewhere(learner, record, logits, targets, left_out, grad):
    """The logits are used by the loss and beside it: the gradient of loss + sum(logits * grad).
    Then logits that are a Parameter, and logits that were made of others, where `left_out` is ignored.
    """
    for name, loss_first in {"first": True, "last": False}.items():
        leaf = learner.Tensor(logits, requires_grad=True)
        loss = learner.cross_entropy(leaf, targets)
        beside = (leaf * learner.Tensor(grad)).sum()
        (loss + beside if loss_first else beside + loss).sum().backward()
        record(**{f"grad_logits_{name}": leaf.grad})
    mine = learner.Parameter(logits.copy())
    learner.cross_entropy(mine, targets).backward()
    record(grad_parameter=mine.grad)
    leaf = learner.Tensor(logits, requires_grad=True)
    made = leaf * learner.Tensor(grad)
    try:
        loss = learner.cross_entropy(made, targets, left_out)
    except TypeError:  # behind a star
        loss = learner.cross_entropy(made, targets, ignore_index=left_out)
    loss.backward()
    record(grad_behind=leaf.grad)
