from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, Any, BinaryIO

import numpy.typing as npt
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from cs336_basics import bpe_tokenizer, model, train_utils


def run_linear(d_in: int, d_out: int, weights: Float[Tensor, " d_out d_in"],
               in_features: Float[Tensor, " ... d_in"]) -> Float[Tensor, " ... d_out"]:
    linear = model.Linear(d_in, d_out)
    linear.W.data = weights
    return linear(in_features)


def run_embedding(vocab_size: int, d_model: int, weights: Float[Tensor, " vocab_size d_model"],
                  token_ids: Int[Tensor, " ..."]) -> Float[Tensor, " ... d_model"]:
    emb = model.Embedding(vocab_size, d_model)
    emb.table.data = weights
    return emb(token_ids)


def set_swiglu(ffn: model.SwiGLU, w1: Tensor, w2: Tensor, w3: Tensor) -> model.SwiGLU:
    ffn.gate.W.data, ffn.down.W.data, ffn.up.W.data = w1, w2, w3
    return ffn


def run_swiglu(d_model: int, d_ff: int, w1_weight: Float[Tensor, " d_ff d_model"],
               w2_weight: Float[Tensor, " d_model d_ff"], w3_weight: Float[Tensor, " d_ff d_model"],
               in_features: Float[Tensor, " ... d_model"]) -> Float[Tensor, " ... d_model"]:
    return set_swiglu(model.SwiGLU(d_model, d_ff), w1_weight, w2_weight, w3_weight)(in_features)


def run_scaled_dot_product_attention(
    Q: Float[Tensor, " ... queries d_k"], K: Float[Tensor, " ... keys d_k"], V: Float[Tensor, " ... values d_v"],
    mask: Bool[Tensor, " ... queries keys"] | None = None,
) -> Float[Tensor, " ... queries d_v"]:
    return model.attention(Q, K, V, mask)


def set_attention(attn: model.CausalSelfAttention, q: Tensor, k: Tensor, v: Tensor, o: Tensor):
    attn.qkv.W.data = torch.cat([q, k, v], dim=0)
    attn.out.W.data = o
    return attn


def run_multihead_self_attention(
    d_model: int, num_heads: int, q_proj_weight: Tensor, k_proj_weight: Tensor, v_proj_weight: Tensor,
    o_proj_weight: Tensor, in_features: Float[Tensor, " ... sequence_length d_in"],
) -> Float[Tensor, " ... sequence_length d_out"]:
    attn = model.CausalSelfAttention(d_model, num_heads)
    return set_attention(attn, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight)(in_features)


def run_multihead_self_attention_with_rope(
    d_model: int, num_heads: int, max_seq_len: int, theta: float, q_proj_weight: Tensor, k_proj_weight: Tensor,
    v_proj_weight: Tensor, o_proj_weight: Tensor, in_features: Float[Tensor, " ... sequence_length d_in"],
    token_positions: Int[Tensor, " ... sequence_length"] | None = None,
) -> Float[Tensor, " ... sequence_length d_out"]:
    rope = model.RoPE(theta, d_model // num_heads, max_seq_len)
    attn = model.CausalSelfAttention(d_model, num_heads, rope)
    set_attention(attn, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight)
    return attn(in_features, token_positions)


def run_rope(d_k: int, theta: float, max_seq_len: int, in_query_or_key: Float[Tensor, " ... sequence_length d_k"],
             token_positions: Int[Tensor, " ... sequence_length"]) -> Float[Tensor, " ... sequence_length d_k"]:
    return model.RoPE(theta, d_k, max_seq_len)(in_query_or_key, token_positions)


def set_block(block: model.Block, w: dict[str, Tensor], prefix: str = "") -> model.Block:
    set_attention(block.attn, *(w[f"{prefix}attn.{n}_proj.weight"] for n in ("q", "k", "v", "output")))
    set_swiglu(block.ffn, *(w[f"{prefix}ffn.{n}.weight"] for n in ("w1", "w2", "w3")))
    block.norm_attn.gain.data = w[prefix + "ln1.weight"]
    block.norm_ffn.gain.data = w[prefix + "ln2.weight"]
    return block


def run_transformer_block(d_model: int, num_heads: int, d_ff: int, max_seq_len: int, theta: float,
                          weights: dict[str, Tensor], in_features: Float[Tensor, " batch sequence_length d_model"],
                          ) -> Float[Tensor, " batch sequence_length d_model"]:
    rope = model.RoPE(theta, d_model // num_heads, max_seq_len)
    return set_block(model.Block(d_model, num_heads, d_ff, rope), weights)(in_features)


def run_transformer_lm(
    vocab_size: int, context_length: int, d_model: int, num_layers: int, num_heads: int, d_ff: int, rope_theta: float,
    weights: dict[str, Tensor], in_indices: Int[Tensor, " batch_size sequence_length"],
) -> Float[Tensor, " batch_size sequence_length vocab_size"]:
    lm = model.Transformer(vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta)
    lm.embed.table.data = weights["token_embeddings.weight"]
    for i, block in enumerate(lm.blocks):
        set_block(block, weights, f"layers.{i}.")
    lm.norm.gain.data = weights["ln_final.weight"]
    lm.head.W.data = weights["lm_head.weight"]
    return lm(in_indices)


def run_rmsnorm(d_model: int, eps: float, weights: Float[Tensor, " d_model"],
                in_features: Float[Tensor, " ... d_model"]) -> Float[Tensor, " ... d_model"]:
    norm = model.RMSNorm(d_model, eps)
    norm.gain.data = weights
    return norm(in_features)


def run_silu(in_features: Float[Tensor, " ..."]) -> Float[Tensor, " ..."]:
    return model.silu(in_features)


def run_get_batch(dataset: npt.NDArray, batch_size: int, context_length: int, device: str):
    return train_utils.get_batch(dataset, batch_size, context_length, device)


def run_softmax(in_features: Float[Tensor, " ..."], dim: int) -> Float[Tensor, " ..."]:
    return model.softmax(in_features, dim)


def run_cross_entropy(inputs: Float[Tensor, " batch_size vocab_size"], targets: Int[Tensor, " batch_size"]):
    return train_utils.cross_entropy(inputs, targets)


def run_gradient_clipping(parameters: Iterable[torch.nn.Parameter], max_l2_norm: float) -> None:
    train_utils.gradient_clipping(parameters, max_l2_norm)


def get_adamw_cls() -> Any:
    return train_utils.AdamW


def run_get_lr_cosine_schedule(it: int, max_learning_rate: float, min_learning_rate: float, warmup_iters: int,
                               cosine_cycle_iters: int):
    return train_utils.cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters)


def run_save_checkpoint(model: torch.nn.Module, optimizer: torch.optim.Optimizer, iteration: int,
                        out: str | os.PathLike | BinaryIO | IO[bytes]):
    train_utils.save_checkpoint(model, optimizer, iteration, out)


def run_load_checkpoint(src: str | os.PathLike | BinaryIO | IO[bytes], model: torch.nn.Module,
                        optimizer: torch.optim.Optimizer) -> int:
    return train_utils.load_checkpoint(src, model, optimizer)


def get_tokenizer(vocab: dict[int, bytes], merges: list[tuple[bytes, bytes]],
                  special_tokens: list[str] | None = None) -> Any:
    return bpe_tokenizer.Tokenizer(vocab, merges, special_tokens)


def run_train_bpe(input_path: str | os.PathLike, vocab_size: int, special_tokens: list[str], **kwargs):
    return bpe_tokenizer.train_bpe(input_path, vocab_size, special_tokens, **kwargs)
