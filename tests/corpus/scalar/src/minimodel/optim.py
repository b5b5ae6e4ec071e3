"""Optimisers, one number after the other."""
import math

import numpy as np

from .value import _div


def _once(params):
    """The parameters as a list, each only once."""
    out = []
    seen = set()
    for p in params:
        if id(p) not in seen:
            seen.add(id(p))
            out.append(p)
    return out


def _numbers(array):
    return np.asarray(array).ravel().tolist()


def _write(p, numbers):
    with np.errstate(all="ignore"):
        p.data[...] = np.array(numbers, dtype=p.data.dtype).reshape(p.data.shape)


class _Optimizer:
    def __init__(self, params, lr):
        self.params = _once(params)
        self.lr = lr

    def zero_grad(self):
        for p in self.params:
            p.grad = None


class SGD(_Optimizer):
    def __init__(self, params, lr, momentum=0.0):
        super().__init__(params, lr)
        self.momentum = momentum
        self.speed = [[0.0] * p.data.size for p in self.params]

    def step(self):
        for p, speed in zip(self.params, self.speed):
            if p.grad is None:
                continue
            new = []
            for i, (x, g) in enumerate(zip(_numbers(p.data), _numbers(p.grad))):
                speed[i] = self.momentum * speed[i] + g
                new.append(x - self.lr * speed[i])
            _write(p, new)


class AdamW(_Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr)
        self.betas = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self.t = 0
        self.first = [[0.0] * p.data.size for p in self.params]
        self.second = [[0.0] * p.data.size for p in self.params]

    def step(self):
        self.t += 1
        b1, b2 = self.betas
        lr, eps = self.lr, self.eps
        keep = 1.0 - lr * self.weight_decay
        fix1, fix2 = 1.0 - b1 ** self.t, 1.0 - b2 ** self.t
        for p, m, v in zip(self.params, self.first, self.second):
            if p.grad is None:
                continue
            new = []
            for i, (x, g) in enumerate(zip(_numbers(p.data), _numbers(p.grad))):
                m[i] = mi = b1 * m[i] + (1.0 - b1) * g
                v[i] = vi = b2 * v[i] + (1.0 - b2) * g * g
                new.append(x * keep - lr * _div(mi / fix1, math.sqrt(vi / fix2) + eps))
            _write(p, new)


def clip_grad_norm(params, max_norm):
    """The length of all gradients together; if it is above max_norm they are all made shorter."""
    params = [p for p in _once(params) if p.grad is not None]
    norm = math.hypot(*[g for p in params for g in _numbers(p.grad)])
    if norm > max_norm:
        factor = float(max_norm / norm)
        for p in params:
            p.grad = np.asarray(p.grad * factor)
    return norm


def cosine_lr(step, *, max_lr, min_lr, warmup, total):
    if not warmup < total:
        raise ValueError(f"warmup = {warmup} must be smaller than total = {total}")
    if step < warmup:
        return float(max_lr * step / warmup)
    if step >= total:
        return float(min_lr)
    way = (step - warmup) / (total - warmup)
    return float(min_lr + 0.5 * (max_lr - min_lr) * (1.0 + math.cos(math.pi * way)))
