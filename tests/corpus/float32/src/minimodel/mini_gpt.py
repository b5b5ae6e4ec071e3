"""The model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from .module import Module
from .nn.block import TransformerBlock
from .nn.embedding import Embedding
from .nn.lm_head import LMHead
from .nn.norm import LayerNorm
from .tensor import Tensor


@dataclass(frozen=True)
class MiniGPTConfig:
    """Sizes of a `MiniGPT`.

    Parameters
    ----------
    d_model : int, default 64
        Length of a hidden state.
    n_heads : int, default 4
        Attention heads; each must get an even share of d_model (RoPE).
    n_layers : int, default 2
        Number of blocks.
    d_ff : int, default 256
        Inner length of the FFN.
    vocab_size : int, default 64
        Number of tokens.
    context_len : int, default 32
        Longest sequence.

    Raises
    ------
    ValueError
        If a size is not a positive integer or the heads do not fit.
    """

    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 256
    vocab_size: int = 64
    context_len: int = 32

    def __post_init__(self) -> None:
        for name, size in asdict(self).items():
            whole = isinstance(size, (int, np.integer))
            if not whole or isinstance(size, bool) or size < 1:
                raise ValueError(
                    f"{name} must be a positive integer, not {size!r}"
                )
        if self.d_model % (2 * self.n_heads):
            raise ValueError(
                f"d_model = {self.d_model} does not give each of "
                f"{self.n_heads} heads an even number of columns"
            )


def make_model(
    context_len: int,
    token_emb: Embedding,
    blocks: list[TransformerBlock],
    ln_final: LayerNorm,
    lm_head: LMHead,
) -> Callable[[NDArray[np.integer]], Tensor]:
    """Close over the layers, bottom to top."""

    def forward(token_ids: NDArray[np.integer]) -> Tensor:
        shape = np.shape(token_ids)
        if not shape:
            raise ValueError("token ids need a time axis, got a single id")
        if shape[-1] > context_len:
            raise ValueError(
                f"sequence of length {shape[-1]} is longer than "
                f"context_len = {context_len}"
            )
        x = token_emb(token_ids)
        for block in blocks:
            x = block(x)
        return lm_head(ln_final(x))

    return forward


class MiniGPT(Module):
    """Decoder-only transformer with tied embeddings.

    Parameters
    ----------
    config : MiniGPTConfig
        The sizes.
    rng : numpy.random.Generator, optional
        Draws the first weights.

    Attributes
    ----------
    config : MiniGPTConfig
        As given.
    token_emb : Embedding
        Bottom, and by way of `lm_head` top.
    blocks : list of TransformerBlock
        What is between.
    ln_final : LayerNorm
        Before the head.
    lm_head : LMHead
        Tied to `token_emb`.
    forward : callable
        (..., T) ids -> (..., T, vocab_size) logits.  ValueError when T
        exceeds the context.
    """

    def __init__(
        self,
        config: MiniGPTConfig,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        rng = np.random.default_rng() if rng is None else rng
        self.config = config
        self.token_emb = Embedding(config.vocab_size, config.d_model, rng=rng)
        self.blocks = [
            TransformerBlock(
                config.d_model, config.n_heads, config.d_ff, rng=rng
            )
            for _ in range(config.n_layers)
        ]
        self.ln_final = LayerNorm(config.d_model)
        self.lm_head = LMHead(self.token_emb)
        self.forward = make_model(
            config.context_len,
            self.token_emb,
            self.blocks,
            self.ln_final,
            self.lm_head,
        )
