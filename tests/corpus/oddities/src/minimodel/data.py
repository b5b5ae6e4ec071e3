import numpy as np


def batches(ids, batch_size, seq_len, *, rng):
	"""endless (x, y). The check is out here and not in the generator, so that the error comes at once and not at the first next()"""
	ids = np.array(ids)
	if ids.ndim != 1 or len(ids) < seq_len + 1: raise ValueError("need a row of at least seq_len + 1 = %d ids, got shape %s" % (seq_len + 1, ids.shape))
	def forever():
		while True:
			start = rng.integers(0, len(ids) - seq_len, size=batch_size); where = start[:, None] + np.arange(seq_len); yield ids[where], ids[where + 1]
	return forever()


if __name__ == "__main__":
	x, y = next(batches(range(5), 100, 3, rng=np.random.default_rng(0))); assert (y == x + 1).all() and set(x[:, 0]) == {0, 1}; print("data: ok")
