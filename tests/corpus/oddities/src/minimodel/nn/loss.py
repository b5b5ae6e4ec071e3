from ..bits import *


def cross_entropy(logits, targets, ignore_index=None):
	"""mean of -log p(target), in nats. One operation with the gradient written out: (softmax - onehot) / n"""
	logits = lift(logits); want = np.array(targets)
	if logits.ndim == 0 or want.shape != logits.shape[:-1]: raise ValueError("logits of shape %s and targets of shape %s do not go together" % (logits.shape, want.shape))
	if not np.issubdtype(want.dtype, np.integer): raise TypeError("targets must be integers, not %s" % want.dtype)
	V = logits.shape[-1]; shape = logits.shape; want = want.reshape(-1); flat = logits.data.reshape(want.size, V)
	kept = np.ones(want.size, dtype=bool) if ignore_index is None else want != ignore_index
	if not kept.any(): raise ValueError("no target left, all %d are ignored" % want.size)
	wrong = want[kept & ((want < 0) | (want >= V))]
	if wrong.size: raise ValueError("target %d is outside [0, %d)" % (wrong[0], V))
	rows = np.flatnonzero(kept); n = rows.size; line = np.arange(n); hit = want[rows].astype(np.intp)
	z = flat[rows]; z = z - z.max(axis=1, keepdims=True); logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))

	def back(g):
		p = np.exp(logp); p[line, hit] -= 1; full = np.zeros_like(flat); full[rows] = p * (g / n)
		return (full.reshape(shape),)
	return made(-logp[line, hit].mean(), (logits,), back)


if __name__ == "__main__":
	assert np.isclose(float(cross_entropy(Tensor(np.zeros((2, 3, 7))), np.zeros((2, 3), dtype=int))), np.log(7)); assert float(cross_entropy(Tensor([[1000., -1000.]]), np.array([1]))) == 2000; print("loss: ok")
