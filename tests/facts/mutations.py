"""Single bugs in the corpus: (style, file, what stands there, what stands there then, fact, value, about).

value: a pattern that the measured value must match. Each must be WRONG by the named fact.
"""

from __future__ import annotations

from typing import NamedTuple


class Bug(NamedTuple):
    style: str
    file: str
    old: str
    new: str
    fact: str
    value: str


MODEL = [
    Bug("fused", "model.py", " / math.sqrt(k.size(-1))", "", "scale", "none"),
    Bug("heads", "gpt.py", " * k.shape[-1] ** -0.5", "", "scale", "none"),
    Bug("dictcfg", "lm.py", "scores / self.dh**0.5", "scores", "scale", "none"),
    Bug("espanol", "modelo.py", "is_causal=True", "is_causal=True, scale=1.0", "scale", "none"),
    Bug("alibi", "alibi_gpt.py", "k = k.transpose(1, 2) * (c // h) ** -0.25", "k = k.transpose(1, 2) * (c // h) ** 0.25", "scale", "none"),
    Bug("fused", "model.py", "math.sqrt(k.size(-1))", "math.sqrt(C)", "scale", "1/sqrt.width."),
    Bug("heads", "gpt.py", "k.shape[-1] ** -0.5", "C ** -0.5", "scale", "1/sqrt.width."),
    Bug("llama", "llama/layers.py", "/ math.sqrt(self.hd)", "* math.sqrt(self.hd)", "scale", r"sqrt\(d_head\)"),
    Bug("fused", "model.py", 'att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))\n', "att = att + 0\n", "mask", "everything"),
    Bug("heads", "gpt.py", 'wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))', "wei", "mask", "everything"),
    Bug("espanol", "modelo.py", "is_causal=True", "is_causal=False", "mask", "everything"),
    Bug("llama", "llama/layers.py", "scores = scores + mask", "scores = scores", "mask", "everything"),
    Bug("dictcfg", "lm.py", "torch.triu(ones, diagonal=1)", "torch.triu(ones, diagonal=2)", "mask", "1 ahead"),
    Bug("llama", "llama/model.py", "torch.triu(mask, diagonal=1)", "torch.triu(mask, diagonal=2)", "mask", "1 ahead"),
    Bug("postnorm", "transformer.py", "torch.tril(torch.ones(t, t, device=x.device))", "torch.tril(torch.ones(t, t, device=x.device), 1)", "mask", "1 ahead"),
    Bug("alibi", "alibi_gpt.py", ".triu(1)", ".triu(2)", "mask", "1 ahead"),
    Bug("dictcfg", "lm.py", "torch.triu(ones, diagonal=1)", "torch.triu(ones, diagonal=0)", "mask", "not itself"),
    Bug("fused", "model.py", 'att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))\n        att = F.softmax(att, dim=-1)', "att = F.softmax(att, dim=-1)\n        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, 0.0)", "rows", "below 1.*"),
    Bug("heads", "gpt.py", 'wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))\n        wei = F.softmax(wei, dim=-1)', "wei = F.softmax(wei, dim=-1)\n        wei = wei * self.tril[:T, :T]", "rows", "below 1.*"),
    Bug("heads", "gpt.py", "wei = F.softmax(wei, dim=-1)", "wei = F.softmax(wei, dim=-2)", "rows", "columns sum to 1"),
    Bug("fused", "model.py", "F.softmax(att, dim=-1)", "F.softmax(att, dim=-2)", "rows", "columns sum to 1"),
    Bug("postnorm", "transformer.py", "scores.softmax(dim=-1)", "scores.softmax(dim=2)", "rows", "columns sum to 1"),
    Bug("fused", "model.py", "y = y.transpose(1, 2).contiguous().view(B, T, C)", "y = y.contiguous().view(B, T, C)", "merge", "tokens mixed"),
    Bug("llama", "llama/layers.py", "out = out.transpose(1, 2).contiguous().view(b, t, -1)", "out = out.reshape(b, t, -1)", "merge", "tokens mixed"),
    Bug("espanol", "modelo.py", "y.transpose(1, 2).reshape(lote", "y.reshape(lote", "merge", "tokens mixed"),
    Bug("trainer", "minilm/model.py", "out.transpose(1, 2).reshape(B, T, D)", "out.reshape(B, T, D)", "merge", "tokens mixed"),
    Bug("fused", "model.py", "v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)", "v = v.reshape(B, self.n_head, T, C // self.n_head)", "split", "tokens mixed"),
    Bug("espanol", "modelo.py", "x.reshape(lote, largo, self.num_cabezas, dim // self.num_cabezas).transpose(1, 2)", "x.reshape(lote, self.num_cabezas, largo, dim // self.num_cabezas)", "split", "tokens mixed"),
    Bug("llama", "llama/layers.py", "q, k = rotate(q, cos, sin), rotate(k, cos, sin)", "q = rotate(q, cos, sin)", "positions", "rotated q only"),
    Bug("modern", "gpt2x.py", "norm(self.rotary(q)), norm(self.rotary(k))", "norm(q), norm(self.rotary(k))", "positions", "rotated k only"),
    Bug("llama", "llama/layers.py", "q, k = rotate(q, cos, sin), rotate(k, cos, sin)\n", "\n", "positions", "a table of rotations.*"),
    Bug("fused", "model.py", "x = x + self.attn(self.ln_1(x))", "x = self.attn(self.ln_1(x))", "residual_attention", "missing in 2 of 2"),
    Bug("dictcfg", "lm.py", "x = self.drop(x) + shortcut\n        shortcut = x", "x = self.drop(x)\n        shortcut = x", "residual_attention", "missing in 2 of 2"),
    Bug("modern", "gpt2x.py", "x = x + attn(norm(x)) + 0.1 * x0", "x = attn(norm(x)) + 0.1 * x0", "residual_attention", "missing in . of 2"),
    Bug("postnorm", "transformer.py", "self.norm1(x + self.dropout(self.attn(x)))", "self.norm1(self.dropout(self.attn(x)))", "residual_attention", "missing in 2 of 2"),
    Bug("heads", "gpt.py", "x = x + self.ffwd(self.ln2(x))", "x = self.ffwd(self.ln2(x))", "residual_ffn", "missing in 2 of 2"),
    Bug("llama", "llama/model.py", "return h + self.feed_forward", "return self.feed_forward", "residual_ffn", "missing in 2 of 2"),
    Bug("postnorm", "transformer.py", "self.norm2(x + self.dropout(self.ff(x)))", "self.norm2(self.dropout(self.ff(x)))", "residual_ffn", "missing in 2 of 2"),
    Bug("trainer", "minilm/model.py", "x = x + self.fc2(", "x = self.fc2(", "residual_ffn", "missing in 2 of 2"),
    Bug("fused", "model.py", "self.attn(self.ln_1(x))", "self.attn(x)", "pre_norm", "raw in 2 of 4"),
    Bug("heads", "gpt.py", "self.ffwd(self.ln2(x))", "self.ffwd(x)", "pre_norm", "raw in 2 of 4"),
    Bug("llama", "llama/model.py", "self.feed_forward(self.ffn_norm(h))", "self.feed_forward(h)", "pre_norm", "raw in 2 of 4"),
    Bug("modern", "gpt2x.py", "x = x + mlp(norm(x))", "x = x + mlp(x)", "pre_norm", "raw in 2 of 4"),
    Bug("fused", "model.py", "self.lm_head(self.ln_f(x))", "self.lm_head(x)", "final_norm", "the raw stream"),
    Bug("llama", "llama/model.py", "self.output(self.norm(h))", "self.output(h)", "final_norm", "the raw stream"),
    Bug("trainer", "minilm/model.py", "F.linear(self.out_norm(h),", "F.linear(h,", "final_norm", "the raw stream"),
    Bug("espanol", "modelo.py", "self.cabeza(self.norma(x))", "self.cabeza(x)", "final_norm", "the raw stream"),
    Bug("dictcfg", "lm.py", "torch.sqrt(var + self.eps)", "torch.sqrt(var)", "eps", "0"),
    Bug("llama", "llama/layers.py", "torch.rsqrt(xf.pow(2).mean(-1, keepdim=True) + self.eps)", "torch.rsqrt(xf.pow(2).mean(-1, keepdim=True))", "eps", "0"),
    Bug("dictcfg", "lm.py", "mean = x.mean(dim=-1, keepdim=True)\n        var = x.var(dim=-1, keepdim=True, unbiased=False)", "mean = x.mean(dim=1, keepdim=True)\n        var = x.var(dim=1, keepdim=True, unbiased=False)", "norm_axis", "over the tokens"),
    Bug("llama", "llama/layers.py", "xf.pow(2).mean(-1, keepdim=True)", "xf.pow(2).mean((1, 2), keepdim=True)", "norm_axis", "tokens and channels"),
    Bug("fused", "model.py", "self.down(self.act(self.up(x)))", "self.down(self.up(x))", "activation", "none"),
    Bug("heads", "gpt.py", "            nn.ReLU(),\n", "", "activation", "none"),
    Bug("espanol", "modelo.py", "F.gelu(self.entrada(self.norma2(x)))", "self.entrada(self.norma2(x))", "activation", "none"),
    Bug("dictcfg", "lm.py", "nn.Linear(d, 4 * d), Gelu(), nn", "nn.Linear(d, 4 * d), nn", "activation", "none"),
    Bug("heads", "gpt.py", "x = tok_emb + pos_emb", "x = tok_emb", "positions", "looked up and not added"),
    Bug("fused", "model.py", "self.wte(idx) + self.wpe(pos)", "self.wte(idx) + 0 * self.wpe(pos).mean() * 0", "future", "never"),
    Bug("espanol", "modelo.py", "self.posiciones[:, : entrada.shape[1]]", "self.posiciones[:, 1 : entrada.shape[1] + 1]", "positions", r"row t \+ 1.*"),
    Bug("fused", "model.py", "pos = torch.arange(T, device=idx.device)", "pos = (torch.arange(T, device=idx.device) + 1) % self.config.block_size", "positions", r"row t \+ 1.*"),
    Bug("fused", "model.py", "nn.ModuleList([Block(config) for _ in range(config.n_layer)])", "nn.ModuleList([Block(config)] * config.n_layer)", "distinct_blocks", "one, 2 times.*"),
    Bug("heads", "gpt.py", "nn.Sequential(*[Block(n_embd, n_head=n_head) for _ in range(n_layer)])", "nn.Sequential(*[Block(n_embd, n_head=n_head)] * n_layer)", "distinct_blocks", "one, 2 times.*"),
    Bug("fused", "model.py", "nn.ModuleList([Block(config) for _ in range(config.n_layer)])", "[Block(config) for _ in range(config.n_layer)]", "registered", ".*"),
    Bug("heads", "gpt.py", "nn.ModuleList([Head(head_size) for _ in range(num_heads)])", "[Head(head_size) for _ in range(num_heads)]", "registered", ".*"),
    Bug("modern", "gpt2x.py", "nn.ModuleList([Mlp(model_dim) for _ in range(num_layers)])", "[Mlp(model_dim) for _ in range(num_layers)]", "registered", ".*"),
    Bug("trainer", "minilm/model.py", "F.dropout(self.proj(out), self.p, self.training)", "F.dropout(self.proj(out), self.p)", "eval_dropout", "drops in evaluation"),
    Bug("trainer", "minilm/model.py", "p = self.p if self.training else 0.0", "p = self.p", "eval_dropout", "drops in evaluation"),
    Bug("fused", "model.py", "att = self.attn_drop(att)", "att = F.dropout(att, self.attn_drop.p)", "eval_dropout", "drops in evaluation"),
    Bug("fused", "model.py", "F.cross_entropy(logits.view", "F.cross_entropy(logits.softmax(-1).view", "loss", "cross-entropy of prob.*"),
    Bug("heads", "gpt.py", "F.cross_entropy(logits.view(B * T, C)", "F.cross_entropy(F.softmax(logits, -1).view(B * T, C)", "loss", "cross-entropy of prob.*"),
    Bug("espanol", "modelo.py", "F.cross_entropy(logits.transpose(1, 2), objetivo)", "F.cross_entropy(logits.reshape(logits.shape[0], logits.shape[2], -1), objetivo)", "loss", "classes and tokens.*"),
    Bug("fused", "model.py", "self.wte.weight = self.lm_head.weight", "nn.init.normal_(self.wte.weight)\n        self.lm_head.weight = self.wte.weight", "tied", "one tensor, .*"),
    Bug("heads", "gpt.py", "self.lm_head = nn.Linear(n_embd, vocab_size)\n", "self.lm_head = nn.Linear(n_embd, vocab_size)\n        self.lm_head.weight = self.token_embedding_table.weight\n", "tied", "one tensor, .*"),
    Bug("fused", "model.py", "self.wte.weight = self.lm_head.weight", "self.lm_head.weight.data = self.wte.weight.data", "tied", "one memory .*"),
    Bug("heads", "gpt.py", "self.lm_head = nn.Linear(n_embd, vocab_size)\n", "self.lm_head = nn.Linear(n_embd, vocab_size)\n        self.lm_head.weight.data.copy_(self.token_embedding_table.weight)\n", "tied", "two tensors, .*"),
    Bug("dictcfg", "lm.py", 'self.out_head = nn.Linear(cfg["emb_dim"], cfg["vocab_size"], bias=False)', 'self.out_head = nn.Linear(cfg["emb_dim"], cfg["vocab_size"], bias=False)\n        self.out_head.weight = nn.Parameter(self.tok_emb.weight.clone())', "tied", "two tensors, .*"),
    Bug("espanol", "modelo.py", "self.cabeza = nn.Linear(dim_modelo, vocab)", "self.cabeza = nn.Linear(dim_modelo, vocab)\n        self.cabeza.weight.data = self.tabla.weight.data", "tied", "one memory .*"),
]  # fmt: skip
MODEL = [bug for bug in MODEL if bug.value != "never"]

