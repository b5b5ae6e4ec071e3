"""What the checks call. Each function puts the weights that it is given into a module of yours, and runs it.

Nothing has to be done here, as long as your modules have the names and attributes of the stubs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, Any

import torch
from torch import Tensor, nn

from cs336_basics.attention import MultiHeadSelfAttention, scaled_dot_product_attention
from cs336_basics.data import get_batch
from cs336_basics.layers import Embedding, Linear, RMSNorm, SwiGLU, silu, softmax
from cs336_basics.model import TransformerBlock, TransformerLM
from cs336_basics.nn_utils import clip_gradients, cross_entropy
from cs336_basics.optimizer import AdamW, get_lr_cosine_schedule
from cs336_basics.rope import RotaryPositionalEmbedding
from cs336_basics.serialization import load_checkpoint, save_checkpoint
from cs336_basics.tokenizer import Tokenizer, train_bpe

File = str | os.PathLike | IO[bytes]


def run_linear(d_in: int, d_out: int, weights: Tensor, in_features: Tensor) -> Tensor:
    """weights: (d_out, d_in), in_features: (..., d_in) -> (..., d_out)."""
    layer = Linear(d_in, d_out)
    layer.load_state_dict({"weight": weights})
    return layer(in_features)


def run_embedding(vocab_size: int, d_model: int, weights: Tensor, token_ids: Tensor) -> Tensor:
    """weights: (vocab_size, d_model), token_ids: (...,) -> (..., d_model)."""
    layer = Embedding(vocab_size, d_model)
    layer.load_state_dict({"weight": weights})
    return layer(token_ids)


def run_swiglu(
    d_model: int,
    d_ff: int,
    w1_weight: Tensor,
    w2_weight: Tensor,
    w3_weight: Tensor,
    in_features: Tensor,
) -> Tensor:
    """w1, w3: (d_ff, d_model), w2: (d_model, d_ff), in_features: (..., d_model) -> (..., d_model)."""
    layer = SwiGLU(d_model, d_ff)
    weights = {"w1.weight": w1_weight, "w2.weight": w2_weight, "w3.weight": w3_weight}
    layer.load_state_dict(weights)
    return layer(in_features)


def run_scaled_dot_product_attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None
) -> Tensor:
    """(..., queries, d_k), (..., keys, d_k), (..., keys, d_v) -> (..., queries, d_v)."""
    return scaled_dot_product_attention(Q, K, V, mask)


def run_multihead_self_attention(
    d_model: int,
    num_heads: int,
    q_proj_weight: Tensor,
    k_proj_weight: Tensor,
    v_proj_weight: Tensor,
    o_proj_weight: Tensor,
    in_features: Tensor,
) -> Tensor:
    """Weights (d_model, d_model), in_features: (..., seq_len, d_model) -> the same. Without RoPE."""
    layer = MultiHeadSelfAttention(d_model, num_heads)
    weights = projections(q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight)
    layer.load_state_dict(weights)
    return layer(in_features)


def run_multihead_self_attention_with_rope(
    d_model: int,
    num_heads: int,
    max_seq_len: int,
    theta: float,
    q_proj_weight: Tensor,
    k_proj_weight: Tensor,
    v_proj_weight: Tensor,
    o_proj_weight: Tensor,
    in_features: Tensor,
    token_positions: Tensor | None = None,
) -> Tensor:
    """As above, with RoPE on the queries and keys of every head; token_positions: (..., seq_len)."""
    rope = RotaryPositionalEmbedding(theta, d_model // num_heads, max_seq_len)
    layer = MultiHeadSelfAttention(d_model, num_heads, rope)
    weights = projections(q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight)
    layer.load_state_dict(weights)
    return layer(in_features, token_positions)


def projections(q: Tensor, k: Tensor, v: Tensor, o: Tensor) -> dict[str, Tensor]:
    """The four weights of attention by the names that the module has for them."""
    names = ("q_proj", "k_proj", "v_proj", "output_proj")
    return {f"{name}.weight": weight for name, weight in zip(names, (q, k, v, o), strict=True)}


def run_rope(
    d_k: int, theta: float, max_seq_len: int, in_query_or_key: Tensor, token_positions: Tensor
) -> Tensor:
    """in_query_or_key: (..., seq_len, d_k), token_positions: (..., seq_len) -> (..., seq_len, d_k)."""
    return RotaryPositionalEmbedding(theta, d_k, max_seq_len)(in_query_or_key, token_positions)


def run_transformer_block(
    d_model: int,
    num_heads: int,
    d_ff: int,
    max_seq_len: int,
    theta: float,
    weights: dict[str, Tensor],
    in_features: Tensor,
) -> Tensor:
    """weights: a state dict with attn.{q,k,v,output}_proj.weight, ln1.weight, ffn.{w1,w2,w3}.weight and
    ln2.weight; in_features: (batch, seq_len, d_model) -> the same.
    """
    block = TransformerBlock(d_model, num_heads, d_ff, max_seq_len, theta)
    block.load_state_dict(weights)
    return block(in_features)


def run_transformer_lm(
    vocab_size: int,
    context_length: int,
    d_model: int,
    num_layers: int,
    num_heads: int,
    d_ff: int,
    rope_theta: float,
    weights: dict[str, Tensor],
    in_indices: Tensor,
) -> Tensor:
    """weights: a state dict with token_embeddings.weight, those of each block under layers.0, layers.1 ...,
    ln_final.weight and lm_head.weight; in_indices: (batch, seq_len) -> (batch, seq_len, vocab_size).
    """
    model = TransformerLM(
        vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta
    )
    model.load_state_dict(weights)
    return model(in_indices)


def run_rmsnorm(d_model: int, eps: float, weights: Tensor, in_features: Tensor) -> Tensor:
    """weights: (d_model,), in_features: (..., d_model) -> (..., d_model)."""
    layer = RMSNorm(d_model, eps)
    layer.load_state_dict({"weight": weights})
    return layer(in_features)


def run_silu(in_features: Tensor) -> Tensor:
    """(...,) -> (...,)."""
    return silu(in_features)


def run_get_batch(
    dataset: Any, batch_size: int, context_length: int, device: str
) -> tuple[Tensor, Tensor]:
    """dataset: (n,) -> inputs and targets, (batch_size, context_length) each."""
    return get_batch(dataset, batch_size, context_length, device)


def run_softmax(in_features: Tensor, dim: int) -> Tensor:
    """(...,) -> (...,)."""
    return softmax(in_features, dim)


def run_cross_entropy(inputs: Tensor, targets: Tensor) -> Tensor:
    """inputs: (batch_size, vocab_size), targets: (batch_size,) -> a scalar."""
    return cross_entropy(inputs, targets)


def run_gradient_clipping(parameters: Iterable[nn.Parameter], max_l2_norm: float) -> None:
    """Changes the gradients in place."""
    clip_gradients(parameters, max_l2_norm)


def get_adamw_cls() -> type[torch.optim.Optimizer]:
    """The optimizer's class."""
    return AdamW


def run_get_lr_cosine_schedule(
    it: int,
    max_learning_rate: float,
    min_learning_rate: float,
    warmup_iters: int,
    cosine_cycle_iters: int,
) -> float:
    """The learning rate of iteration `it`."""
    return get_lr_cosine_schedule(
        it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters
    )


def run_save_checkpoint(
    model: nn.Module, optimizer: torch.optim.Optimizer, iteration: int, out: File
) -> None:
    """Writes a checkpoint."""
    save_checkpoint(model, optimizer, iteration, out)


def run_load_checkpoint(src: File, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """The iteration of the checkpoint, whose states the model and the optimizer have then."""
    return load_checkpoint(src, model, optimizer)


def get_tokenizer(
    vocab: dict[int, bytes],
    merges: list[tuple[bytes, bytes]],
    special_tokens: list[str] | None = None,
) -> Tokenizer:
    """A tokenizer with this vocabulary and these merges."""
    return Tokenizer(vocab, merges, special_tokens)


def run_train_bpe(
    input_path: str | os.PathLike, vocab_size: int, special_tokens: list[str], **kwargs: Any
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """A vocabulary and its merges."""
    return train_bpe(input_path, vocab_size, special_tokens)
