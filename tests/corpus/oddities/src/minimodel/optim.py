import math
import numpy as np


def _once(params):
	"a list (params may be a generator), each parameter once"
	return list({id(p): p for p in params}.values())


def _put(p, new): p.data = np.asarray(new, dtype=p.data.dtype)		# new array, the old one may be lying around in a graph (or belong to somebody)


class _Optimizer:
	__slots__ = ("params", "lr", "__dict__")

	def __init__(self, params, lr): self.params = _once(params); self.lr = lr

	def zero_grad(self):
		for p in self.params: p.grad = None


class SGD(_Optimizer):
	__slots__ = ("momentum", "v")

	def __init__(self, params, lr, momentum=0.0): super().__init__(params, lr); self.momentum = momentum; self.v = {}

	def step(self):
		lr = float(self.lr)
		for k, p in enumerate(self.params):
			if p.grad is None: continue
			g = p.grad
			if self.momentum: g = self.v[k] = self.momentum * self.v[k] + g if k in self.v else np.array(g)
			_put(p, p.data - lr * g)


class AdamW(_Optimizer):
	__slots__ = ("betas", "eps", "weight_decay", "memory")

	def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
		super().__init__(params, lr); self.betas, self.eps, self.weight_decay = tuple(betas), eps, weight_decay; self.memory = {}		# k -> (t, m, v)

	def step(self):
		lr = float(self.lr); b1, b2 = self.betas
		for k, p in enumerate(self.params):
			if p.grad is None: continue		# no gradient, no step: its clock stands still too
			g = p.grad; t, m, v = self.memory.get(k) or (0, np.zeros_like(p.data), np.zeros_like(p.data))
			t += 1; m = b1 * m + (1 - b1) * g; v = b2 * v + (1 - b2) * g * g; self.memory[k] = t, m, v
			move = (m / (1 - b1 ** t)) / (np.sqrt(v / (1 - b2 ** t)) + self.eps)
			_put(p, p.data \
				- lr * self.weight_decay * p.data \
				- lr * move)


def clip_grad_norm(params, max_norm):
	"norm of everything together (before), and if that is more than max_norm everything is made smaller by the same factor"
	params = [p for p in _once(params) if p.grad is not None]
	top = max([float(np.abs(p.grad).max()) for p in params if p.grad.size], default=0.0)
	if top == 0.0: return 0.0
	norm = top * math.sqrt(sum(float(np.square(p.grad.astype(np.float64) / top).sum()) for p in params)) if math.isfinite(top) else top		# divided by top first, so the squares cannot overflow
	if norm > max_norm:
		for p in params: p.grad = np.asarray(p.grad * (max_norm / norm), dtype=p.grad.dtype)
	return float(norm)


def cosine_lr(step, *, max_lr, min_lr, warmup, total):
	if not warmup < total: raise ValueError("warmup (%s) must be less than total (%s)" % (warmup, total))
	if step < warmup: return float(max_lr * step / warmup)
	if step >= total: return float(min_lr)
	return float(min_lr + (max_lr - min_lr) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))))


if __name__ == "__main__": assert cosine_lr(0, max_lr=1, min_lr=.1, warmup=10, total=110) == 0 and cosine_lr(10, max_lr=1, min_lr=.1, warmup=10, total=110) == 1 and abs(cosine_lr(60, max_lr=1, min_lr=.1, warmup=10, total=110) - .55) < 1e-12 and cosine_lr(999, max_lr=1, min_lr=.1, warmup=10, total=110) == .1; print("optim: ok")
