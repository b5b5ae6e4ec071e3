from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn as nn

from cs336_basics.optim import AdamW, clip_grad, lr_schedule
from cs336_basics.tokenizer import BPETokenizer
from cs336_basics.train_bpe import train_bpe


def run_linear(d_in, d_out, weights, in_features):
    """
    Args:
        weights (Float[Tensor, "d_out d_in"]): The linear weights to use
        in_features (Float[Tensor, "... d_in"])
    """
    assert weights.shape == (d_out, d_in)
    return torch.einsum("...i,oi->...o", in_features, weights)


def run_embedding(vocab_size, d_model, weights, token_ids):
    assert weights.shape == (vocab_size, d_model)
    return weights[token_ids, :]


def run_silu(in_features):
    return torch.sigmoid(in_features) * in_features


def run_swiglu(d_model, d_ff, w1_weight, w2_weight, w3_weight, in_features):
    """W2(SiLU(W1 x) * W3 x)"""
    a = run_silu(run_linear(d_model, d_ff, w1_weight, in_features))
    b = run_linear(d_model, d_ff, w3_weight, in_features)
    return run_linear(d_ff, d_model, w2_weight, a * b)


def run_softmax(in_features, dim):
    largest, _ = in_features.max(dim, keepdim=True)
    e = (in_features - largest).exp()
    return e / e.sum(dim, keepdim=True)


def run_scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    logits = torch.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(d_k)
    if mask is not None:
        logits = logits + torch.zeros_like(logits).masked_fill(torch.logical_not(mask), -math.inf)
    return torch.einsum("...qk,...kd->...qd", run_softmax(logits, -1), V)


def causal_mask(n, device=None):
    return ~torch.triu(torch.ones(n, n, dtype=torch.bool, device=device), diagonal=1)


def run_rope(d_k, theta, max_seq_len, in_query_or_key, token_positions):
    """
    Args:
        in_query_or_key (Float[Tensor, "... sequence_length d_k"])
        token_positions (Int[Tensor, "... sequence_length"])
    """
    x = in_query_or_key
    exponents = torch.arange(0, d_k, 2, device=x.device) / d_k
    angles = token_positions.unsqueeze(-1) / theta**exponents
    # one angle for both members of a pair
    cos = angles.cos().repeat_interleave(2, dim=-1)
    sin = angles.sin().repeat_interleave(2, dim=-1)
    rotated = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * cos + rotated * sin


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, use_rope, theta=None, max_seq_len=None):
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.use_rope, self.theta, self.max_seq_len = use_rope, theta, max_seq_len
        for name in ("q_proj", "k_proj", "v_proj", "output_proj"):
            setattr(self, name, nn.Parameter(torch.zeros(d_model, d_model)))

    def project(self, weight, x):
        y = run_linear(self.d_model, self.d_model, weight, x)
        return y.unflatten(-1, (self.num_heads, -1)).movedim(-2, -3)

    def forward(self, x, token_positions=None):
        n = x.shape[-2]
        q = self.project(self.q_proj, x)
        k = self.project(self.k_proj, x)
        v = self.project(self.v_proj, x)
        if self.use_rope:
            if token_positions is None:
                token_positions = torch.arange(n, device=x.device)
            positions = token_positions[..., None, :]  # broadcasts over the heads
            d_head = self.d_model // self.num_heads
            q = run_rope(d_head, self.theta, self.max_seq_len, q, positions)
            k = run_rope(d_head, self.theta, self.max_seq_len, k, positions)
        heads = run_scaled_dot_product_attention(q, k, v, causal_mask(n, x.device))
        concat = heads.movedim(-3, -2).flatten(-2)
        return run_linear(self.d_model, self.d_model, self.output_proj, concat)


def run_multihead_self_attention(
    d_model, num_heads, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight, in_features
):
    attn = Attention(d_model, num_heads, use_rope=False)
    attn.q_proj.data = q_proj_weight
    attn.k_proj.data = k_proj_weight
    attn.v_proj.data = v_proj_weight
    attn.output_proj.data = o_proj_weight
    return attn(in_features)


