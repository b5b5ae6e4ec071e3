from dataclasses import dataclass
from typing import Optional


@dataclass
class ModelArgs:
    dim: int = 512
    n_layers: int = 8
    n_heads: int = 8
    n_kv_heads: Optional[int] = 4
    vocab_size: int = 32000
    multiple_of: int = 32
    norm_eps: float = 1e-5
    max_seq_len: int = 2048
    rope_theta: float = 10000.0
