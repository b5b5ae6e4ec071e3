"""Ways to walk downhill."""
import math

import numpy as np


class _Walker:
    """Goes over the parameters that have a gradient and lets `_move` say how far each one goes."""

    def __init__(self, params, lr):
        self.lr = lr
        self._members = [(p, {}) for p in params]

    def zero_grad(self):
        for p, _ in self._members:
            p.grad = None

    def step(self):
        for p, memory in self._members:
            if p.grad is not None:
                p.data[...] = p.data + self._move(p.data, p.grad, memory)


class SGD(_Walker):
    def __init__(self, params, lr, momentum=0.0):
        super().__init__(params, lr)
        self.momentum = momentum

    def _move(self, weights, slope, memory):
        memory["speed"] = speed = self.momentum * memory.get("speed", 0.0) + slope
        return -self.lr * speed


def _blend(old, new, keep):
    return keep * old + (1 - keep) * new


class AdamW(_Walker):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr)
        self.keep_mean, self.keep_square = betas
        self.eps, self.weight_decay = eps, weight_decay

    def _move(self, weights, slope, memory):
        memory["age"] = age = memory.get("age", 0) + 1
        memory["mean"] = mean = _blend(memory.get("mean", 0.0), slope, self.keep_mean)
        memory["square"] = square = _blend(memory.get("square", 0.0), slope**2, self.keep_square)
        seen_mean, seen_square = 1 - self.keep_mean**age, 1 - self.keep_square**age
        direction = (mean / seen_mean) / (np.sqrt(square / seen_square) + self.eps)
        return -self.lr * (direction + self.weight_decay * weights)


def clip_grad_norm(params, max_norm):
    having = [p for p in params if p.grad is not None]
    length = math.hypot(*(float(np.linalg.norm(p.grad.astype(np.float64).ravel())) for p in having))
    shrink = min(1.0, float(max_norm) / length) if length else 1.0
    for p in having:
        p.grad = p.grad * shrink
    return length


def cosine_lr(step, *, max_lr, min_lr, warmup, total):
    if step < warmup:
        return float(max_lr * step / warmup)
    way = min(1.0, (step - warmup) / (total - warmup))
    return float(min_lr) + (max_lr - min_lr) * math.cos(math.pi * way / 2) ** 2
