# CS336 assignment 1, everything in one place.
import json
import math
import multiprocessing as mp

import numpy as np
import regex
import torch
import torch.nn as nn

# ---------------------------------------------------------------- BPE training

PAT = regex.compile(r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")


def split_specials(text, special_tokens, keep):
    if not special_tokens:
        return [text]
    alt = "|".join(regex.escape(s) for s in sorted(special_tokens, key=len, reverse=True))
    return regex.split(f"({alt})" if keep else alt, text)


def pretoken_counts(text, special_tokens):
    counts = {}
    for doc in split_specials(text, special_tokens, keep=False):
        for match in PAT.finditer(doc):
            w = match.group()
            counts[w] = counts.get(w, 0) + 1
    return counts


def chunk_at_special(text, special_token, n_chunks):
    """Cut the text into about n_chunks pieces, only ever at the start of a special token."""
    cuts, size = [0], max(1, len(text) // n_chunks)
    while True:
        cut = text.find(special_token, cuts[-1] + size)
        if cut == -1:
            break
        cuts.append(cut)
    return [text[a:b] for a, b in zip(cuts, cuts[1:] + [len(text)])]


def merge_ids(ids, pair, new_id):
    out = []
    i = 0
    while i < len(ids):
        if ids[i] == pair[0] and i + 1 < len(ids) and ids[i + 1] == pair[1]:
            out.append(new_id)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train_bpe(input_path, vocab_size, special_tokens, num_processes=1, **kwargs):
    with open(input_path, "rb") as f:
        text = f.read().decode("utf-8", errors="replace")
    if num_processes > 1 and len(special_tokens) == 1:
        chunks = chunk_at_special(text, special_tokens[0], num_processes)
        with mp.Pool(num_processes) as pool:
            results = pool.starmap(pretoken_counts, [(c, special_tokens) for c in chunks])
        counts = {}
        for r in results:
            for w, n in r.items():
                counts[w] = counts.get(w, 0) + n
    else:
        counts = pretoken_counts(text, special_tokens)

    vocab = {i: bytes([i]) for i in range(256)}
    merges = []
    words = [(list(w.encode("utf-8")), n) for w, n in counts.items()]
    stats, words_with = {}, {}
    for j, (ids, n) in enumerate(words):
        for p in zip(ids, ids[1:]):
            stats[p] = stats.get(p, 0) + n
            words_with.setdefault(p, set()).add(j)

    n_merges = vocab_size - 256 - len(special_tokens)
    for _ in range(n_merges):
        top = max(stats.values(), default=0)
        if top == 0:
            break  # every word is one token by now
        # compare the bytes, not the ids, when there is a tie
        pair = max((p for p, n in stats.items() if n == top), key=lambda p: (vocab[p[0]], vocab[p[1]]))
        new_id = len(vocab)
        vocab[new_id] = vocab[pair[0]] + vocab[pair[1]]
        merges.append((vocab[pair[0]], vocab[pair[1]]))
        for j in words_with.pop(pair):
            ids, n = words[j]
            new_ids = merge_ids(ids, pair, new_id)
            if len(new_ids) == len(ids):
                continue  # stale entry
            for p in zip(ids, ids[1:]):
                stats[p] -= n
            for p in zip(new_ids, new_ids[1:]):
                stats[p] = stats.get(p, 0) + n
                words_with.setdefault(p, set()).add(j)
            words[j] = (new_ids, n)
        stats.pop(pair)

    for s in special_tokens:
        vocab[len(vocab)] = s.encode("utf-8")
    return vocab, merges


# ---------------------------------------------------------------- Tokenizer

class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.vocab = dict(vocab)
        self.token_to_id = {t: i for i, t in vocab.items()}
        self.special_tokens = special_tokens if special_tokens else []
        for s in self.special_tokens:
            s = s.encode("utf-8")
            if s not in self.token_to_id:
                self.token_to_id[s] = len(self.vocab)
                self.vocab[len(self.vocab)] = s
        # (left id, right id) -> (priority, merged id)
        self.merge_table = {}
        for i, (a, b) in enumerate(merges):
            self.merge_table[self.token_to_id[a], self.token_to_id[b]] = (i, self.token_to_id[a + b])

    @classmethod
    def from_files(cls, vocab_filepath, merges_filepath, special_tokens=None):
        with open(vocab_filepath) as f:
            vocab = {int(k): v.encode("latin-1") for k, v in json.load(f).items()}
        with open(merges_filepath) as f:
            merges = [(a.encode("latin-1"), b.encode("latin-1")) for a, b in json.load(f)]
        return cls(vocab, merges, special_tokens)

    def encode(self, text):
        out = []
        for part in split_specials(text, self.special_tokens, keep=True):
            if part in self.special_tokens:
                out.append(self.token_to_id[part.encode("utf-8")])
                continue
            for match in PAT.finditer(part):
                ids = [self.token_to_id[bytes([b])] for b in match.group().encode("utf-8")]
                while True:
                    candidates = [p for p in zip(ids, ids[1:]) if p in self.merge_table]
                    if not candidates:
                        break
                    best = min(candidates, key=lambda p: self.merge_table[p][0])
                    ids = merge_ids(ids, best, self.merge_table[best][1])
                out += ids
        return out

    def encode_iterable(self, iterable):
        for line in iterable:
            for i in self.encode(line):
                yield i

    def decode(self, ids):
        return b"".join([self.vocab[i] for i in ids]).decode("utf-8", errors="replace")


# ---------------------------------------------------------------- Model

class Linear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        sigma = (2 / (in_features + out_features)) ** 0.5
        w = torch.randn(out_features, in_features) * sigma
        self.weight = nn.Parameter(w.clamp(-3 * sigma, 3 * sigma))

    def forward(self, x):
        return torch.matmul(x, self.weight.transpose(0, 1))


class Embedding(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n, d).clamp(-3, 3))

    def forward(self, ids):
        return self.weight[ids.long()]


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        dtype = x.dtype
        x = x.float()
        x = x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps)
        return (x * self.weight).to(dtype)


