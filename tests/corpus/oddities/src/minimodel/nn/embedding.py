from minimodel.bits import *


def whole_ids(token_ids, vocab_size):
	"""own copy of the ids, or an error: TypeError if not integers, IndexError if outside"""
	ids = np.array(token_ids)
	if not np.issubdtype(ids.dtype, np.integer): raise TypeError("token ids must be integers, not " + str(ids.dtype))
	wrong = ids[(ids < 0) | (ids >= vocab_size)]
	if wrong.size: raise IndexError(f"token id {wrong.flat[0]} is not in the vocabulary of size {vocab_size} (0 .. {vocab_size - 1})")
	return ids.astype(np.intp)


class Embedding(Module):
	__slots__ = ("weight",)
	vocab_size, d_model = nth("weight.shape", 0), nth("weight.shape", 1)

	def __init__(self, vocab_size, d_model, *, rng=None): self.weight = gauss(rng, vocab_size, d_model)

	def forward(self, token_ids):
		ids = whole_ids(token_ids, self.vocab_size); w = self.weight.data
		def back(g):
			gw = np.zeros_like(w); np.add.at(gw, ids, g)
			return (gw,)
		return made(w[ids], (self.weight,), back)


if __name__ == "__main__":
	e = Embedding(5, 2); e(np.array([[1, 1], [3, 1]])).sum().backward(); assert e.weight.grad[:, 0].tolist() == [0, 3, 0, 1, 0]
	for bad, err in ((-1, IndexError), (5, IndexError), (1.0, TypeError)):
		try: e(np.array([0, bad]) if bad != 1.0 else np.array([bad]))
		except err as why: print("  good:", why)
		else: raise SystemExit("no error for %r" % bad)
	print("embedding: ok")
