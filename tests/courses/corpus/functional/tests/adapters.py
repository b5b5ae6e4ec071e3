from __future__ import annotations

from torch import Tensor

from tinylm import bpe, training
from tinylm import functional as tf


def run_linear(d_in: int, d_out: int, weights: Tensor, in_features: Tensor) -> Tensor:
    return tf.linear(in_features, weights)


def run_embedding(vocab_size: int, d_model: int, weights: Tensor, token_ids: Tensor) -> Tensor:
    return tf.embedding(token_ids, weights)


def run_swiglu(
    d_model: int, d_ff: int, w1_weight: Tensor, w2_weight: Tensor, w3_weight: Tensor, in_features: Tensor
) -> Tensor:
    return tf.swiglu(in_features, w1_weight, w2_weight, w3_weight)


def run_scaled_dot_product_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
    return tf.sdpa(Q, K, V, mask)


def run_multihead_self_attention(
    d_model: int,
    num_heads: int,
    q_proj_weight: Tensor,
    k_proj_weight: Tensor,
    v_proj_weight: Tensor,
    o_proj_weight: Tensor,
    in_features: Tensor,
) -> Tensor:
    return tf.attention(in_features, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight, num_heads)


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
    return tf.attention(
        in_features, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight, num_heads, theta, token_positions
    )


def run_rope(d_k: int, theta: float, max_seq_len: int, in_query_or_key: Tensor, token_positions: Tensor) -> Tensor:
    return tf.rope(in_query_or_key, *tf.rope_tables(theta, d_k, token_positions))


def run_transformer_block(
    d_model: int, num_heads: int, d_ff: int, max_seq_len: int, theta: float, weights: dict[str, Tensor],
    in_features: Tensor,
) -> Tensor:
    return tf.block(in_features, weights, "", num_heads, theta)


def run_transformer_lm(
    vocab_size: int, context_length: int, d_model: int, num_layers: int, num_heads: int, d_ff: int, rope_theta: float,
    weights: dict[str, Tensor], in_indices: Tensor,
) -> Tensor:
    return tf.transformer(in_indices, weights, num_layers, num_heads, rope_theta)


def run_rmsnorm(d_model: int, eps: float, weights: Tensor, in_features: Tensor) -> Tensor:
    return tf.rmsnorm(in_features, weights, eps)


def run_silu(in_features: Tensor) -> Tensor:
    return tf.silu(in_features)


def run_get_batch(dataset, batch_size: int, context_length: int, device: str) -> tuple[Tensor, Tensor]:
    return training.sample_batch(dataset, batch_size, context_length, device)


def run_softmax(in_features: Tensor, dim: int) -> Tensor:
    return tf.softmax(in_features, dim)


def run_cross_entropy(inputs: Tensor, targets: Tensor) -> Tensor:
    return tf.cross_entropy(inputs, targets)


def run_gradient_clipping(parameters, max_l2_norm: float) -> None:
    training.clip_grad_norm(parameters, max_l2_norm)


def get_adamw_cls():
    return training.AdamW


def run_get_lr_cosine_schedule(
    it: int, max_learning_rate: float, min_learning_rate: float, warmup_iters: int, cosine_cycle_iters: int
):
    return training.cosine_lr(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters)


def run_save_checkpoint(model, optimizer, iteration: int, out):
    training.save(model, optimizer, iteration, out)


def run_load_checkpoint(src, model, optimizer) -> int:
    return training.load(src, model, optimizer)


def get_tokenizer(vocab, merges, special_tokens: list[str] | None = None):
    return bpe.Tokenizer(vocab, merges, special_tokens)


def run_train_bpe(input_path, vocab_size: int, special_tokens: list[str], **kwargs):
    return bpe.train(input_path, vocab_size, special_tokens)
