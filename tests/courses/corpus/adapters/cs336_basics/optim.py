import math

import torch


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, weight_decay=0.01, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "betas": betas, "eps": eps})
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = {"step": 0, "m": torch.zeros_like(p.data), "v": torch.zeros_like(p.data)}

    @torch.no_grad()
    def step(self, closure=None):
        loss = closure() if closure else None
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                s = self.state[p]
                s["step"] += 1
                s["m"].lerp_(p.grad, 1 - beta1)
                s["v"].lerp_(p.grad.square(), 1 - beta2)
                correction1 = 1 - beta1 ** s["step"]
                correction2 = 1 - beta2 ** s["step"]
                lr_t = group["lr"] * correction2**0.5 / correction1
                update = lr_t * s["m"] / (s["v"].sqrt() + group["eps"])
                decay = group["lr"] * group["weight_decay"] * p
                p.sub_(update)
                p.sub_(decay)
        return loss


def lr_schedule(it, lr_max, lr_min, T_w, T_c):
    if it < T_w:
        return it * lr_max / T_w
    if it <= T_c:
        cos = math.cos(math.pi * (it - T_w) / (T_c - T_w))
        return lr_min + (lr_max - lr_min) * (1 + cos) / 2
    return lr_min


def clip_grad(parameters, max_norm, eps=1e-6):
    params = [p for p in parameters if p.grad is not None]
    if not params:
        return
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(p.grad) for p in params]))
    if norm < max_norm:
        return
    for p in params:
        p.grad.data = p.grad.data * (max_norm / (norm + eps))
