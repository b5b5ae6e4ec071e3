"""Runs the learner's embedding."""

import functools

import torch
from pack.calls import copied, fresh_parameters, module_facts, statistics, traced


def run(learner, ids, weight):
    """weight: (V, d), ids: (...,)."""
    V, d = weight.shape
    return learner.run_embedding(vocab_size=V, d_model=d, weights=weight, token_ids=ids)


def forward(learner, record, weight, ids):
    record(vectors=run(learner, *copied(ids, weight)))


def gradients(learner, record, weight, ids, grad):
    """grad: (..., d). Of sum(vectors * grad)."""
    traced(record, functools.partial(run, learner, ids), grad, {}, {"weight": weight})


def made(learner, record, weight, ids):
    module_facts(record, lambda: run(learner, *copied(ids, weight)))


def initialisation(learner, record, vocab_size, d_model):
    ran = functools.partial(run, learner, torch.zeros(1, 1).long(), torch.ones(vocab_size, d_model))
    for weight in fresh_parameters(ran).values():
        statistics(record, weight)


def kept(learner, record, weight, ids):
    """Whether what is handed in stays as it was."""
    own, inner = copied(weight, ids)
    run(learner, inner, own)
    record(weight=own, ids=inner)


def outside(learner, record, weight, ids):
    """Ids that are no rows of the table."""
    record(vectors=run(learner, *copied(ids, weight)))
