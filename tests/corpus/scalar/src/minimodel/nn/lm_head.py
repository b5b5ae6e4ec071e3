from ..module import Module


class LMHead(Module):
    """Back from vectors to scores for each token, with the very same table as the embedding."""

    def __init__(self, embedding, *, rng=None):
        super().__init__()
        self.embedding = embedding
        self.vocab_size_out = embedding.vocab_size

    def forward(self, h):
        return h.dot_rows(self.embedding.weight)
