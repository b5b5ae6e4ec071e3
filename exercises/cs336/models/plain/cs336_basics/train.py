"""Trains the language model on two files of token ids:

python -m cs336_basics.train --train train.bin --valid valid.bin --vocab-size 10000
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np
import torch

from cs336_basics.data import get_batch
from cs336_basics.model import TransformerLM
from cs336_basics.nn_utils import clip_gradients, cross_entropy
from cs336_basics.optimizer import AdamW, get_lr_cosine_schedule
from cs336_basics.serialization import load_checkpoint, save_checkpoint


def arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser()
    words.add_argument("--train", default="train.bin", help="ids of the training text, uint16")
    words.add_argument("--valid", default="valid.bin", help="ids of the text kept back, uint16")
    words.add_argument("--out", default="checkpoint.pt")
    words.add_argument("--vocab-size", type=int, default=10_000)
    words.add_argument("--context-length", type=int, default=256)
    words.add_argument("--d-model", type=int, default=512)
    words.add_argument("--num-layers", type=int, default=4)
    words.add_argument("--num-heads", type=int, default=16)
    words.add_argument("--d-ff", type=int, default=1344)
    words.add_argument("--rope-theta", type=float, default=10_000.0)
    words.add_argument("--batch-size", type=int, default=32)
    words.add_argument("--steps", type=int, default=5_000)
    words.add_argument("--warmup", type=int, default=100)
    words.add_argument("--max-lr", type=float, default=1e-3)
    words.add_argument("--min-lr", type=float, default=1e-4)
    words.add_argument("--weight-decay", type=float, default=0.1)
    words.add_argument("--max-norm", type=float, default=1.0)
    words.add_argument("--eval-every", type=int, default=250)
    words.add_argument("--eval-batches", type=int, default=10)
    words.add_argument("--device", default="cpu")
    return words.parse_args()


@torch.no_grad()
def evaluated(model: TransformerLM, dataset: Any, given: argparse.Namespace) -> float:
    """The mean loss on a few batches of a text that the model does not learn from."""
    model.eval()
    losses = []
    for _ in range(given.eval_batches):
        x, y = get_batch(dataset, given.batch_size, given.context_length, given.device)
        losses.append(cross_entropy(model(x), y).item())
    model.train()
    return sum(losses) / len(losses)


def main() -> None:
    given = arguments()
    train = np.memmap(given.train, dtype=np.uint16, mode="r")
    valid = np.memmap(given.valid, dtype=np.uint16, mode="r")
    model = TransformerLM(
        given.vocab_size, given.context_length, given.d_model, given.num_layers,
        given.num_heads, given.d_ff, given.rope_theta, device=given.device,
    )  # fmt: skip
    optimizer = AdamW(model.parameters(), lr=given.max_lr, weight_decay=given.weight_decay)
    start = load_checkpoint(given.out, model, optimizer) if os.path.exists(given.out) else 0
    for step in range(start, given.steps):
        rate = get_lr_cosine_schedule(step, given.max_lr, given.min_lr, given.warmup, given.steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        x, y = get_batch(train, given.batch_size, given.context_length, given.device)
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        clip_gradients(model.parameters(), given.max_norm)
        optimizer.step()
        if (step + 1) % given.eval_every == 0:
            kept_back = evaluated(model, valid, given)
            print(f"step {step + 1}: loss {loss.item():.3f}, on kept-back text {kept_back:.3f}")
            save_checkpoint(model, optimizer, step + 1, given.out)


if __name__ == "__main__":
    main()
