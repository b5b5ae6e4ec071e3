import torch
import torch.nn as nn

CONFIG = {
    "vocab_size": 50257,
    "context_length": 1024,
    "emb_dim": 768,
    "n_heads": 12,
    "n_layers": 12,
    "drop_rate": 0.1,
    "qkv_bias": False,
}


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.eps = 1e-5
        self.gain = nn.Parameter(torch.ones(dim))
        self.offset = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.gain * (x - mean) / torch.sqrt(var + self.eps) + self.offset


class Gelu(nn.Module):
    def forward(self, x):
        inner = 0.7978845608 * (x + 0.044715 * torch.pow(x, 3))
        return 0.5 * x * (1 + torch.tanh(inner))


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg["emb_dim"]
        self.h = cfg["n_heads"]
        self.dh = d // self.h
        self.wq = nn.Linear(d, d, bias=cfg["qkv_bias"])
        self.wk = nn.Linear(d, d, bias=cfg["qkv_bias"])
        self.wv = nn.Linear(d, d, bias=cfg["qkv_bias"])
        self.wo = nn.Linear(d, d)
        self.drop = nn.Dropout(cfg["drop_rate"])
        ones = torch.ones(cfg["context_length"], cfg["context_length"])
        self.register_buffer("future", torch.triu(ones, diagonal=1))

    def forward(self, x):
        b, t, d = x.shape
        q = self.wq(x).view(b, t, self.h, self.dh)
        k = self.wk(x).view(b, t, self.h, self.dh)
        v = self.wv(x).view(b, t, self.h, self.dh)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k)
        scores = scores.masked_fill(self.future.bool()[:t, :t], -torch.inf)
        weights = torch.softmax(scores / self.dh**0.5, dim=-1)
        weights = self.drop(weights)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights, v)
        return self.wo(mixed.reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg["emb_dim"]
        self.att = Attention(cfg)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), Gelu(), nn.Linear(4 * d, d))
        self.norm1 = Norm(d)
        self.norm2 = Norm(d)
        self.drop = nn.Dropout(cfg["drop_rate"])

    def forward(self, x):
        shortcut = x
        x = self.norm1(x)
        x = self.att(x)
        x = self.drop(x) + shortcut
        shortcut = x
        x = self.norm2(x)
        x = self.ff(x)
        return self.drop(x) + shortcut


class TextModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok_emb = nn.Embedding(cfg["vocab_size"], cfg["emb_dim"])
        self.pos_emb = nn.Embedding(cfg["context_length"], cfg["emb_dim"])
        self.drop_emb = nn.Dropout(cfg["drop_rate"])
        self.trf_blocks = nn.Sequential(*[Layer(cfg) for _ in range(cfg["n_layers"])])
        self.final_norm = Norm(cfg["emb_dim"])
        self.out_head = nn.Linear(cfg["emb_dim"], cfg["vocab_size"], bias=False)

    def forward(self, in_idx):
        _, t = in_idx.shape
        x = self.tok_emb(in_idx) + self.pos_emb(torch.arange(t, device=in_idx.device))
        x = self.trf_blocks(self.drop_emb(x))
        return self.out_head(self.final_norm(x))


def generate_text(model, idx, max_new_tokens, context_size):
    for _ in range(max_new_tokens):
        cond = idx[:, -context_size:]
        with torch.no_grad():
            logits = model(cond)
        logits = logits[:, -1, :]
        idx = torch.cat((idx, logits.argmax(dim=-1, keepdim=True)), dim=1)
    return idx
