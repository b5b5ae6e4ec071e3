"""Runs the learner's language model on a text, and scores it by PyTorch."""

import torch
from pack.lm.call import run as logits_of


def run(learner, record, ids, heads, theta, context_length, **own):
    """The loss at each place of the text, and how large the logits are."""
    logits = logits_of(learner, ids, heads, theta, context_length, own).detach().double()
    record(logits_shape=list(logits.shape), spread_of_the_logits=float(logits.std()))
    nll = torch.nn.functional.cross_entropy
    losses = nll(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    record(losses=losses.reshape(len(ids), -1).mean(0).tolist(), loss=float(losses.mean()))
