import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.heads = hparams.num_heads
        self.qkv = nn.Linear(hparams.d_model, 3 * hparams.d_model, bias=False)
        self.proj = nn.Linear(hparams.d_model, hparams.d_model, bias=False)
        self.p = hparams.dropout

    def forward(self, x):
        B, T, D = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        p = self.p if self.training else 0.0
        out = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        out = out.transpose(1, 2).reshape(B, T, D)
        return F.dropout(self.proj(out), self.p, self.training)


class Layer(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(hparams.d_model), nn.LayerNorm(hparams.d_model)
        self.attn = SelfAttention(hparams)
        self.fc1 = nn.Linear(hparams.d_model, hparams.d_ff)
        self.fc2 = nn.Linear(hparams.d_ff, hparams.d_model)

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        x = x + self.fc2(F.relu(self.fc1(self.n2(x))) ** 2)
        return x


class HParams:
    vocab_size = 5000
    d_model = 256
    num_heads = 8
    num_layers = 6
    d_ff = 1024
    max_len = 512
    dropout = 0.1


class LanguageModel(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.embed = nn.Embedding(hparams.vocab_size, hparams.d_model)
        self.pos = nn.Embedding(hparams.max_len, hparams.d_model)
        self.stack = nn.ModuleList()
        for _ in range(hparams.num_layers):
            self.stack.append(Layer(hparams))
        self.out_norm = nn.LayerNorm(hparams.d_model)
        nn.init.normal_(self.embed.weight, std=0.02)

    def forward(self, ids, labels=None):
        h = self.embed(ids) + self.pos.weight[: ids.size(1)]
        for layer in self.stack:
            h = layer(h)
        logits = F.linear(self.out_norm(h), self.embed.weight)
        out = {"logits": logits}
        if labels is not None:
            out["loss"] = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return out
