"""Byte pair encoding. Works on lists of byte strings, the ids only come in at the very end."""


def _merge(pieces, pair):
    """Glue every `pair` in the list together, from left to right."""
    left, right = pair
    out = []
    i = 0
    while i < len(pieces):
        if pieces[i] == left and i + 1 < len(pieces) and pieces[i + 1] == right:
            out.append(left + right)
            i += 2
        else:
            out.append(pieces[i])
            i += 1
    return out


def _pieces(text):
    # surrogatepass: Python strings can hold half an emoji, that should come back as well
    return [bytes([b]) for b in text.encode("utf-8", "surrogatepass")]


class BPETokenizer:
    def __init__(self, merges=()):
        self.merges = [(bytes(a), bytes(b)) for a, b in merges]
        self.vocab = [bytes([b]) for b in range(256)] + [a + b for a, b in self.merges]
        self._id = {}
        for i, piece in enumerate(self.vocab):
            self._id.setdefault(piece, i)

    @property
    def vocab_size(self):
        return len(self.vocab)

    @classmethod
    def train(cls, text, vocab_size):
        if vocab_size < 256:
            raise ValueError(f"vocab_size = {vocab_size}, but there are already 256 bytes")
        pieces = _pieces(text)
        merges = []
        while len(merges) < vocab_size - 256 and len(pieces) > 1:
            counts = {}
            for pair in zip(pieces, pieces[1:]):
                counts[pair] = counts.get(pair, 0) + 1
            best = max(counts, key=lambda pair: (counts[pair], pair))
            merges.append(best)
            pieces = _merge(pieces, best)
        return cls(merges)

    def encode(self, text):
        pieces = _pieces(text)
        for pair in self.merges:
            if len(pieces) < 2:
                break
            pieces = _merge(pieces, pair)
        return [self._id[piece] for piece in pieces]

    def decode(self, ids):
        out = []
        for i in ids:
            if not 0 <= i < len(self.vocab):
                raise ValueError(f"there is no token {i}, only {len(self.vocab)} of them")
            out.append(self.vocab[int(i)])
        data = b"".join(out)
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:           # cut in the middle of a letter
            return data.decode("utf-8", "replace")
