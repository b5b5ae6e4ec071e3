import torch
from torch import nn, Tensor


def slopes(n: int) -> Tensor:
    return torch.tensor([2 ** (-8 * (i + 1) / n) for i in range(n)])


class AlibiAttention(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.in_proj = nn.Parameter(torch.empty(3 * hidden_size, hidden_size))
        self.out_proj = nn.Linear(hidden_size, hidden_size)
        nn.init.xavier_uniform_(self.in_proj)
        self.register_buffer("m", slopes(num_heads).view(1, num_heads, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        n, t, c = x.shape
        h = self.num_heads
        qkv = x @ self.in_proj.T
        q, k, v = qkv.view(n, t, 3, h, c // h).unbind(dim=2)
        q = q.transpose(1, 2) * (c // h) ** -0.25
        k = k.transpose(1, 2) * (c // h) ** -0.25
        s = torch.baddbmm(
            torch.zeros(1), q.reshape(n * h, t, -1), k.reshape(n * h, t, -1).transpose(1, 2), beta=0.0
        ).view(n, h, t, t)
        pos = torch.arange(t)
        s = s + self.m * -(pos[:, None] - pos[None, :]).abs()
        s = s + torch.full((t, t), torch.finfo(s.dtype).min).triu(1)
        e = torch.exp(s - s.amax(-1, keepdim=True))
        w = e / e.sum(-1, keepdim=True)
        y = w @ v.transpose(1, 2)
        return self.out_proj(y.permute(0, 2, 1, 3).flatten(2))


class Block(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.ln = nn.LayerNorm(hidden_size)
        self.attn = AlibiAttention(hidden_size, num_heads)
        self.mlp = nn.Sequential(nn.Linear(hidden_size, 4 * hidden_size), nn.GELU(), nn.Linear(4 * hidden_size, hidden_size))

    def forward(self, x):
        h = self.ln(x)
        return x + self.attn(h) + self.mlp(h)


class AlibiLM(nn.Module):
    def __init__(self, vocab_size: int, hidden_size: int, num_heads: int, num_layers: int):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, hidden_size)
        self.h = nn.Sequential(*(Block(hidden_size, num_heads) for _ in range(num_layers)))
        self.ln = nn.LayerNorm(hidden_size)
        self.out = nn.Linear(hidden_size, vocab_size)

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.out(self.ln(self.h(self.wte(input_ids))))