TRAINING = [
    Bug("fused", "train.py", "    optimizer.zero_grad(set_to_none=True)\n", "", "clean_grad", "not 0"),
    Bug("heads", "gpt.py", "    optimizer.zero_grad(set_to_none=True)\n", "", "order", "backward, step"),
    Bug("llama", "pretrain.py", "        opt.zero_grad()\n", "", "order", "backward, clip, step"),
    Bug("heads", "gpt.py", "    optimizer.zero_grad(set_to_none=True)\n    loss.backward()\n", "    loss.backward()\n    optimizer.zero_grad(set_to_none=True)\n", "clean_grad", "cleared before the step"),
    Bug("trainer", "minilm/trainer.py", "        self.optimizer.zero_grad(set_to_none=True)\n        loss.backward()\n", "        loss.backward()\n        self.optimizer.zero_grad()\n", "order", "backward, zero_grad.*"),
    Bug("fused", "train.py", "    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)\n    optimizer.step()\n", "    optimizer.step()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)\n", "clipped", "after the step"),
    Bug("llama", "pretrain.py", "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        opt.step()\n", "        opt.step()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n", "clipped", "after the step"),
    Bug("trainer", "minilm/trainer.py", "torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)", "[torch.nn.utils.clip_grad_norm_(p, self.clip) for p in self.model.parameters()]", "clipped", "each parameter by itself"),
    Bug("fused", "train.py", "        loss = loss / gradient_accumulation_steps\n", "", "accumulation", "not divided"),
    Bug("fused", "train.py", "    for micro in range(gradient_accumulation_steps):\n", "    for micro in range(gradient_accumulation_steps):\n        optimizer.zero_grad()\n", "order", "zero_grad, backward, zero_grad.*"),
    Bug("fused", "train.py", '        group["lr"] = lr\n', "        pass\n", "rate", "computed and not set"),
    Bug("llama", "pretrain.py", "        opt.step()\n        sched.step()\n", "        sched.step()\n        opt.step()\n", "rate", "scheduler before optimizer"),
    Bug("fused", "train.py", "data[i + 1 : i + 1 + block_size]", "data[i : i + block_size]", "shift", "the same token"),
    Bug("heads", "gpt.py", "d[i + 1 : i + block_size + 1]", "d[i : i + block_size]", "shift", "the same token"),
    Bug("llama", "pretrain.py", "chunk[:, :-1], chunk[:, 1:]", "chunk[:, :-1], chunk[:, :-1]", "shift", "the same token"),
    Bug("dictcfg", "train.py", "ids[i + 1 : i + length + 1]", "ids[i : i + length]", "shift", "the same token"),
    Bug("alibi", "learn.py", "batch[:, 1:].reshape", "batch[:, :-1].reshape", "shift", "the same token"),
    Bug("dictcfg", "train.py", "cross_entropy(logits.flatten(0, 1)", "cross_entropy(logits.softmax(-1).flatten(0, 1)", "loss_input", "probabilities"),
    Bug("postnorm", "main.py", "criterion(output.view(-1, output.size(-1))", "criterion(output.softmax(-1).view(-1, output.size(-1))", "loss_input", "probabilities"),
    Bug("fused", "train.py", "    model.train()\n    return sum", "    return sum", "train_mode", "eval"),
    Bug("heads", "gpt.py", "    model.train()\n    return out", "    return out", "train_mode", "eval"),
    Bug("fused", "train.py", "    model.eval()\n", "", "eval_mode", "train"),
    Bug("fused", "train.py", "    model.eval()\n", "    model.training = False\n", "eval_mode", "train"),
    Bug("fused", "train.py", "    model.train()\n    return sum", "    model.training = True\n    return sum", "train_mode", "eval"),
    Bug("trainer", "minilm/trainer.py", "        self.model.eval()\n", "", "eval_mode", "never"),
    Bug("dictcfg", "train.py", "    model.eval()\n    with torch.no_grad():", "    with torch.no_grad():", "eval_mode", "train"),
    Bug("llama", "pretrain.py", "torch.optim.AdamW(model.parameters()", "torch.optim.AdamW(model.output.parameters()", "updated", r"\d+ of .*"),
    Bug("heads", "gpt.py", "torch.optim.AdamW(model.parameters()", "torch.optim.AdamW(CharModel().parameters()", "updated", "none of .*"),
]  # fmt: skip
TRAINING = [bug for bug in TRAINING if bug.value != "never"]

