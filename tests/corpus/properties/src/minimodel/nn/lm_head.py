from ..module import Module


class LMHead(Module):
    """Logits from the embedding's own rows; there is nothing here to train."""

    __slots__ = ("embedding",)

    def __init__(self, embedding, *, rng=None):
        self.embedding = embedding

    @property
    def vocab_size_out(self):
        return self.embedding.vocab_size

    @property
    def d_model(self):
        return self.embedding.d_model

    def forward(self, h):
        return h @ self.embedding.weight.T
