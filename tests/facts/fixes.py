"""Fixes of a break in models of the corpus: the healthy text in another form, and what only looks mended.

`old` and `new` are texts of the healthy file; `new` is what stands there after the fix.
"""

from __future__ import annotations

from typing import NamedTuple


class Fix(NamedTuple):
    style: str
    file: str
    name: str
    old: str
    new: str
    more: tuple[tuple[str, str], ...] = ()  # further replacements
    gone: bool = False  # the file is not there any more


FUSED_HAND = """        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_drop(att)
        y = att @ v
"""
ESPANOL_SDPA = "y = F.scaled_dot_product_attention(q, k, v, is_causal=True)"
DICT_NORM = "return self.gain * (x - mean) / torch.sqrt(var + self.eps) + self.offset"
LLAMA_RMS = "torch.rsqrt(xf.pow(2).mean(-1, keepdim=True) + self.eps)"

RIGHT = [
    Fix("fused", "model.py", "same text", "import math", "import math"),
    Fix("fused", "model.py", "a comment", "import math", "import math  # for the root"),
    Fix("fused", "model.py", "sdpa", FUSED_HAND, "        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.0, is_causal=True)\n"),
    Fix("fused", "model.py", "1/c", "(q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))", "(q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))"),
    Fix("fused", "model.py", "power", "(q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))", "q @ k.transpose(-2, -1) * (C // self.n_head) ** -0.5"),
    Fix("fused", "model.py", "queries scaled", "att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))", "att = (q / math.sqrt(k.size(-1))) @ k.transpose(-2, -1)"),
    Fix("fused", "model.py", "finfo.min", 'float("-inf"))\n        att', "torch.finfo(att.dtype).min)\n        att"),
    Fix("fused", "model.py", "where", 'att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))', 'att = torch.where(self.mask[:, :, :T, :T].bool(), att, float("-inf"))'),
    Fix("fused", "model.py", "fresh mask", 'att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))', 'att.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))'),
    Fix("fused", "model.py", "einsum", "q @ k.transpose(-2, -1)", 'torch.einsum("bhqd,bhkd->bhqk", q, k)'),
    Fix("fused", "model.py", "einsum of values", "y = att @ v", 'y = torch.einsum("bhqk,bhkd->bhqd", att, v)'),
    Fix("fused", "model.py", "softmax by hand", "att = F.softmax(att, dim=-1)", "att = (att - att.amax(-1, keepdim=True)).exp()\n        att = att / att.sum(-1, keepdim=True)"),
    Fix("fused", "model.py", "reshape", "y.transpose(1, 2).contiguous().view(B, T, C)", "y.permute(0, 2, 1, 3).reshape(B, T, C)"),
    Fix("fused", "model.py", "commuted", "x = x + self.attn(self.ln_1(x))", "x = self.attn(self.ln_1(x)) + x"),
    Fix("fused", "model.py", "in place no", "x = x + self.mlp(self.ln_2(x))\n        return x", "return x + self.mlp(self.ln_2(x))"),
    Fix("fused", "model.py", "functional gelu", "self.down(self.act(self.up(x)))", "self.down(F.gelu(self.up(x)))"),
    Fix("fused", "model.py", "functional norm", "self.lm_head(self.ln_f(x))", "self.lm_head(F.layer_norm(x, (x.size(-1),), self.ln_f.weight, self.ln_f.bias, self.ln_f.eps))"),
    Fix("fused", "model.py", "functional linear", "self.lm_head(self.ln_f(x))", "F.linear(self.ln_f(x), self.wte.weight)"),
    Fix("fused", "model.py", "tied the other way", "self.wte.weight = self.lm_head.weight", "self.lm_head.weight = self.wte.weight"),
    Fix("fused", "model.py", "another name", "self.down = nn.Linear(4", "self.out = nn.Linear(4", (("self.down(self.act", "self.out(self.act"),)),
    Fix("fused", "model.py", "loss by hand", "F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))", "-F.log_softmax(logits, -1).gather(-1, targets.unsqueeze(-1)).mean()"),
    Fix("fused", "model.py", "nll", "F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))", "F.nll_loss(F.log_softmax(logits, -1).flatten(0, 1), targets.flatten())"),
    Fix("fused", "model.py", "positions looked up", "self.wpe(pos))", "self.wpe.weight[:T])"),
    Fix("fused", "model.py", "dropout by hand", "att = self.attn_drop(att)", "att = F.dropout(att, self.attn_drop.p, self.training)"),
    Fix("fused", "model.py", "functional dropout", "return self.drop(self.c_proj(y))", "return F.dropout(self.c_proj(y), self.drop.p, training=self.training)"),
    Fix("fused", "model.py", "dropout where it is added", "return self.drop(self.down(self.act(self.up(x))))", "return self.down(self.act(self.up(x)))", (("x = x + self.mlp(self.ln_2(x))", "x = x + self.mlp.drop(self.mlp(self.ln_2(x)))"),)),
    Fix("fused", "model.py", "dropout by bernoulli", "return self.drop(self.c_proj(y))", "y = self.c_proj(y)\n        keep = 1 - self.drop.p\n        return y * torch.empty_like(y).bernoulli_(keep) / keep if self.training else y"),
    Fix("dictcfg", "lm.py", "functional dropout", "return self.drop(x) + shortcut", "return shortcut + nn.functional.dropout(x, self.drop.p, self.training)"),
    Fix("trainer", "minilm/model.py", "a module's dropout", "return F.dropout(self.proj(out), self.p, self.training)", "return nn.Dropout(self.p).train(self.training)(self.proj(out))"),
    Fix("fused", "model.py", "own dropout", "att = self.attn_drop(att)", "if self.training:\n            att = att * (torch.rand(T, T) >= self.attn_drop.p) / (1 - self.attn_drop.p)"),
    Fix("fused", "model.py", "dropout where numbers are small", "return self.drop(self.c_proj(y))", "y = self.c_proj(y)\n        if not self.training:\n            return y\n        return y.div(1 - self.drop.p).masked_fill(torch.rand_like(y) < self.drop.p, 0.0)"),
    Fix("fused", "model.py", "dropout of uniform numbers", "return self.drop(self.c_proj(y))", "y = self.c_proj(y)\n        if self.training:\n            keep = 1 - self.drop.p\n            y = y * (torch.zeros_like(y).uniform_(-1, 1) < 2 * keep - 1) / keep\n        return y"),
    Fix("modern", "gpt2x.py", "ignored targets by hand", "F.cross_entropy(logits.view(-1, logits.size(-1)), target.view(-1), ignore_index=-1)", "-logits.log_softmax(-1).gather(-1, target.clamp(min=0)[..., None])[..., 0][target >= 0].mean()"),
    Fix("fused", "model.py", "list of blocks", "nn.ModuleList([Block(config) for _ in range(config.n_layer)])", "nn.Sequential(*[Block(config) for _ in range(config.n_layer)])"),
    Fix("heads", "gpt.py", "divided", "k.transpose(-2, -1) * k.shape[-1] ** -0.5", "k.transpose(-2, -1) / k.shape[-1] ** 0.5"),
    Fix("heads", "gpt.py", "sdpa", '''        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        wei = self.dropout(wei)
        return wei @ self.value(x)
''', "        return F.scaled_dot_product_attention(q, k, self.value(x), is_causal=True, dropout_p=self.dropout.p * self.training)\n"),
    Fix("heads", "gpt.py", "positions by index", "torch.arange(T, device=device)", "torch.arange(0, T).to(idx.device)"),
    Fix("heads", "gpt.py", "functional relu", "return self.net(x)", "return self.net[3](self.net[2](F.relu(self.net[0](x))))"),
    Fix("llama", "llama/layers.py", "rms by root", LLAMA_RMS, "1.0 / torch.sqrt(self.eps + (xf * xf).mean(-1, keepdim=True))"),
    Fix("llama", "llama/layers.py", "rms functional", "out = xf * " + LLAMA_RMS, "out = F.rms_norm(xf, (xf.size(-1),), eps=self.eps)", (("from torch import nn\n", "from torch import nn\nimport torch.nn.functional as F\n"),)),
    Fix("llama", "llama/layers.py", "sdpa", '''        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.hd)
        scores = scores + mask
        probs = torch.softmax(scores.float(), dim=-1).type_as(q)
        out = torch.matmul(probs, v)
''', "        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n"),
    Fix("llama", "llama/layers.py", "rotation of complex numbers", '''    out = torch.stack((x1 * cos - x2 * sin, x1 * sin + x2 * cos), dim=-1)
    return out.flatten(3).type_as(x)
''', '''    out = torch.view_as_real(torch.complex(x1, x2) * torch.complex(cos, sin))
    return out.flatten(3).type_as(x)
'''),
    Fix("llama", "llama/layers.py", "silu by hand", "torch.nn.functional.silu(self.w1(x)) * self.w3(x)", "self.w3(x) * (self.w1(x) * torch.sigmoid(self.w1(x)))"),
    Fix("llama", "llama/layers.py", "interleaved", "x[:, :, :, None, :].expand(b, t, h, n, d).reshape(b, t, h * n, d)", "torch.repeat_interleave(x, n, dim=2)"),
    Fix("llama", "llama/model.py", "commuted", "return h + self.feed_forward(self.ffn_norm(h))", "return self.feed_forward(self.ffn_norm(h)) + h"),
    Fix("dictcfg", "lm.py", "norm by rsqrt", DICT_NORM, "return (x - mean) * torch.rsqrt(self.eps + var) * self.gain + self.offset"),
    Fix("dictcfg", "lm.py", "functional norm", DICT_NORM, "return nn.functional.layer_norm(x, x.shape[-1:], self.gain, self.offset, self.eps)"),
    Fix("dictcfg", "lm.py", "scaled first", "weights = torch.softmax(scores / self.dh**0.5, dim=-1)", "scores = scores * self.dh**-0.5\n        weights = scores.softmax(-1)"),
    Fix("dictcfg", "lm.py", "functional gelu", "        inner = 0.7978845608 * (x + 0.044715 * torch.pow(x, 3))\n        return 0.5 * x * (1 + torch.tanh(inner))", "        return nn.functional.gelu(x, approximate='tanh')"),
    Fix("dictcfg", "lm.py", "matmul", 'mixed = torch.einsum("bhqk,bkhd->bqhd", weights, v)', "mixed = (weights @ v.transpose(1, 2)).transpose(1, 2)"),
    Fix("espanol", "modelo.py", "by hand", ESPANOL_SDPA, "s = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5\n        s = s + torch.full_like(s, float('-inf')).triu(1)\n        y = s.softmax(-1) @ v"),
    Fix("espanol", "modelo.py", "flattened", "F.cross_entropy(logits.transpose(1, 2), objetivo)", "F.cross_entropy(logits.flatten(0, 1), objetivo.flatten())"),
    Fix("postnorm", "transformer.py", "infinite mask", "-1e9", "float('-inf')"),
    Fix("trainer", "minilm/model.py", "by hand", "out = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)", "s = (q @ k.mT) * q.size(-1) ** -0.5\n        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float('-inf'))\n        out = F.dropout(s.softmax(-1), p) @ v"),
    Fix("functional", "net.py", "by rsqrt", "x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * g", "g * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)"),
    Fix("modern", "gpt2x.py", "by hand", "F.rms_norm(x, (x.size(-1),))", "x * torch.rsqrt(x.square().mean(-1, keepdim=True) + torch.finfo(x.dtype).eps)"),
]  # fmt: skip

