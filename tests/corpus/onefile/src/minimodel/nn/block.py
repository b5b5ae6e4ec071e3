from ..nn.ffn import FFN
from .attention import MultiHeadAttention
from .norm import LayerNorm
from .._core import TransformerBlock
