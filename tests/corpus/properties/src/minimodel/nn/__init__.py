from .attention import MultiHeadAttention, scaled_dot_product_attention
from .block import TransformerBlock
from .embedding import Embedding
from .ffn import FFN, gelu
from .lm_head import LMHead
from .loss import cross_entropy
from .lstm import LSTM
from .norm import LayerNorm, RMSNorm
from .positional import EmbeddingLayer, LearnedPositional, rope, sinusoidal