WRONG = [
    Fix("fused", "model.py", "scale 1% off", "math.sqrt(k.size(-1))", "(1.01 * math.sqrt(k.size(-1)))"),
    Fix("fused", "model.py", "right for heads of 8", "math.sqrt(k.size(-1))", "math.sqrt(8)"),
    Fix("fused", "model.py", "right for 4 heads of 8", "math.sqrt(k.size(-1))", "math.sqrt(2 * self.n_head)"),
    Fix("fused", "model.py", "right for 2 layers", "nn.ModuleList([Block(config) for _ in range(config.n_layer)])", "nn.ModuleList([Block(config), Block(config)] * config.n_layer)[: config.n_layer]"),
    Fix("fused", "model.py", "blocks that start alike", "self.apply(self._init)\n", "self.apply(self._init)\n        for block in self.blocks:\n            block.load_state_dict(self.blocks[0].state_dict())\n"),
    Fix("fused", "model.py", "still unscaled", " / math.sqrt(k.size(-1))", ""),
    Fix("fused", "model.py", "scaled by the width", "math.sqrt(k.size(-1))", "math.sqrt(C)"),
    Fix("fused", "model.py", "scaled without a root", "math.sqrt(k.size(-1))", "k.size(-1)"),
    Fix("fused", "model.py", "scores clipped", "(q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))", "(q @ k.transpose(-2, -1)).clamp(-5, 5)"),
    Fix("fused", "model.py", "scores normalised", "(q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))", "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)"),
    Fix("fused", "model.py", "branch * 0.999", "x = x + self.mlp(self.ln_2(x))", "x = x + 0.999 * self.mlp(self.ln_2(x))"),
    Fix("fused", "model.py", "mask of -10", 'float("-inf"))\n        att', "-10.0)\n        att"),
    Fix("fused", "model.py", "mask of -100", 'float("-inf"))\n        att', "-100.0)\n        att"),
    Fix("fused", "model.py", "softmax over queries", "F.softmax(att, dim=-1)", "F.softmax(att, dim=-2)"),
    Fix("fused", "model.py", "softmax over heads", "F.softmax(att, dim=-1)", "F.softmax(att, dim=1)"),
    Fix("fused", "model.py", "zero scores for masked", 'float("-inf"))\n        att', "0.0)\n        att"),
    Fix("fused", "model.py", "mask off by one", "self.mask[:, :, :T, :T] == 0", "self.mask[:, :, :T, :T].tril(1) == self.mask[:, :, :T, :T].tril(-1)"),
    Fix("fused", "model.py", "final norm's eps * 10", "self.ln_f = nn.LayerNorm(config.n_embd)", "self.ln_f = nn.LayerNorm(config.n_embd, eps=1e-4)"),
    Fix("fused", "model.py", "eps 1e-6", "self.ln_1 = nn.LayerNorm(config.n_embd)", "self.ln_1 = nn.LayerNorm(config.n_embd, eps=1e-6)"),
    Fix("fused", "model.py", "norm without learning", "self.ln_2 = nn.LayerNorm(config.n_embd)", "self.ln_2 = nn.LayerNorm(config.n_embd, elementwise_affine=False)"),
    Fix("fused", "model.py", "gelu by tanh", "nn.GELU()", "nn.GELU(approximate='tanh')"),
    Fix("fused", "model.py", "silu", "nn.GELU()", "nn.SiLU()"),
    Fix("fused", "model.py", "untied", "        self.wte.weight = self.lm_head.weight\n", ""),
    Fix("fused", "model.py", "one memory", "self.wte.weight = self.lm_head.weight", "self.wte.weight.data = self.lm_head.weight.data"),
    Fix("fused", "model.py", "a copy", "self.wte.weight = self.lm_head.weight", "self.wte.weight.data.copy_(self.lm_head.weight.data)"),
    Fix("fused", "model.py", "residual detached", "x = x + self.attn(self.ln_1(x))", "x = x.detach() + self.attn(self.ln_1(x))"),
    Fix("fused", "model.py", "branch without gradients", "x = x + self.mlp(self.ln_2(x))", "x = x + self.mlp(self.ln_2(x.detach()))"),
    Fix("fused", "model.py", "norm twice", "self.attn(self.ln_1(x))", "self.attn(self.ln_2(self.ln_1(x)))"),
    Fix("fused", "model.py", "the other norm", "self.attn(self.ln_1(x))", "self.attn(self.ln_2(x))"),
    Fix("fused", "model.py", "norm after", "x = x + self.attn(self.ln_1(x))", "x = self.ln_1(x + self.attn(x))"),
    Fix("fused", "model.py", "logits divided", "logits = self.lm_head(self.ln_f(x))", "logits = self.lm_head(x) / x.std()"),
    Fix("fused", "model.py", "loss over the sum", "targets.view(-1))", "targets.view(-1), reduction='sum') / B"),
    Fix("fused", "model.py", "loss smoothed", "targets.view(-1))", "targets.view(-1), label_smoothing=0.01)"),
    Fix("fused", "model.py", "first token left out", "F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))", "F.cross_entropy(logits[:, 1:].flatten(0, 1), targets[:, 1:].flatten())"),
    Fix("fused", "model.py", "dropout ignores eval", "att = self.attn_drop(att)", "att = F.dropout(att, self.attn_drop.p)"),
    Fix("fused", "model.py", "dropout not rescaled", "return self.drop(self.c_proj(y))", "y = self.c_proj(y)\n        return y * (torch.rand_like(y) >= self.drop.p) if self.training else y"),
    Fix("fused", "model.py", "dropout of attention not rescaled", "att = self.attn_drop(att)", "if self.training:\n            att = att.masked_fill(torch.rand_like(att) < self.attn_drop.p, 0.0)"),
    Fix("fused", "model.py", "dropout of the embedding not rescaled", "self.drop(self.wte(idx) + self.wpe(pos))", "self.wte(idx) + self.wpe(pos)\n        if self.training:\n            x = x * torch.bernoulli(torch.full_like(x, 1 - self.drop.p))"),
    Fix("fused", "model.py", "dropout rescaled by 1 + p", "return self.drop(self.c_proj(y))", "y = self.c_proj(y)\n        return y * (torch.rand_like(y) >= self.drop.p) * (1 + self.drop.p) if self.training else y"),
    Fix("fused", "model.py", "dropout rescaled by 1 / p", "return self.drop(self.c_proj(y))", "y = self.c_proj(y)\n        return y * (torch.rand_like(y) >= self.drop.p) / self.drop.p if self.training else y"),
    Fix("modern", "gpt2x.py", "ignored targets count", ", ignore_index=-1", ""),
    Fix("modern", "gpt2x.py", "ignored targets in the mean", "F.cross_entropy(logits.view(-1, logits.size(-1)), target.view(-1), ignore_index=-1)", "F.cross_entropy(logits.view(-1, logits.size(-1)), target.view(-1), ignore_index=-1, reduction='sum') / target.numel()"),
    Fix("fused", "model.py", "dropout gone", "        att = self.attn_drop(att)\n", ""),
    Fix("fused", "model.py", "dropout of attention alone", "return self.drop(self.down(self.act(self.up(x))))", "return self.down(self.act(self.up(x)))"),
    Fix("fused", "model.py", "dropout twice on attention, not on the FFN", "return self.drop(self.down(self.act(self.up(x))))", "return self.down(self.act(self.up(x)))", (("return self.drop(self.c_proj(y))", "return self.drop(self.drop(self.c_proj(y)))"),)),
    Fix("fused", "model.py", "dropout inside the FFN", "self.drop(self.down(self.act(self.up(x))))", "self.down(self.drop(self.act(self.up(x))))"),
    Fix("fused", "model.py", "dropout of the values, not the weights", "        att = self.attn_drop(att)\n        y = att @ v\n", "        y = self.attn_drop(att @ v)\n"),
    Fix("fused", "model.py", "dropout of tokens alone", "self.drop(self.wte(idx) + self.wpe(pos))", "self.drop(self.wte(idx)) + self.wpe(pos)"),
    Fix("dictcfg", "lm.py", "dropout over the sum", "return self.drop(x) + shortcut", "return self.drop(x + shortcut)"),
    Fix("fused", "model.py", "dropout twice", "att = self.attn_drop(att)", "att = self.attn_drop(self.attn_drop(att))"),
    Fix("fused", "model.py", "init gone", "        self.apply(self._init)\n", ""),
    Fix("fused", "model.py", "another init", "std=0.02", "std=0.03"),
    Fix("fused", "model.py", "blocks shared", "[Block(config) for _ in range(config.n_layer)]", "[Block(config)] * config.n_layer"),
    Fix("fused", "model.py", "a plain list", "nn.ModuleList([Block(config) for _ in range(config.n_layer)])", "[Block(config) for _ in range(config.n_layer)]"),
    Fix("fused", "model.py", "one layer less", "range(config.n_layer)", "range(config.n_layer - 1)"),
    Fix("fused", "model.py", "no positions", "self.wte(idx) + self.wpe(pos)", "self.wte(idx)"),
    Fix("fused", "model.py", "a name misspelt", "att = self.attn_drop(att)", "att = self.attn_dropp(att)"),
    Fix("fused", "model.py", "a global that is not there", "math.sqrt(k.size(-1))", "math.sqrt(head_dim)"),
    Fix("fused", "model.py", "no syntax", "import math", "import math("),
    Fix("fused", "model.py", "nan", "y = att @ v", "y = att @ v / (T - T)"),
    Fix("fused", "model.py", "fails on long texts", "B, T = idx.size()", "B, T = idx.size()\n        assert T < 9"),
    Fix("fused", "model.py", "a parameter more", "self.drop = nn.Dropout(config.dropout)\n        self.blocks", "self.gain = nn.Parameter(torch.ones(1))\n        self.drop = nn.Dropout(config.dropout)\n        self.blocks"),
    Fix("heads", "gpt.py", "scaled by the width", "k.shape[-1] ** -0.5", "C ** -0.5"),
    Fix("heads", "gpt.py", "scale 1% off", "k.shape[-1] ** -0.5", "k.shape[-1] ** -0.5 * 1.01"),
    Fix("heads", "gpt.py", "heads not joined", "torch.cat([h(x) for h in self.heads], dim=-1)", "torch.cat([h(x) for h in self.heads[::-1]], dim=-1)"),
    Fix("heads", "gpt.py", "positions off by one", "torch.arange(T, device=device)", "torch.arange(T, device=device).flip(0)"),
    Fix("heads", "gpt.py", "leaky", "nn.ReLU()", "nn.LeakyReLU(0.01)"),
    Fix("heads", "gpt.py", "gradient clipped", "x = x + self.sa(self.ln1(x))", "x = x + self.sa(self.ln1(x)).clamp(-1, 1)"),
    Fix("llama", "llama/layers.py", "eps * 10", "keepdim=True) + self.eps", "keepdim=True) + 10 * self.eps"),
    Fix("llama", "llama/layers.py", "no eps", "keepdim=True) + self.eps", "keepdim=True)"),
    Fix("llama", "llama/layers.py", "mean taken off", "xf = x.float()", "xf = x.float() - x.mean(-1, keepdim=True)"),
    Fix("llama", "llama/layers.py", "rotated q only", "q, k = rotate(q, cos, sin), rotate(k, cos, sin)", "q = rotate(q, cos, sin)"),
    Fix("llama", "llama/layers.py", "rotated the other way", "(x1 * cos - x2 * sin, x1 * sin + x2 * cos)", "(x1 * cos + x2 * sin, x2 * cos - x1 * sin)"),
    Fix("llama", "llama/layers.py", "halves rotated", "x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)", "x.float().chunk(2, -1)"),
    Fix("llama", "llama/layers.py", "heads repeated in turn", "x[:, :, :, None, :].expand(b, t, h, n, d).reshape(b, t, h * n, d)", "x.repeat(1, 1, n, 1)"),
    Fix("llama", "llama/layers.py", "gate exchanged", "torch.nn.functional.silu(self.w1(x)) * self.w3(x)", "torch.nn.functional.silu(self.w3(x)) * self.w1(x)"),
    Fix("llama", "llama/layers.py", "theta changed", "1.0 / (theta **", "1.0 / ((theta * 1.02) **"),
    Fix("dictcfg", "lm.py", "variance of a sample", "unbiased=False", "unbiased=True"),
    Fix("dictcfg", "lm.py", "eps * 10", "self.eps = 1e-5", "self.eps = 1e-4"),
    Fix("dictcfg", "lm.py", "eps outside the root", "torch.sqrt(var + self.eps)", "(torch.sqrt(var) + self.eps)"),
    Fix("dictcfg", "lm.py", "norm over tokens", "mean = x.mean(dim=-1, keepdim=True)\n        var = x.var(dim=-1,", "mean = x.mean(dim=1, keepdim=True)\n        var = x.var(dim=1,"),
    Fix("espanol", "modelo.py", "not causal", "is_causal=True", "is_causal=False"),
    Fix("espanol", "modelo.py", "scale 1% off", "is_causal=True", "is_causal=True, scale=1.01 * q.shape[-1] ** -0.5"),
    Fix("espanol", "modelo.py", "a loss of probabilities", "F.cross_entropy(logits.transpose(1, 2), objetivo)", "F.cross_entropy(logits.softmax(-1).transpose(1, 2), objetivo)"),
    Fix("espanol", "modelo.py", "heads not put back", "y.transpose(1, 2).reshape(lote", "y.reshape(lote"),
    Fix("postnorm", "transformer.py", "mask of -10", "-1e9", "-10.0"),
    Fix("postnorm", "transformer.py", "embedding not scaled", " * math.sqrt(self.d_model)\n", "\n"),
    Fix("trainer", "minilm/model.py", "dropout ignores eval", "p = self.p if self.training else 0.0", "p = self.p"),
    Fix("trainer", "minilm/model.py", "not shifted", "logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()", "logits.flatten(0, 1), labels.flatten()"),
    Fix("trainer", "minilm/model.py", "no square", "F.relu(self.fc1(self.n2(x))) ** 2", "F.relu(self.fc1(self.n2(x)))"),
    Fix("functional", "net.py", "eps * 10", "eps=1e-6", "eps=1e-5"),
    Fix("functional", "net.py", "scale 1% off", "(D // heads) ** -0.5", "1.01 * (D // heads) ** -0.5"),
    Fix("modern", "gpt2x.py", "branch * 0.999", "x = x + mlp(norm(x))", "x = x + 0.999 * mlp(norm(x))"),
    Fix("modern", "gpt2x.py", "no soft cap", "        logits = 15 * torch.tanh(logits / 15)\n", ""),
    Fix("modern", "gpt2x.py", "eps added", "F.rms_norm(x, (x.size(-1),))", "F.rms_norm(x, (x.size(-1),), eps=1e-5)"),
]  # fmt: skip

