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
