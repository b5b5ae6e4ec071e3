"""Runs the learner's cross-entropy."""

import math

import torch
from pack.calls import copied


def number(loss):
    """A loss as a number; where there are several, all of them."""
    loss = loss.detach().double()
    return loss.item() if loss.numel() == 1 else loss


def rows(learner, record, inputs, targets):
    """Each example as a batch of its own. inputs: (N, V), targets: (N,)"""
    losses = []
    for row, target in zip(inputs, targets):
        loss = learner.run_cross_entropy(inputs=row[None].clone(), targets=target[None].clone())
        losses.append(loss.detach().reshape(-1)[:1])
    record(loss_of_each_example=torch.cat(losses).to(inputs.dtype))


def forward(learner, record, inputs, targets):
    """inputs: (..., V), targets: (...,)"""
    own, ids = copied(inputs, targets)
    loss = learner.run_cross_entropy(inputs=own, targets=ids)
    record(numbers=loss.numel(), loss=number(loss), axes=loss.ndim)
    twice = learner.run_cross_entropy(
        inputs=torch.cat([inputs, inputs]), targets=torch.cat([targets, targets])
    )
    record(loss_of_the_batch_twice_by_its_loss=float(twice.detach().sum() / loss.detach().sum()))
    record(inputs_stay=bool(torch.equal(own, inputs) and torch.equal(ids, targets)))


def backward(learner, record, inputs, targets):
    """The gradient that a training begins with."""
    leaf = inputs.clone().requires_grad_()
    loss = learner.run_cross_entropy(inputs=leaf, targets=targets.clone())
    if not isinstance(loss, torch.Tensor) or loss.grad_fn is None:
        record(grad_inputs="none: the loss has no graph")
        return
    loss.sum().backward()
    record(grad_inputs="none" if leaf.grad is None else leaf.grad)


def kind(loss):
    if math.isfinite(loss):
        return "finite"
    return "nan" if math.isnan(loss) else "inf" if loss > 0 else "minus-inf"


def batch(learner, record, inputs, targets):
    """One step's loss on a batch in which a single row is far from 0."""
    loss = float(learner.run_cross_entropy(inputs=inputs.clone(), targets=targets.clone()))
    record(loss=loss, loss_is=kind(loss))


def sweep(learner, record, classes, levels):
    """A row of zeros and the target 1, in which the wrong class 0 climbs through the levels."""
    losses = []
    for level in levels.tolist():
        row = torch.zeros(1, classes)
        row[0, 0] = level
        losses.append(float(learner.run_cross_entropy(inputs=row, targets=torch.tensor([1]))))
    bad = [a for a, loss in zip(levels.tolist(), losses) if not math.isfinite(loss)]
    record(losses=losses, first_bad=bad[0] if bad else 0.0)
