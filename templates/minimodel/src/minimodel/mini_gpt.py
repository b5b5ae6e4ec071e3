"""The whole model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minimodel.module import Module
from minimodel.tensor import Tensor


@dataclass(frozen=True)
class MiniGPTConfig:
    """The sizes of a model. They cannot be changed once the object exists.

    Raises:
        ValueError: the values make no model, for example a size that is not positive.
    """

    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 256
    vocab_size: int = 64
    context_len: int = 32

    def __post_init__(self) -> None:
        raise NotImplementedError("check the values of the configuration")


class MiniGPT(Module):
    """Embedding, a stack of blocks, a last normalisation, and the tied head.

    With the default configuration it has exactly 103,680 parameters.

    Attributes:
        config: the MiniGPTConfig it was given.
        token_emb: the Embedding. Positions come from the RoPE inside the blocks.
        blocks: the n_layers TransformerBlocks, in order.
        ln_final: LayerNorm.
        lm_head: LMHead, tied to token_emb.
    """

    def __init__(self, config: MiniGPTConfig, *, rng: np.random.Generator | None = None) -> None:
        raise NotImplementedError("put the parts of the model together")

    def forward(self, token_ids: np.ndarray) -> Tensor:
        """Token ids (..., T) -> logits (..., T, vocab_size).

        Raises:
            ValueError: T is greater than config.context_len.
        """
        raise NotImplementedError("run the ids through the model")
