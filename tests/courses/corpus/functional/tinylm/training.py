import math

import numpy as np
import torch


def adamw_update(p, g, m, v, t, lr, b1, b2, eps, wd):
    """One step of AdamW, everything in place."""
    m.mul_(b1).add_((1 - b1) * g)
    v.mul_(b2).add_((1 - b2) * g * g)
    lr_t = lr * math.sqrt(1 - b2**t) / (1 - b1**t)
    p.sub_(lr_t * m / (torch.sqrt(v) + eps))
    p.sub_(lr * wd * p)


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for g in self.param_groups:
            for p in filter(lambda p: p.grad is not None, g["params"]):
                s = self.state[p]
                s.setdefault("m", torch.zeros_like(p))
                s.setdefault("v", torch.zeros_like(p))
                s["t"] = s.get("t", 0) + 1
                adamw_update(p, p.grad, s["m"], s["v"], s["t"], g["lr"], *g["betas"], g["eps"], g["weight_decay"])
        return loss


def cosine_lr(it, lr_max, lr_min, warmup, cycle):
    if it < warmup:
        return lr_max * it / warmup
    if it > cycle:
        return lr_min
    angle = math.pi * (it - warmup) / (cycle - warmup)
    return lr_min + (lr_max - lr_min) * 0.5 * (1 + math.cos(angle))


def clip_grad_norm(params, max_norm, eps=1e-6):
    grads = [p.grad for p in params if p.grad is not None]
    norm = math.sqrt(sum(g.norm(2).item() ** 2 for g in grads))
    if norm >= max_norm:
        for g in grads:
            g.mul_(max_norm / (norm + eps))


def sample_batch(tokens, batch_size, length, device):
    windows = np.lib.stride_tricks.sliding_window_view(tokens, length + 1)
    rows = np.random.choice(len(windows), size=batch_size)
    picked = torch.from_numpy(windows[rows].astype("int64"))
    return picked[:, :length].to(device), picked[:, 1:].to(device)


def save(model, optimizer, iteration, out):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "iteration": iteration}
    torch.save(state, out)


def load(src, model, optimizer):
    state = torch.load(src, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["iteration"]