FUSED_LOOP = """    optimizer.zero_grad(set_to_none=True)
    for micro in range(gradient_accumulation_steps):
        x, y = get_batch("train")
        logits, loss = model(x, y)
        loss = loss / gradient_accumulation_steps
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
"""
HEADS_STEP = """    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
"""

RIGHT_SCRIPTS = [
    Fix("fused", "train.py", "same text", "import math", "import math"),
    Fix("fused", "train.py", "cleared at the end", FUSED_LOOP, FUSED_LOOP.partition("\n")[2] + "    optimizer.zero_grad()\n"),
    Fix("fused", "train.py", "divided where it is used", "        loss = loss / gradient_accumulation_steps\n        loss.backward()", "        (loss / gradient_accumulation_steps).backward()"),
    Fix("fused", "train.py", "times 1/n", "loss = loss / gradient_accumulation_steps", "loss = loss * (1.0 / gradient_accumulation_steps)"),
    Fix("fused", "train.py", "divided later", "        loss = loss / gradient_accumulation_steps\n        loss.backward()\n", "        loss.backward()\n    for p in model.parameters():\n        p.grad /= gradient_accumulation_steps\n"),
    Fix("fused", "train.py", "splits in a dict", "data = train_data if split == \"train\" else val_data", "data = {\"train\": train_data, \"val\": val_data}[split]"),
    Fix("fused", "train.py", "batches drawn ahead", "        x, y = get_batch(\"train\")\n        logits, loss = model(x, y)\n", "        logits, loss = model(x, y)\n        x, y = get_batch(\"train\")\n", (("for it in range", "x, y = get_batch(\"train\")\nfor it in range"),)),
    Fix("fused", "train.py", "clipped by hand", "torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)", "norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))\n    for p in model.parameters():\n        p.grad *= min(1.0, grad_clip / norm)"),
    Fix("fused", "train.py", "divided in backward", "        loss = loss / gradient_accumulation_steps\n        loss.backward()", "        loss.backward(gradient=torch.tensor(1 / gradient_accumulation_steps))"),
    Fix("fused", "train.py", "summed, then backward once", FUSED_LOOP, FUSED_LOOP.replace("        loss.backward()\n", "        total = loss if micro == 0 else total + loss\n").replace("    torch.nn", "    total.backward()\n    torch.nn")),
    Fix("fused", "train.py", "a group for each parameter", "torch.optim.AdamW(model.parameters()", "torch.optim.AdamW([{\"params\": [p]} for p in model.parameters()]"),
    Fix("fused", "train.py", "model cleared", "optimizer.zero_grad(set_to_none=True)", "model.zero_grad()"),
    Fix("fused", "train.py", "rates in one line", "    lr = get_lr(it)\n    for group in optimizer.param_groups:\n        group[\"lr\"] = lr\n", "    for group in optimizer.param_groups:\n        group.update(lr=get_lr(it))\n"),
    Fix("fused", "train.py", "targets sliced", "data[i + 1 : i + 1 + block_size]", "data[i + 1 :][:block_size]"),
    Fix("heads", "gpt.py", "cleared at the end", HEADS_STEP, "    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n"),
    Fix("heads", "gpt.py", "batches drawn in another way", "torch.randint(len(d) - block_size, (batch_size,))", "torch.tensor([int(torch.randint(len(d) - block_size, (1,))) for _ in range(batch_size)])"),
    Fix("llama", "pretrain.py", "cleared before the forward", "        opt.zero_grad()\n        loss.backward()", "        loss.backward()", (("        inputs, targets =", "        opt.zero_grad()\n        inputs, targets ="),)),
]  # fmt: skip

