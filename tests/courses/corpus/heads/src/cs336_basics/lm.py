import torch
import torch.nn as nn

from .attention import MultiHeadAttention, Rope
from .blocks import Lookup, Norm, PreNormBlock, Projection


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, context_length, dim, n_layers, n_heads, hidden, theta):
        super().__init__()
        self.embed = Lookup(vocab_size, dim)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            rope = Rope(theta, dim // n_heads, context_length)
            self.blocks.append(PreNormBlock(dim, hidden, MultiHeadAttention(dim, n_heads, rope)))
        self.final = Norm(dim)
        self.head = Projection(dim, vocab_size)

    def forward(self, ids):
        x = self.embed(ids)
        positions = torch.arange(ids.shape[-1], device=ids.device)
        for block in self.blocks:
            x = block(x, positions)
        return self.head(self.final(x))

    @torch.no_grad()
    def copy_weights(self, weights):
        self.embed.weight.copy_(weights["token_embeddings.weight"])
        for i, block in enumerate(self.blocks):
            copy_block(block, weights, f"layers.{i}.")
        self.final.weight.copy_(weights["ln_final.weight"])
        self.head.weight.copy_(weights["lm_head.weight"])


@torch.no_grad()
def copy_block(block, weights, prefix=""):
    block.attn.copy_weights(*[weights[f"{prefix}attn.{x}_proj.weight"] for x in ("q", "k", "v", "output")])
    for name in ("ln1", "ln2"):
        getattr(block, name).weight.copy_(weights[f"{prefix}{name}.weight"])
    for name in ("w1", "w2", "w3"):
        getattr(block.ffn, name).weight.copy_(weights[f"{prefix}ffn.{name}.weight"])
