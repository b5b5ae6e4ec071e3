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
    raise NotImplementedError("save a checkpoint")


def load_checkpoint(
    src: str | os.PathLike[str] | IO[bytes], model: nn.Module, optimizer: torch.optim.Optimizer
) -> int:
    """Give the model and the optimizer their states back; returns the iteration."""
    raise NotImplementedError("load a checkpoint")
