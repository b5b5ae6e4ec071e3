"""Trains the default MiniGPT of a model's folder on the pack's text, and prints what it measured as JSON.

    python tests/training.py FOLDER --steps 300

FOLDER has the model below src/, as a learner's has. The vocabulary is the characters of the text; it
has 51 of them, and the model's 64 rows are more than enough. Data and loop are written out here, so
only the model, its loss and AdamW come from the folder.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

TEXT = Path(__file__).parent.parent / "exercises" / "minimodel" / "texts" / "sonnets.txt"
WARM_UP = 20  # steps


def batch(
    ids: np.ndarray, size: int, length: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of the text and the same one character further on, (size, length) each."""
    starts = rng.integers(0, len(ids) - length, size)
    rows = ids[starts[:, None] + np.arange(length + 1)]
    return rows[:, :-1], rows[:, 1:]


def trained(
    steps: int, *, rate: float, size: int, decay: float, seed: int, planned: int
) -> dict[str, object]:
    """The loss before each step, in nats, and what surrounds it."""
    from minimodel.mini_gpt import MiniGPT, MiniGPTConfig
    from minimodel.nn.loss import cross_entropy
    from minimodel.optim import AdamW, clip_grad_norm, cosine_lr

    rng = np.random.default_rng(seed)
    text = TEXT.read_text("utf-8")
    place = {character: i for i, character in enumerate(sorted(set(text)))}
    ids = np.array([place[character] for character in text])
    config = MiniGPTConfig()
    model = MiniGPT(config, rng=rng)
    optimizer = AdamW(model.parameters(), lr=rate, weight_decay=decay)
    losses, started = [], time.perf_counter()
    for step in range(steps):
        x, y = batch(ids, size, config.context_len, rng)
        optimizer.lr = cosine_lr(
            step + 1, max_lr=rate, min_lr=rate / 10, warmup=WARM_UP, total=planned
        )
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.data))
    return {
        "parameters": sum(p.data.size for p in model.parameters()),
        "log_vocabulary": math.log(config.vocab_size),
        "characters": len(text),
        "seconds": round(time.perf_counter() - started, 1),
        "losses": losses,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--planned", type=int, default=300, help="where the cosine ends")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--size", type=int, default=16, help="sequences in a batch")
    parser.add_argument("--decay", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    given = vars(parser.parse_args())
    sys.path.insert(0, str(given.pop("folder") / "src"))
    print(json.dumps(trained(given.pop("steps"), **given)))
