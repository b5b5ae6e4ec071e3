import torch

import cs336_basics as basics
from cs336_basics.lm import copy_block


def with_weight(module, weight):
    with torch.no_grad():
        module.weight.copy_(weight)
    return module


def run_linear(d_in, d_out, weights, in_features):
    return with_weight(basics.Projection(d_in, d_out), weights)(in_features)


def run_embedding(vocab_size, d_model, weights, token_ids):
    return with_weight(basics.Lookup(vocab_size, d_model), weights)(token_ids)


def run_swiglu(d_model, d_ff, w1_weight, w2_weight, w3_weight, in_features):
    ffn = basics.FeedForward(d_model, d_ff)
    with_weight(ffn.w1, w1_weight)
    with_weight(ffn.w2, w2_weight)
    with_weight(ffn.w3, w3_weight)
    return ffn(in_features)


def run_scaled_dot_product_attention(Q, K, V, mask=None):
    return basics.attend(Q, K, V, mask)


def run_multihead_self_attention(
    d_model, num_heads, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight, in_features
):
    mha = basics.MultiHeadAttention(d_model, num_heads)
    mha.copy_weights(q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight)
    return mha(in_features)


def run_multihead_self_attention_with_rope(
    d_model, num_heads, max_seq_len, theta, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight, in_features,
    token_positions=None,
):
    mha = basics.MultiHeadAttention(d_model, num_heads, basics.Rope(theta, d_model // num_heads, max_seq_len))
    mha.copy_weights(q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight)
    return mha(in_features, token_positions)


def run_rope(d_k, theta, max_seq_len, in_query_or_key, token_positions):
    return basics.Rope(theta, d_k, max_seq_len)(in_query_or_key, token_positions)


def run_transformer_block(d_model, num_heads, d_ff, max_seq_len, theta, weights, in_features):
    rope = basics.Rope(theta, d_model // num_heads, max_seq_len)
    block = basics.PreNormBlock(d_model, d_ff, basics.MultiHeadAttention(d_model, num_heads, rope))
    copy_block(block, weights)
    return block(in_features)


def run_transformer_lm(
    vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta, weights, in_indices
):
    model = basics.LanguageModel(vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta)
    model.copy_weights(weights)
    with torch.no_grad():
        return model(in_indices)


def run_rmsnorm(d_model, eps, weights, in_features):
    return with_weight(basics.Norm(d_model, eps), weights)(in_features)


def run_silu(in_features):
    return basics.swish(in_features)


def run_get_batch(dataset, batch_size, context_length, device):
    return basics.batch(dataset, batch_size, context_length, device)


def run_softmax(in_features, dim):
    return basics.stable_softmax(in_features, dim)


def run_cross_entropy(inputs, targets):
    return basics.nll(inputs, targets)


def run_gradient_clipping(parameters, max_l2_norm):
    basics.clip(parameters, max_l2_norm)


def get_adamw_cls():
    return basics.Adam


def run_get_lr_cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters):
    return basics.learning_rate(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters)


def run_save_checkpoint(model, optimizer, iteration, out):
    basics.store(model, optimizer, iteration, out)


def run_load_checkpoint(src, model, optimizer):
    return basics.restore(src, model, optimizer)


def get_tokenizer(vocab, merges, special_tokens=None):
    return basics.BytePairTokenizer(vocab, merges, special_tokens)


def run_train_bpe(input_path, vocab_size, special_tokens, **kwargs):
    return basics.BytePairTrainer(vocab_size, special_tokens).train(input_path)
