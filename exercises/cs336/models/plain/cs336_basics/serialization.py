"""Checkpoints: all that it takes to go on training as if nothing had happened."""

from __future__ import annotations

import os
from typing import IO

import torch
from torch import nn


def save_checkpoint(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    iteration: int,
    out: str | os.PathLike[str] | IO[bytes],
) -> None:
    """Write the states of the model and of the optimizer, and the iteration."""
    checkpoint = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "iteration": iteration,
    }
    torch.save(checkpoint, out)


def load_checkpoint(
    src: str | os.PathLike[str] | IO[bytes], model: nn.Module, optimizer: torch.optim.Optimizer
) -> int:
    """Give the model and the optimizer their states back; returns the iteration."""
    # To the CPU first: the states go on to where the model is, whatever device they were saved on.
    checkpoint = torch.load(src, map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["iteration"]
