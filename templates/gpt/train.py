"""Trains the GPT on text.txt: `python train.py`, or `python train.py --resume` after a stop."""

import math
import sys
import time
from dataclasses import asdict

import torch

from data import TextData, read_text
from generate import CHECKPOINT, write
from model import GPT, GPTConfig
from tokenizer import CharTokenizer

MAX_STEPS = 800
BATCH_SIZE = 8
ACCUMULATION_STEPS = 2  # batches for one step of the optimizer
LEARNING_RATE = 6e-3
MIN_LEARNING_RATE = 6e-4
WARMUP_STEPS = 50
WEIGHT_DECAY = 0.1
MAX_GRAD_NORM = 1.0
EVAL_INTERVAL = 100
EVAL_BATCHES = 20
CHECKPOINT_INTERVAL = 100


def configure_optimizer(model):
    """AdamW that decays the matrices, and neither the norms nor the biases."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": WEIGHT_DECAY},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=(0.9, 0.95))


def get_learning_rate(step):
    """Rises in a straight line during the warm-up, then falls along half a cosine."""
    if step < WARMUP_STEPS:
        return LEARNING_RATE * (step + 1) / WARMUP_STEPS
    progress = (step - WARMUP_STEPS) / (MAX_STEPS - WARMUP_STEPS)
    share = 0.5 * (1 + math.cos(math.pi * progress))
    return MIN_LEARNING_RATE + share * (LEARNING_RATE - MIN_LEARNING_RATE)


@torch.no_grad()
def estimate_loss(model, data, split):
    """The mean loss of some batches, without dropout."""
    model.eval()
    losses = torch.zeros(EVAL_BATCHES)
    for i in range(EVAL_BATCHES):
        x, y = data.get_batch(split, BATCH_SIZE, model.config.block_size)
        _, loss = model(x, y)
        losses[i] = loss
    model.train()
    return losses.mean().item()


def save_checkpoint(model, optimizer, tokenizer, step):
    """All that it takes to go on as if nothing had happened, or to generate text."""
    checkpoint = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "config": asdict(model.config),
        "chars": tokenizer.chars,
        "step": step,
    }
    torch.save(checkpoint, CHECKPOINT)


def load_checkpoint(model, optimizer):
    """Go on where the last run stopped; returns the next step."""
    checkpoint = torch.load(CHECKPOINT)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["step"]


def main():
    torch.manual_seed(1)
    text = read_text()
    tokenizer = CharTokenizer(text)
    data = TextData(tokenizer.encode(text))
    model = GPT(GPTConfig(vocab_size=len(tokenizer)))
    optimizer = configure_optimizer(model)
    first_step = load_checkpoint(model, optimizer) if "--resume" in sys.argv else 0
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(text):,} characters")

    started = time.time()
    model.train()
    for step in range(first_step, MAX_STEPS):
        if step % EVAL_INTERVAL == 0:
            report(model, data, step, started)

        for group in optimizer.param_groups:
            group["lr"] = get_learning_rate(step)
        optimizer.zero_grad(set_to_none=True)
        for _ in range(ACCUMULATION_STEPS):
            x, y = data.get_batch("train", BATCH_SIZE, model.config.block_size)
            _, loss = model(x, y)
            loss = loss / ACCUMULATION_STEPS
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_GRAD_NORM)
        optimizer.step()

        if (step + 1) % CHECKPOINT_INTERVAL == 0 or step + 1 == MAX_STEPS:
            save_checkpoint(model, optimizer, tokenizer, step + 1)

    report(model, data, MAX_STEPS, started)
    print(write(model, tokenizer, "\n", 400, temperature=0.8))


def report(model, data, step, started):
    train_loss, val_loss = estimate_loss(model, data, "train"), estimate_loss(model, data, "val")
    seconds = time.time() - started
    print(f"step {step:4d}  train {train_loss:.3f}  validation {val_loss:.3f}  {seconds:3.0f} s")


if __name__ == "__main__":
    main()
