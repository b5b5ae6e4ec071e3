from minimodel.bits import *


class LMHead(Module):
	"""tied: the matrix IS the one of the embedding, nothing of its own in here"""
	__slots__ = ("embedding",)

	def __init__(self, embedding, *, rng=None): self.embedding = embedding

	@checked(h="embedding.d_model")
	def forward(self, h): return tdot(h, self.embedding.weight, axis=1)


LMHead.vocab_size_out = property(attrgetter("embedding.vocab_size"))
LMHead.d_model = property(attrgetter("embedding.d_model"))