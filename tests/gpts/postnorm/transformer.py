import math

import torch
import torch.nn as nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1)])


class MultiHead(nn.Module):
    def __init__(self, d_model, nhead, dropout):
        super().__init__()
        self.nhead, self.d_k = nhead, d_model // nhead
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        n, t, d = x.shape
        q = self.w_q(x).view(n, t, self.nhead, self.d_k).transpose(1, 2)
        k = self.w_k(x).view(n, t, self.nhead, self.d_k).transpose(1, 2)
        v = self.w_v(x).view(n, t, self.nhead, self.d_k).transpose(1, 2)
        scores = q.matmul(k.transpose(-2, -1)).div(math.sqrt(self.d_k))
        keep = torch.tril(torch.ones(t, t, device=x.device)).bool()
        scores = scores.masked_fill(~keep, -1e9)
        attn = self.dropout(scores.softmax(dim=-1))
        out = attn.matmul(v).transpose(1, 2).contiguous().view(n, t, d)
        return self.w_o(out)


class DecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, d_ff, dropout):
        super().__init__()
        self.attn = MultiHead(d_model, nhead, dropout)
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = self.norm1(x + self.dropout(self.attn(x)))
        x = self.norm2(x + self.dropout(self.ff(x)))
        return x


class TransformerLM(nn.Module):
    def __init__(self, ntoken, d_model=200, nhead=2, d_ff=800, nlayers=2, dropout=0.2):
        super().__init__()
        self.d_model = d_model
        self.encoder = nn.Embedding(ntoken, d_model)
        self.pos_encoder = PositionalEncoding(d_model, dropout)
        self.layers = nn.ModuleList([DecoderLayer(d_model, nhead, d_ff, dropout) for _ in range(nlayers)])
        self.decoder = nn.Linear(d_model, ntoken)

    def forward(self, src):
        x = self.encoder(src) * math.sqrt(self.d_model)
        x = self.pos_encoder(x)
        for layer in self.layers:
            x = layer(x)
        return self.decoder(x)
