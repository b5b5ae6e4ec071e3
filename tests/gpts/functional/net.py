import torch
import torch.nn.functional as F


def make(vocab, width, layers, context, seed=0):
    g = torch.Generator().manual_seed(seed)

    def w(*shape, std=0.02):
        return (torch.randn(*shape, generator=g) * std).requires_grad_()

    p = {"emb": w(vocab, width), "pos": w(context, width), "layers": []}
    for _ in range(layers):
        p["layers"].append(
            {
                "g1": torch.ones(width, requires_grad=True),
                "g2": torch.ones(width, requires_grad=True),
                "qkv": w(width, 3 * width),
                "out": w(width, width),
                "up": w(width, 4 * width),
                "down": w(4 * width, width),
            }
        )
    p["gf"] = torch.ones(width, requires_grad=True)
    return p


def rms(x, g, eps=1e-6):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * g


def attention(x, layer, heads):
    B, T, D = x.shape
    q, k, v = (x @ layer["qkv"]).chunk(3, dim=-1)
    q, k, v = (a.reshape(B, T, heads, D // heads).permute(0, 2, 1, 3) for a in (q, k, v))
    s = q @ k.mT * (D // heads) ** -0.5
    ok = torch.ones(T, T, dtype=torch.bool).tril()
    s = torch.where(ok, s, torch.tensor(float("-inf")))
    a = s.softmax(-1) @ v
    return a.permute(0, 2, 1, 3).reshape(B, T, D) @ layer["out"]


def forward(p, ids, heads):
    T = ids.shape[1]
    x = p["emb"][ids] + p["pos"][:T]
    for layer in p["layers"]:
        x = x + attention(rms(x, layer["g1"]), layer, heads)
        x = x + F.silu(rms(x, layer["g2"]) @ layer["up"]) @ layer["down"]
    return rms(x, p["gf"]) @ p["emb"].T
