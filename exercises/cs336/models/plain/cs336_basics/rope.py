"""Rotary position embedding."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RotaryPositionalEmbedding(nn.Module):
    """Turns pairs of columns by angles that grow with the position.

    At position pos the pair of columns (2i, 2i + 1) is a point (a, b) of the plane and turns by
    angle = pos * theta^(-2i / d_k):

        (a, b) -> (a cos(angle) - b sin(angle), a sin(angle) + b cos(angle))

    It has no parameters. Tables of sines and cosines belong into buffers that are not saved:
    `register_buffer(..., persistent=False)`.
    """

    def __init__(
        self, theta: float, d_k: int, max_seq_len: int, device: torch.device | None = None
    ) -> None:
        super().__init__()
        frequencies = theta ** (-torch.arange(0, d_k, 2, device=device) / d_k)
        angles = torch.outer(torch.arange(max_seq_len, device=device), frequencies)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x: Tensor, token_positions: Tensor) -> Tensor:
        """x: (..., seq_len, d_k), token_positions: integers (..., seq_len)
        -> (..., seq_len, d_k).
        """
        cos, sin = self.cos[token_positions], self.sin[token_positions]
        a, b = x[..., 0::2], x[..., 1::2]
        turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1)
        return turned.flatten(-2).to(x.dtype)
