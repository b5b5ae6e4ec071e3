"""Runs the learner's softmax."""

import math

import torch
from pack.calls import copied, module_facts, traced


def forward(learner, record, x, dim):
    """x: any shape."""
    record(p=learner.run_softmax(in_features=x.clone(), dim=dim))


def gradients(learner, record, x, dim, grad):
    """Of sum(p * grad)."""
    traced(record, lambda x: learner.run_softmax(in_features=x, dim=dim), grad, {"x": x})


def made(learner, record, x, dim):
    module_facts(record, lambda: learner.run_softmax(in_features=x.clone(), dim=dim))


def kept(learner, record, x, dim):
    """Whether what is handed in stays as it was."""
    (inner,) = copied(x)
    learner.run_softmax(in_features=inner, dim=dim)
    record(x=inner)


def hot(learner, record, x):
    """16 rows, one of them far from 0: what its weights are, and what of the others."""
    p = learner.run_softmax(in_features=x.clone(), dim=-1).detach().double()
    record(not_a_number=int(p.isnan().sum()), rows_hit=int(p.isnan().any(-1).sum()))
    record(zeros_in_that_row=int((p[3] == 0).sum()), weights_of_that_row=p[3])


def sweep(learner, record, classes, levels):
    """A row of zeros, in which one score climbs through the levels: its weight."""
    rows = torch.zeros(len(levels), classes)
    rows[:, 0] = levels
    found = [learner.run_softmax(in_features=row[None], dim=-1)[0, 0] for row in rows]
    weights = [float(weight.detach()) for weight in found]
    bad = [a for a, weight in zip(levels.tolist(), weights) if not math.isfinite(weight)]
    record(weights=weights, first_bad=bad[0] if bad else 0.0)