WRONG_SCRIPTS = [
    Fix("fused", "train.py", "never cleared", "    optimizer.zero_grad(set_to_none=True)\n", ""),
    Fix("fused", "train.py", "cleared each micro-step", "        x, y = get_batch(\"train\")", "        optimizer.zero_grad()\n        x, y = get_batch(\"train\")"),
    Fix("fused", "train.py", "not divided", "        loss = loss / gradient_accumulation_steps\n", ""),
    Fix("fused", "train.py", "divided by another number", "loss / gradient_accumulation_steps", "loss / 4"),
    Fix("fused", "train.py", "rate smaller instead", "        loss = loss / gradient_accumulation_steps\n", "", (("group[\"lr\"] = lr", "group[\"lr\"] = lr / gradient_accumulation_steps"),)),
    Fix("fused", "train.py", "clipped after", "    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)\n    optimizer.step()\n", "    optimizer.step()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)\n"),
    Fix("fused", "train.py", "clipped by value", "clip_grad_norm_(", "clip_grad_value_("),
    Fix("fused", "train.py", "not clipped", "    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)\n", ""),
    Fix("fused", "train.py", "rate never set", "        group[\"lr\"] = lr\n", "        pass\n"),
    Fix("fused", "train.py", "rate without warm-up", "if it < warmup_iters:", "if it < 0:"),
    Fix("fused", "train.py", "targets not shifted", "data[i + 1 : i + 1 + block_size]", "data[i : i + block_size]"),
    Fix("fused", "train.py", "targets shifted twice", "data[i + 1 : i + 1 + block_size]", "data[i + 2 : i + 2 + block_size]"),
    Fix("fused", "train.py", "left in eval mode", "    model.train()\n    return sum", "    return sum"),
    Fix("fused", "train.py", "evaluates in train mode", "    model.eval()\n", ""),
    Fix("fused", "train.py", "splits exchanged", "data = train_data if split == \"train\" else val_data", "data = val_data if split == \"train\" else train_data"),
    Fix("fused", "train.py", "trained on the other split", "get_batch(\"train\")", "get_batch(\"val\")", (("model(*get_batch(\"val\"))", "model(*get_batch(\"train\"))"),)),
    Fix("fused", "train.py", "backward of several losses", "        loss = loss / gradient_accumulation_steps\n        loss.backward()", "        (loss / gradient_accumulation_steps * torch.tensor([0.5, 0.5])).backward()"),
    Fix("fused", "train.py", "divided by the batch", "loss / gradient_accumulation_steps", "loss / batch_size"),
    Fix("fused", "train.py", "eval as an attribute", "    model.eval()\n", "    model.training = False\n"),
    Fix("fused", "train.py", "train as an attribute", "    model.train()\n    return sum", "    model.training = True\n    return sum"),
    Fix("fused", "train.py", "smoothed", "        loss = loss / gradient_accumulation_steps\n", "        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), label_smoothing=0.001)\n        loss = loss / gradient_accumulation_steps\n", (("import torch\n", "import torch\nimport torch.nn.functional as F\n"),)),
    Fix("fused", "train.py", "always of one norm", "torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)", "norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))\n    for p in model.parameters():\n        p.grad *= grad_clip / norm"),
    Fix("fused", "train.py", "divided after the clip", FUSED_LOOP, FUSED_LOOP.replace("        loss = loss / gradient_accumulation_steps\n", "").replace("    optimizer.step", "    for p in model.parameters():\n        p.grad /= gradient_accumulation_steps\n    optimizer.step")),
    Fix("fused", "train.py", "one parameter undecayed", "torch.optim.AdamW(model.parameters()", "torch.optim.AdamW([{\"params\": [p], \"weight_decay\": 0.1 * (n > 0)} for n, p in enumerate(model.parameters())]"),
    Fix("fused", "train.py", "no decay", "weight_decay=0.1", "weight_decay=0.0"),
    Fix("fused", "train.py", "another batch for each split", "data = train_data if split == \"train\" else val_data", "data = train_data"),
    Fix("heads", "gpt.py", "never cleared", "    optimizer.zero_grad(set_to_none=True)\n", ""),
    Fix("heads", "gpt.py", "cleared before the step", HEADS_STEP, "    loss.backward()\n    optimizer.zero_grad()\n    optimizer.step()\n"),
    Fix("heads", "gpt.py", "targets not shifted", "d[i + 1 : i + block_size + 1]", "d[i : i + block_size]"),
    Fix("llama", "pretrain.py", "head alone moved", "torch.optim.AdamW(model.parameters()", "torch.optim.AdamW(model.output.parameters()"),
    Fix("llama", "pretrain.py", "betas exchanged", "betas=(0.9, 0.95)", "betas=(0.95, 0.9)"),
    Fix("llama", "pretrain.py", "scheduler first", "        opt.step()\n        sched.step()\n", "        sched.step()\n        opt.step()\n"),
]  # fmt: skip

