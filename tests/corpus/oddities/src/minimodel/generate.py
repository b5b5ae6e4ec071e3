import numpy as np


def _pick(logits, temperature, top_k, top_p, rng):
	"one row of logits -> one id"
	logits = np.asarray(logits, dtype=np.float64)
	if temperature == 0: return int(np.argmax(logits))
	with np.errstate(over="ignore"): p = np.exp((logits - logits.max()) / temperature)		# minus max first, THEN the temperature: 1000 / 1e-308 is inf
	order = np.argsort(-p, kind="stable") if top_k is None else np.argsort(-logits, kind="stable")[:top_k]		# the ones still in the game, best first
	p = p[order] / p[order].sum()
	if top_p is not None and top_p < 1:
		n = int(np.searchsorted(np.cumsum(p), top_p)) + 1; order, p = order[:n], p[:n] / p[:n].sum()		# with the one that crosses the line
	return int(order[rng.choice(len(order), p=p)])


def generate(model, prompt_ids, n_new, *, temperature=1.0, top_k=None, top_p=None, rng):
	"""prompt + n_new ids. The mode of every module is put back at the end, whatever happens"""
	ids = np.array(prompt_ids)
	if ids.ndim != 1 or n_new < 0: raise ValueError("the prompt must be a row of ids and n_new not negative, got shape %s and %s" % (ids.shape, n_new))
	if n_new and not ids.size: raise ValueError("cannot go on from an empty prompt")
	if temperature < 0: raise ValueError("temperature must not be negative, got %s" % temperature)
	if top_k is not None and top_k < 1: raise ValueError("top_k must be at least 1, got %s" % top_k)
	if ids.size and not np.issubdtype(ids.dtype, np.integer): raise TypeError("prompt ids must be integers, not %s" % ids.dtype)
	ids = ids.astype(np.int64); modes = [(m, m.training) for m in model.modules()] if hasattr(model, "modules") else []
	try:
		if modes: model.eval()
		for _ in range(n_new):
			out = model(ids[-model.config.context_len:]); ids = np.append(ids, _pick(out.data[-1], temperature, top_k, top_p, rng))
	finally:
		for m, mode in modes: m.training = mode
	return ids