import math

import numpy as np


def _once(params):
    """A list with every parameter once, in order."""
    return list({id(p): p for p in params}.values())


class _Optimizer:
    __slots__ = ("params", "_lr", "_state")

    def __init__(self, params, lr):
        self.params = _once(params)
        self.lr = lr
        self._state = {}  # position in params -> whatever the rule remembers

    @property
    def lr(self):
        return self._lr

    @lr.setter
    def lr(self, value):
        self._lr = float(value)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        """One update. A parameter without a gradient is left alone, its state too."""
        for i, p in enumerate(self.params):
            if p.grad is not None:
                p.assign(self._updated(i, p.data, p.grad))

    def _updated(self, i, data, grad):
        raise NotImplementedError


class SGD(_Optimizer):
    """v = momentum * v + g;  p -= lr * v"""

    __slots__ = ("momentum",)

    def __init__(self, params, lr, momentum=0.0):
        super().__init__(params, lr)
        self.momentum = float(momentum)

    def _updated(self, i, data, grad):
        velocity = grad
        if self.momentum:
            velocity = self.momentum * self._state.get(i, 0.0) + grad
            self._state[i] = velocity
        return data - self.lr * velocity


class AdamW(_Optimizer):
    __slots__ = ("betas", "eps", "weight_decay")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr)
        self.betas = tuple(float(b) for b in betas)
        self.eps = float(eps)
        self.weight_decay = float(weight_decay)

    def _updated(self, i, data, grad):
        b1, b2 = self.betas
        t, m, v = self._state.get(i, (0, 0.0, 0.0))
        t += 1
        m = b1 * m + (1 - b1) * grad
        v = b2 * v + (1 - b2) * grad * grad
        self._state[i] = t, m, v
        direction = (m / (1 - b1 ** t)) / (np.sqrt(v / (1 - b2 ** t)) + self.eps)
        # the decay looks at the weights alone and never enters m or v
        return data - self.lr * self.weight_decay * data - self.lr * direction


def clip_grad_norm(params, max_norm):
    """Scale all gradients so that together they are no longer than max_norm. Returns the length before."""
    params = [p for p in _once(params) if p.grad is not None]
    # measured in units of the largest entry: squares of 1e200 do not exist
    largest = max((float(np.abs(p.grad).max(initial=0.0)) for p in params), default=0.0)
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    squares = sum(float(np.sum((p.grad.astype(np.float64) / largest) ** 2)) for p in params)
    norm = largest * math.sqrt(squares)
    if norm > max_norm:
        factor = float(max_norm) / norm
        for p in params:
            p.grad = np.asarray(p.grad * factor)
    return norm


def cosine_lr(step, *, max_lr, min_lr, warmup, total):
    """0 at step 0, up in a line to max_lr at `warmup`, down a cosine to min_lr at `total`, flat after."""
    if not warmup < total:
        raise ValueError(f"warmup ({warmup}) must come before total ({total})")
    if step < warmup:
        return float(max_lr * step / warmup)
    if step >= total:
        return float(min_lr)
    progress = (step - warmup) / (total - warmup)
    return float(min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * progress)))