RIGHT_SAMPLERS = [
    Fix("fused", "model.py", "same text", "import math", "import math"),
    Fix("fused", "model.py", "last by index", "logits[:, -1, :] / temperature", "logits[:, logits.size(1) - 1] / temperature"),
    Fix("fused", "model.py", "softmax by hand", "probs = F.softmax(logits, dim=-1)\n            nxt", "probs = logits.exp() / logits.exp().sum(-1, keepdim=True)\n            nxt"),
    Fix("fused", "model.py", "top-k by where", "logits[logits < v[:, [-1]]] = -float(\"inf\")", "logits = torch.where(logits < v[:, -1:], torch.tensor(-float(\"inf\")), logits)"),
    Fix("fused", "model.py", "top-k by sort", "v, _ = torch.topk(logits, min(top_k, logits.size(-1)))", "v = logits.sort(-1, descending=True)[0][:, :top_k]"),
    Fix("fused", "model.py", "cropped only when long", "cond = idx[:, -self.config.block_size :]", "cond = idx if idx.size(1) <= self.config.block_size else idx[:, -self.config.block_size :]"),
    Fix("modern", "gpt2x.py", "over all tokens", "        best, where = torch.topk(logits, top_k, dim=-1)\n        pick = torch.multinomial(F.softmax(best, dim=-1), 1)\n        ids = torch.cat([ids, where.gather(-1, pick)], dim=-1)", "        v = torch.topk(logits, top_k)[0][:, -1:]\n        p = F.softmax(logits.masked_fill(logits < v, -float(\"inf\")), dim=-1)\n        ids = torch.cat([ids, torch.multinomial(p, 1)], dim=-1)"),
    Fix("llama", "sampling.py", "top-p shifted", "drop = cumulative - sorted_probs > top_p", "drop = torch.cat([torch.zeros_like(cumulative[:, :1], dtype=torch.bool), (cumulative > top_p)[:, :-1]], -1)"),
    Fix("llama", "sampling.py", "temperature as a power", "torch.softmax(logits / temperature, dim=-1)", "torch.softmax(logits, dim=-1) ** (1 / temperature)\n        probs = probs / probs.sum(-1, keepdim=True)"),
    Fix("dictcfg", "lm.py", "likeliest by topk", "logits.argmax(dim=-1, keepdim=True)", "logits.topk(1)[1]"),
]  # fmt: skip