def run_multihead_self_attention_with_rope(
    d_model,
    num_heads,
    max_seq_len,
    theta,
    q_proj_weight,
    k_proj_weight,
    v_proj_weight,
    o_proj_weight,
    in_features,
    token_positions=None,
):
    attn = Attention(d_model, num_heads, use_rope=True, theta=theta, max_seq_len=max_seq_len)
    attn.q_proj.data = q_proj_weight
    attn.k_proj.data = k_proj_weight
    attn.v_proj.data = v_proj_weight
    attn.output_proj.data = o_proj_weight
    return attn(in_features, token_positions)


def run_rmsnorm(d_model, eps, weights, in_features):
    x = in_features.to(torch.float32)
    rms = torch.sqrt(torch.sum(x**2, dim=-1, keepdim=True) / d_model + eps)
    return (weights * x / rms).to(in_features.dtype)


def run_transformer_block(d_model, num_heads, d_ff, max_seq_len, theta, weights, in_features):
    x = in_features
    h = run_rmsnorm(d_model, 1e-5, weights["ln1.weight"], x)
    attn_out = run_multihead_self_attention_with_rope(
        d_model,
        num_heads,
        max_seq_len,
        theta,
        weights["attn.q_proj.weight"],
        weights["attn.k_proj.weight"],
        weights["attn.v_proj.weight"],
        weights["attn.output_proj.weight"],
        h,
        torch.arange(x.shape[-2], device=x.device),
    )
    x = x + attn_out
    h = run_rmsnorm(d_model, 1e-5, weights["ln2.weight"], x)
    ffn_out = run_swiglu(
        d_model, d_ff, weights["ffn.w1.weight"], weights["ffn.w2.weight"], weights["ffn.w3.weight"], h
    )
    return x + ffn_out


def run_transformer_lm(
    vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta, weights, in_indices
):
    x = run_embedding(vocab_size, d_model, weights["token_embeddings.weight"], in_indices)
    for i in range(num_layers):
        prefix = f"layers.{i}."
        layer_weights = {k.removeprefix(prefix): w for k, w in weights.items() if k.startswith(prefix)}
        x = run_transformer_block(d_model, num_heads, d_ff, context_length, rope_theta, layer_weights, x)
    x = run_rmsnorm(d_model, 1e-5, weights["ln_final.weight"], x)
    return run_linear(d_model, vocab_size, weights["lm_head.weight"], x)


def run_get_batch(dataset, batch_size, context_length, device):
    last_start = len(dataset) - context_length - 1
    starts = np.random.randint(0, last_start + 1, (batch_size, 1))
    offsets = np.arange(context_length)
    inputs = torch.tensor(dataset[starts + offsets], dtype=torch.long, device=device)
    labels = torch.tensor(dataset[starts + offsets + 1], dtype=torch.long, device=device)
    return inputs, labels


def run_cross_entropy(inputs, targets):
    shifted = inputs - inputs.max(dim=-1, keepdim=True).values
    log_probs = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    return -log_probs.gather(dim=-1, index=targets.unsqueeze(-1)).mean()


def run_gradient_clipping(parameters, max_l2_norm):
    clip_grad(parameters, max_l2_norm)


def get_adamw_cls():
    return AdamW


def run_get_lr_cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters):
    return lr_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters)


def run_save_checkpoint(model, optimizer, iteration, out):
    checkpoint = dict(
        model_state_dict=model.state_dict(),
        optimizer_state_dict=optimizer.state_dict(),
        iteration=iteration,
    )
    torch.save(checkpoint, out)


def run_load_checkpoint(src, model, optimizer):
    checkpoint = torch.load(src, map_location="cpu")
    model.load_state_dict(checkpoint["model_state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    return checkpoint["iteration"]


def get_tokenizer(vocab, merges, special_tokens=None):
    return BPETokenizer(vocab, merges, special_tokens)


def run_train_bpe(input_path, vocab_size, special_tokens, **kwargs):
    return train_bpe(input_path, vocab_size, special_tokens)
