from __future__ import annotations

import math

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor


def cross_entropy(logits: Float[Tensor, "... vocab"], targets: Int[Tensor, "..."]) -> Float[Tensor, ""]:
    logits = rearrange(logits, "... vocab -> (...) vocab")
    targets = rearrange(targets, "... -> (...)")
    top = logits.amax(dim=1)
    logsumexp = top + (logits - rearrange(top, "n -> n 1")).exp().sum(dim=1).log()
    picked = logits[torch.arange(len(targets)), targets]
    return torch.mean(logsumexp - picked)


class AdamW(torch.optim.Optimizer):
    """Algorithm 2 of the handout."""

    def __init__(self, params, lr: float = 1e-3, betas=(0.9, 0.95), eps: float = 1e-8, weight_decay: float = 0.1):
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                st = self.state[p]
                t = st.get("t", 1)
                m = st.get("m", torch.zeros_like(p))
                v = st.get("v", torch.zeros_like(p))
                m = b1 * m + (1 - b1) * p.grad
                v = b2 * v + (1 - b2) * p.grad**2
                alpha_t = group["lr"] * math.sqrt(1 - b2**t) / (1 - b1**t)
                p -= alpha_t * m / (v.sqrt() + group["eps"])
                p -= group["lr"] * group["weight_decay"] * p
                st["t"], st["m"], st["v"] = t + 1, m, v
        return loss


def cosine_schedule(t: int, a_max: float, a_min: float, T_w: int, T_c: int) -> float:
    if t < T_w:
        return t / T_w * a_max
    elif t <= T_c:
        return a_min + (1 + math.cos((t - T_w) / (T_c - T_w) * math.pi)) * (a_max - a_min) / 2
    else:
        return a_min


def gradient_clipping(params, max_norm: float, eps: float = 1e-6) -> None:
    with_grad = [p for p in params if p.grad is not None]
    sq = 0.0
    for p in with_grad:
        sq += (p.grad.detach() ** 2).sum().item()
    norm = math.sqrt(sq)
    if norm > max_norm:
        scale = max_norm / (norm + eps)
        for p in with_grad:
            p.grad *= scale


def get_batch(x, batch_size: int, context_length: int, device: str):
    start = torch.randint(len(x) - context_length, (batch_size,))
    idx = rearrange(start, "b -> b 1") + torch.arange(context_length + 1)
    chunk = torch.as_tensor(x[idx.numpy()], dtype=torch.long)
    return chunk[:, :-1].to(device), chunk[:, 1:].to(device)


def save_checkpoint(model, optimizer, iteration, out):
    obj = {}
    obj["model_state"] = model.state_dict()
    obj["optimizer_state"] = optimizer.state_dict()
    obj["iteration"] = iteration
    torch.save(obj, out)


def load_checkpoint(src, model, optimizer):
    obj = torch.load(src)
    model.load_state_dict(obj["model_state"])
    optimizer.load_state_dict(obj["optimizer_state"])
    return obj["iteration"]