def silu(x):
    return x * torch.sigmoid(x)


def softmax(x, dim):
    exps = torch.exp(x - torch.max(x, dim, keepdim=True)[0])
    return exps / torch.sum(exps, dim, keepdim=True)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff=None):
        super().__init__()
        d_ff = d_ff or 64 * round(d_model * 8 / 3 / 64)
        self.w1 = Linear(d_model, d_ff)
        self.w2 = Linear(d_ff, d_model)
        self.w3 = Linear(d_model, d_ff)

    def forward(self, x):
        gate = silu(self.w1(x))
        return self.w2(gate * self.w3(x))


class Rope(nn.Module):
    def __init__(self, theta, d_k, max_seq_len):
        super().__init__()
        k = torch.arange(d_k // 2)
        freqs = torch.exp(-math.log(theta) * 2 * k / d_k)
        angles = torch.arange(max_seq_len)[:, None] * freqs[None, :]
        self.register_buffer("phases", torch.polar(torch.ones_like(angles), angles), persistent=False)

    def forward(self, x, positions):
        # treat every pair of neighbouring features as a complex number
        z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
        z = z * self.phases[positions]
        return torch.view_as_real(z).reshape(x.shape).to(x.dtype)


def attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.matmul(softmax(scores, -1), v)


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, rope=None):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = Linear(d_model, d_model)
        self.k_proj = Linear(d_model, d_model)
        self.v_proj = Linear(d_model, d_model)
        self.output_proj = Linear(d_model, d_model)
        self.rope = rope

    def forward(self, x, positions=None):
        *lead, T, D = x.shape
        x = x.reshape(-1, T, D)
        B, H = x.shape[0], self.num_heads
        q = self.q_proj(x).reshape(B, T, H, D // H).transpose(1, 2)
        k = self.k_proj(x).reshape(B, T, H, D // H).transpose(1, 2)
        v = self.v_proj(x).reshape(B, T, H, D // H).transpose(1, 2)
        if self.rope is not None:
            if positions is None:
                positions = torch.arange(T, device=x.device)
            # (B or 1, 1, T): the same for every head
            positions = positions.expand(*lead, T).reshape(B, 1, T)
            q = self.rope(q, positions)
            k = self.rope(k, positions)
        causal = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        y = attention(q, k, v, causal)
        y = y.transpose(1, 2).reshape(*lead, T, D)
        return self.output_proj(y)


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, rope):
        super().__init__()
        self.ln1 = RMSNorm(d_model)
        self.ln2 = RMSNorm(d_model)
        self.attn = MultiHeadSelfAttention(d_model, num_heads, rope)
        self.ffn = SwiGLU(d_model, d_ff)

    def forward(self, x, positions=None):
        x = x + self.attn(self.ln1(x), positions)
        return x + self.ffn(self.ln2(x))


class TransformerLM(nn.Module):
    def __init__(self, vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta):
        super().__init__()
        rope = Rope(rope_theta, d_model // num_heads, context_length)
        self.token_embeddings = Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList([TransformerBlock(d_model, num_heads, d_ff, rope) for _ in range(num_layers)])
        self.ln_final = RMSNorm(d_model)
        self.lm_head = Linear(d_model, vocab_size)

    def forward(self, ids):
        x = self.token_embeddings(ids)
        for block in self.layers:
            x = block(x)
        x = self.ln_final(x)
        return self.lm_head(x)


# ---------------------------------------------------------------- Training

def cross_entropy(logits, targets):
    m = logits.max(dim=-1, keepdim=True)[0]
    lse = (logits - m).exp().sum(-1).log() + m.squeeze(-1)
    return -(logits.gather(-1, targets[..., None])[..., 0] - lse).mean()


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    def step(self, closure=None):
        loss = None if closure is None else closure()
        for group in self.param_groups:
            lr, (b1, b2) = group["lr"], group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad.data
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p.data)
                    state["exp_avg_sq"] = torch.zeros_like(p.data)
                state["step"] += 1
                # decoupled decay first, like torch does it
                p.data *= 1 - lr * group["weight_decay"]
                state["exp_avg"] = b1 * state["exp_avg"] + (1 - b1) * g
                state["exp_avg_sq"] = b2 * state["exp_avg_sq"] + (1 - b2) * g * g
                m_hat = state["exp_avg"] / (1 - b1 ** state["step"])
                v_hat = state["exp_avg_sq"] / (1 - b2 ** state["step"])
                p.data -= lr * m_hat / (torch.sqrt(v_hat) + group["eps"])
        return loss


def lr_cosine_schedule(it, max_lr, min_lr, warmup_iters, cosine_cycle_iters):
    if it < warmup_iters:
        return max_lr * (it / warmup_iters)
    if it >= cosine_cycle_iters:
        return min_lr
    t = (it - warmup_iters) / (cosine_cycle_iters - warmup_iters)
    return min_lr + (max_lr - min_lr) * (math.cos(t * math.pi) + 1) / 2


def clip_gradients(params, max_norm):
    params = [p for p in params if p.grad is not None]
    norm = sum((p.grad.data ** 2).sum() for p in params) ** 0.5
    coef = max_norm / (norm + 1e-6)
    if coef < 1:
        for p in params:
            p.grad.data.mul_(coef)


def get_batch(dataset, batch_size, context_length, device):
    xs, ys = [], []
    for i in np.random.randint(len(dataset) - context_length, size=batch_size):
        xs.append(torch.tensor(dataset[i:i + context_length].astype(np.int64)))
        ys.append(torch.tensor(dataset[i + 1:i + context_length + 1].astype(np.int64)))
    return torch.stack(xs).to(device), torch.stack(ys).to(device)


def save_checkpoint(model, optimizer, iteration, out):
    torch.save((model.state_dict(), optimizer.state_dict(), iteration), out)


def load_checkpoint(src, model, optimizer):
    model_state, optimizer_state, iteration = torch.load(src)
    model.load_state_dict(model_state)
    optimizer.load_state_dict(optimizer_state)
    return iteration