GENERATION = [
    Bug("heads", "gpt.py", "logits = logits[:, -1, :]", "logits = logits[:, 0, :]", "gen_position", "of position 0.*"),
    Bug("fused", "model.py", "logits = logits[:, -1, :] / temperature", "logits = logits[:, -2, :] / temperature", "gen_position", "of position 2.*"),
    Bug("dictcfg", "lm.py", "logits = logits[:, -1, :]", "logits = logits[:, 0, :]", "gen_position", "of position 0.*"),
    Bug("llama", "sampling.py", "model(window)[:, -1]", "model(window)[:, -2]", "gen_position", "of position 2.*"),
    Bug("fused", "model.py", "logits[:, -1, :] / temperature", "logits[:, -1, :] * temperature", "temperature", "multiplies.*"),
    Bug("espanol", "modelo.py", "logits / temperatura", "logits * temperatura", "temperature", "multiplies.*"),
    Bug("llama", "sampling.py", "logits / temperature", "logits * temperature", "temperature", "multiplies.*"),
    Bug("fused", "model.py", "min(top_k, logits.size(-1))", "min(top_k + 1, logits.size(-1))", "top_k", "6"),
    Bug("fused", "model.py", "logits < v[:, [-1]]", "logits <= v[:, [-1]]", "top_k", "4"),
    Bug("modern", "gpt2x.py", "torch.topk(logits, top_k, dim=-1)", "torch.topk(logits, top_k - 1, dim=-1)", "top_k", "4"),
    Bug("llama", "sampling.py", "cumulative - sorted_probs > top_p", "cumulative > top_p", "top_p", "without the token.*"),
    Bug("fused", "model.py", "idx[:, -self.config.block_size :]", "idx[:, : self.config.block_size]", "crop", "the first tokens"),
    Bug("heads", "gpt.py", "idx[:, -block_size:]", "idx[:, :block_size]", "crop", "the first tokens"),
    Bug("dictcfg", "lm.py", "idx[:, -context_size:]", "idx[:, :context_size]", "crop", "the first tokens"),
]  # fmt: skip
