"""Writes text with a trained language model."""

from __future__ import annotations

import torch
from torch import Tensor

from cs336_basics.layers import softmax
from cs336_basics.model import TransformerLM


def nucleus(probabilities: Tensor, top_p: float) -> Tensor:
    """Only the likeliest tokens that reach top_p together, as probabilities again.

    probabilities: (..., vocab_size). The token with which the sum reaches top_p is one of them.
    """
    ordered, places = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    ordered = ordered.masked_fill(before >= top_p, 0.0)
    kept = torch.zeros_like(probabilities).scatter(-1, places, ordered)
    return kept / kept.sum(dim=-1, keepdim=True)


@torch.no_grad()
def generate(
    model: TransformerLM,
    ids: Tensor,
    max_new_tokens: int,
    context_length: int,
    temperature: float = 1.0,
    top_p: float = 1.0,
    end: int | None = None,
) -> Tensor:
    """Go on with a text, token by token.

    ids: integers (batch, seq_len) -> (batch, seq_len + new), at most max_new_tokens new ones, fewer
    where each text has come to the token `end`.
    """
    model.eval()
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        logits = model(ids[:, -context_length:])[:, -1]
        probabilities = nucleus(softmax(logits / temperature, dim=-1), top_p)
        drawn = torch.multinomial(probabilities, 1)
        ids = torch.cat([ids, drawn], dim=1)
        if end is not None:
            ended |= drawn[:, 0] == end
            if ended.all():
                break
    return ids