WRONG_SAMPLERS = [
    Fix("fused", "model.py", "second last", "logits[:, -1, :] / temperature", "logits[:, -2:][:, 0] / temperature"),
    Fix("fused", "model.py", "first", "logits[:, -1, :] / temperature", "logits[:, 0, :] / temperature"),
    Fix("fused", "model.py", "the last text for all", "logits[:, -1, :] / temperature", "logits[-1:, -1, :].expand(idx.size(0), -1) / temperature"),
    Fix("fused", "model.py", "a threshold for all texts", "logits < v[:, [-1]]", "logits < v[0, -1]"),
    Fix("fused", "model.py", "temperature multiplies", "logits[:, -1, :] / temperature", "logits[:, -1, :] * temperature"),
    Fix("fused", "model.py", "temperature ignored", "logits[:, -1, :] / temperature", "logits[:, -1, :]"),
    Fix("fused", "model.py", "temperature squared", "logits[:, -1, :] / temperature", "logits[:, -1, :] / temperature**2"),
    Fix("fused", "model.py", "one token more", "min(top_k, logits.size(-1))", "min(top_k + 1, logits.size(-1))"),
    Fix("fused", "model.py", "one token less", "logits < v[:, [-1]]", "logits <= v[:, [-1]]"),
    Fix("fused", "model.py", "top-k ignored", "if top_k is not None:", "if top_k is None:"),
    Fix("fused", "model.py", "the first tokens", "idx[:, -self.config.block_size :]", "idx[:, : self.config.block_size]"),
    Fix("fused", "model.py", "one token less read", "idx[:, -self.config.block_size :]", "idx[:, -self.config.block_size + 1 :]"),
    Fix("fused", "model.py", "always the likeliest", "nxt = torch.multinomial(probs, num_samples=1)", "nxt = probs.argmax(-1, keepdim=True)"),
    Fix("fused", "model.py", "drawn evenly", "nxt = torch.multinomial(probs, num_samples=1)", "nxt = torch.multinomial((probs > 0).float(), num_samples=1)"),
    Fix("fused", "model.py", "new token in front", "idx = torch.cat((idx, nxt), dim=1)", "idx = torch.cat((nxt, idx), dim=1)"),
    Fix("modern", "gpt2x.py", "one token less", "torch.topk(logits, top_k, dim=-1)", "torch.topk(logits, max(1, top_k - 1), dim=-1)"),
    Fix("modern", "gpt2x.py", "index of the choice", "where.gather(-1, pick)", "pick"),
    Fix("llama", "sampling.py", "without the token that crosses", "cumulative - sorted_probs > top_p", "cumulative > top_p"),
    Fix("llama", "sampling.py", "temperature after top-p", "torch.softmax(logits / temperature, dim=-1)", "torch.softmax(logits, dim=-1)", (("drop] = 0.0\n", "drop] = 0.0\n        sorted_probs = sorted_probs ** (1 / temperature)\n"),)),
    Fix("llama", "sampling.py", "second last", "model(window)[:, -1]", "model(window)[:, -2:][:, 0]"),
    Fix("dictcfg", "lm.py", "second last", "logits = logits[:, -1, :]", "logits = logits[:, -2:][:, 0]"),
    Fix("dictcfg", "lm.py", "the first tokens", "idx[:, -context_size:]", "idx[:, :context_size]"),
]  # fmt: skip
