from cs336_basics import basics


def _fill(module, **weights):
    module.load_state_dict({name.replace("__", "."): w for name, w in weights.items()})
    return module


def run_linear(d_in, d_out, weights, in_features):
    return _fill(basics.Linear(d_in, d_out), weight=weights)(in_features)


def run_embedding(vocab_size, d_model, weights, token_ids):
    return _fill(basics.Embedding(vocab_size, d_model), weight=weights)(token_ids)


def run_swiglu(d_model, d_ff, w1_weight, w2_weight, w3_weight, in_features):
    ffn = _fill(basics.SwiGLU(d_model, d_ff), w1__weight=w1_weight, w2__weight=w2_weight, w3__weight=w3_weight)
    return ffn(in_features)


def run_scaled_dot_product_attention(Q, K, V, mask=None):
    return basics.attention(Q, K, V, mask)


def run_multihead_self_attention(d_model, num_heads, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight,
                                 in_features):
    attn = _fill(basics.MultiHeadSelfAttention(d_model, num_heads), q_proj__weight=q_proj_weight,
                 k_proj__weight=k_proj_weight, v_proj__weight=v_proj_weight, output_proj__weight=o_proj_weight)
    return attn(in_features)


def run_multihead_self_attention_with_rope(d_model, num_heads, max_seq_len, theta, q_proj_weight, k_proj_weight,
                                           v_proj_weight, o_proj_weight, in_features, token_positions=None):
    rope = basics.Rope(theta, d_model // num_heads, max_seq_len)
    attn = _fill(basics.MultiHeadSelfAttention(d_model, num_heads, rope), q_proj__weight=q_proj_weight,
                 k_proj__weight=k_proj_weight, v_proj__weight=v_proj_weight, output_proj__weight=o_proj_weight)
    return attn(in_features, token_positions)


def run_rope(d_k, theta, max_seq_len, in_query_or_key, token_positions):
    return basics.Rope(theta, d_k, max_seq_len)(in_query_or_key, token_positions)


def run_transformer_block(d_model, num_heads, d_ff, max_seq_len, theta, weights, in_features):
    rope = basics.Rope(theta, d_model // num_heads, max_seq_len)
    block = basics.TransformerBlock(d_model, num_heads, d_ff, rope)
    block.load_state_dict(weights)
    return block(in_features)


def run_transformer_lm(vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta, weights,
                       in_indices):
    lm = basics.TransformerLM(vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta)
    lm.load_state_dict(weights)
    return lm(in_indices)


def run_rmsnorm(d_model, eps, weights, in_features):
    return _fill(basics.RMSNorm(d_model, eps), weight=weights)(in_features)


def run_silu(in_features):
    return basics.silu(in_features)


def run_get_batch(dataset, batch_size, context_length, device):
    return basics.get_batch(dataset, batch_size, context_length, device)


def run_softmax(in_features, dim):
    return basics.softmax(in_features, dim)


def run_cross_entropy(inputs, targets):
    return basics.cross_entropy(inputs, targets)


def run_gradient_clipping(parameters, max_l2_norm):
    basics.clip_gradients(parameters, max_l2_norm)


def get_adamw_cls():
    return basics.AdamW


def run_get_lr_cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters):
    return basics.lr_cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters)


def run_save_checkpoint(model, optimizer, iteration, out):
    basics.save_checkpoint(model, optimizer, iteration, out)


def run_load_checkpoint(src, model, optimizer):
    return basics.load_checkpoint(src, model, optimizer)


def get_tokenizer(vocab, merges, special_tokens=None):
    return basics.Tokenizer(vocab, merges, special_tokens)


def run_train_bpe(input_path, vocab_size, special_tokens, **kwargs):
    return basics.train_bpe(input_path, vocab_size, special_tokens, **kwargs)
