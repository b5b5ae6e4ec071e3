"""The model as pure functions. Parameters are a flat dict with the names of the reference state dict."""

import math

import torch


def linear(x, w):
    return x @ w.mT


def embedding(ids, table):
    return table[ids]


def silu(x):
    return x * torch.sigmoid(x)


def swiglu(x, w1, w2, w3):
    return linear(silu(linear(x, w1)) * linear(x, w3), w2)


def rmsnorm(x, gain, eps=1e-5):
    h = x.float()
    inverse_rms = torch.rsqrt(torch.mean(h * h, dim=-1, keepdim=True) + eps)
    return (h * inverse_rms * gain).to(x.dtype)


def log_softmax(x, dim=-1):
    x = x - x.max(dim=dim, keepdim=True).values
    return x - torch.log(torch.sum(torch.exp(x), dim=dim, keepdim=True))


def softmax(x, dim=-1):
    e = torch.exp(x - x.max(dim=dim, keepdim=True).values)
    return e / e.sum(dim=dim, keepdim=True)


def cross_entropy(logits, targets):
    logp = log_softmax(logits)
    return -torch.take_along_dim(logp, targets.unsqueeze(-1), dim=-1).mean()


def rope_tables(theta, d_k, positions):
    powers = torch.arange(0, d_k, 2, device=positions.device) / d_k
    angles = positions[..., None] / torch.pow(theta, powers)
    return torch.cos(angles), torch.sin(angles)


def rope(x, cos, sin):
    x1, x2 = x[..., ::2], x[..., 1::2]
    y1 = x1 * cos - x2 * sin
    y2 = x2 * cos + x1 * sin
    return torch.stack((y1, y2), dim=-1).reshape(x.shape)


def sdpa(q, k, v, mask=None):
    att = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        att = att.masked_fill(mask == False, -math.inf)  # noqa: E712
    return softmax(att, -1) @ v


def split_heads(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(-2, -3)


def merge_heads(x):
    x = x.transpose(-2, -3)
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def attention(x, wq, wk, wv, wo, n_heads, theta=None, positions=None):
    """Causal self attention; with RoPE if theta is given."""
    T, D = x.shape[-2:]
    q, k, v = [split_heads(linear(x, w), n_heads) for w in (wq, wk, wv)]
    if theta is not None:
        if positions is None:
            positions = torch.arange(T, device=x.device)
        cos, sin = rope_tables(theta, D // n_heads, positions.unsqueeze(-2))
        q, k = rope(q, cos, sin), rope(k, cos, sin)
    causal = torch.tril(torch.ones(T, T, device=x.device)).bool()
    return linear(merge_heads(sdpa(q, k, v, causal)), wo)


def block(x, p, prefix, n_heads, theta):
    wq, wk, wv, wo = [p[f"{prefix}attn.{n}_proj.weight"] for n in ("q", "k", "v", "output")]
    w1, w2, w3 = [p[f"{prefix}ffn.{n}.weight"] for n in ("w1", "w2", "w3")]
    x = x + attention(rmsnorm(x, p[prefix + "ln1.weight"]), wq, wk, wv, wo, n_heads, theta)
    return x + swiglu(rmsnorm(x, p[prefix + "ln2.weight"]), w1, w2, w3)


def transformer(ids, p, n_layers, n_heads, theta):
    x = embedding(ids, p["token_embeddings.weight"])
    for i in range(n_layers):
        x = block(x, p, f"layers.{i}.", n_heads, theta)
    return linear(rmsnorm(x, p["ln_final.weight"]), p["lm_head.weight"])


def init_params(vocab_size, d_model, n_layers, d_ff):
    def normal(*shape, std):
        return torch.nn.init.trunc_normal_(torch.empty(*shape), std=std, a=-3 * std, b=3 * std)

    def weight(d_out, d_in):
        return normal(d_out, d_in, std=math.sqrt(2 / (d_in + d_out)))

    p = {"token_embeddings.weight": normal(vocab_size, d_model, std=1.0)}
    for i in range(n_layers):
        for n in ("q", "k", "v", "output"):
            p[f"layers.{i}.attn.{n}_proj.weight"] = weight(d_model, d_model)
        for n, (o, d) in {"w1": (d_ff, d_model), "w2": (d_model, d_ff), "w3": (d_ff, d_model)}.items():
            p[f"layers.{i}.ffn.{n}.weight"] = weight(o, d)
        for n in ("ln1", "ln2"):
            p[f"layers.{i}.{n}.weight"] = torch.ones(d_model)
    p["ln_final.weight"] = torch.ones(d_model)
    p["lm_head.weight"] = weight(vocab_size, d_model)
    return {name: w.requires_grad_() for name, w in p.items()}
