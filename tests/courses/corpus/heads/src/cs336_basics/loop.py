"""Loss, optimizer, schedule, data and checkpoints."""

import math
import random

import torch


def nll(logits, targets):
    """Mean negative log likelihood of the targets."""
    lse = torch.logsumexp(logits, dim=-1)
    right = torch.gather(logits, -1, targets[..., None])[..., 0]
    return (lse - right).mean()


class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        if not 0 <= betas[0] < 1 or not 0 <= betas[1] < 1:
            raise ValueError(f"betas must be in [0, 1): {betas}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.update(p, **{k: group[k] for k in ("lr", "betas", "eps", "weight_decay")})
        return loss

    @torch.no_grad()
    def update(self, p, lr, betas, eps, weight_decay):
        s = self.state[p]
        if "m" not in s:
            s["m"], s["v"] = torch.zeros_like(p), torch.zeros_like(p)
            s["b1_power"], s["b2_power"] = 1.0, 1.0  # beta ** t
        s["b1_power"] *= betas[0]
        s["b2_power"] *= betas[1]
        s["m"] = betas[0] * s["m"] + (1 - betas[0]) * p.grad
        s["v"] = betas[1] * s["v"] + (1 - betas[1]) * p.grad * p.grad
        m_hat = s["m"] / (1 - s["b1_power"])
        v_hat = s["v"] / (1 - s["b2_power"])
        p.add_(p, alpha=-lr * weight_decay)
        p.add_(m_hat / (v_hat.sqrt() + eps), alpha=-lr)


def learning_rate(it, high, low, warmup, end):
    if it < warmup:
        return high * it / warmup
    fraction = min(1.0, (it - warmup) / (end - warmup))
    return low + 0.5 * (high - low) * (1.0 + math.cos(math.pi * fraction))


@torch.no_grad()
def clip(parameters, limit, eps=1e-6):
    grads = [p.grad for p in parameters if p.grad is not None]
    squares = 0.0
    for g in grads:
        squares += float((g * g).sum())
    norm = squares**0.5
    if norm > limit:
        for g in grads:
            g *= limit / (norm + eps)


def batch(data, batch_size, length, device):
    starts = [random.randrange(0, len(data) - length) for _ in range(batch_size)]
    rows = torch.stack([torch.tensor([int(t) for t in data[s : s + length + 1]]) for s in starts]).to(device)
    return rows[:, :-1], rows[:, 1:]


def store(model, optimizer, iteration, out):
    torch.save({"iteration": iteration, "model": model.state_dict(), "optim": optimizer.state_dict()}, out)


def restore(src, model, optimizer):
    saved = torch.load(src, map_location="cpu", weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optim"])
    return saved["iteration"]
