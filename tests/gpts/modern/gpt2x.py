"""One file: model, training, sampling."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def norm(x):
    return F.rms_norm(x, (x.size(-1),))


class Rotary(nn.Module):
    def __init__(self, dim, base=10000):
        super().__init__()
        self.inv_freq = (1 / base) ** (torch.arange(0, dim, 2) / dim)

    def forward(self, x):
        t = torch.arange(x.shape[1])
        f = torch.outer(t, self.inv_freq)
        cos, sin = f.cos()[None, :, None], f.sin()[None, :, None]
        a, b = x.chunk(2, dim=3)
        return torch.cat((a * cos + b * sin, -a * sin + b * cos), 3)


class Attn(nn.Module):
    def __init__(self, dim, n_head):
        super().__init__()
        self.n_head, self.head_dim = n_head, dim // n_head
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.rotary = Rotary(self.head_dim)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.n_head, self.head_dim) for f in (self.q, self.k, self.v))
        q, k = norm(self.rotary(q)), norm(self.rotary(k))
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return self.o(y.transpose(1, 2).contiguous().view(B, T, D))


class Mlp(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 4 * dim, bias=False)
        self.down = nn.Linear(4 * dim, dim, bias=False)

    def forward(self, x):
        return self.down(F.relu(self.up(x)).square())


class GPT(nn.Module):
    def __init__(self, vocab_size=50304, num_layers=12, num_heads=6, model_dim=768, max_seq_len=1024):
        super().__init__()
        self.max_seq_len = max_seq_len
        self.embed = nn.Embedding(vocab_size, model_dim)
        self.attn = nn.ModuleList([Attn(model_dim, num_heads) for _ in range(num_layers)])
        self.mlp = nn.ModuleList([Mlp(model_dim) for _ in range(num_layers)])
        nn.init.normal_(self.embed.weight, std=0.02)

    @property
    def head(self):
        return self.embed.weight

    def forward(self, idx, target=None):
        x = x0 = norm(self.embed(idx))
        for attn, mlp in zip(self.attn, self.mlp):
            x = x + attn(norm(x)) + 0.1 * x0
            x = x + mlp(norm(x))
        logits = F.linear(norm(x), self.head)
        logits = 15 * torch.tanh(logits / 15)
        if target is None:
            return logits
        return F.cross_entropy(logits.view(-1, logits.size(-1)), target.view(-1), ignore_index=-1)


@torch.no_grad()
def generate(model, ids, n_tokens, top_k=50):
    model.eval()
    for _ in range(n_tokens):
        logits = model(ids[:, -model.max_seq_len :])[:, -1, :]
        best, where = torch.topk(logits, top_k, dim=-1)
        pick = torch.multinomial(F.softmax(best, dim=-1), 1)
        ids = torch.cat([ids, where.gather(-1, pick)], dim=-1)
    return ids


if __name__ == "__main__":
    import numpy as np

    batch_size, seq_len, num_iterations = 8, 1024, 5000
    tokens = torch.from_numpy(np.fromfile("train.bin", dtype=np.uint16).astype(np.int64))
    model = GPT(max_seq_len=seq_len).cuda()
    opts = [
        torch.optim.Adam([model.embed.weight], lr=0.3),
        torch.optim.SGD([*model.attn.parameters(), *model.mlp.parameters()], lr=0.02, momentum=0.95),
    ]
    for step in range(num_iterations):
        i = torch.randint(len(tokens) - seq_len - 1, (batch_size,))
        x = torch.stack([tokens[j : j + seq_len] for j in i]).cuda()
        y = torch.stack([tokens[j + 1 : j + 1 + seq_len] for j in i]).cuda()
        loss = model(x, y)
        loss.backward()
        for opt in opts:
            opt.step()
        model.zero_grad(set_to_none=True)
    print(generate(model, x[:1, :2], 10))
