"""Layers and losses."""

from .attention import MultiHeadAttention, scaled_dot_product_attention
from .block import TransformerBlock
from .embedding import Embedding
from .ffn import FFN, gelu
from .lm_head import LMHead
from .loss import cross_entropy
from .lstm import LSTM
from .norm import LayerNorm, RMSNorm
from .positional import EmbeddingLayer, LearnedPositional, rope, sinusoidal

__all__ = [
    "FFN",
    "LSTM",
    "Embedding",
    "EmbeddingLayer",
    "LMHead",
    "LayerNorm",
    "LearnedPositional",
    "MultiHeadAttention",
    "RMSNorm",
    "TransformerBlock",
    "cross_entropy",
    "gelu",
    "rope",
    "scaled_dot_product_attention",
    "sinusoidal",
]
