"""Text to numbers: bytes, and what has often stood beside each other."""


def glued(symbols, left, right):
    """Wherever left is followed by right, the two become one."""
    out = []
    for symbol in symbols:
        if out and out[-1] == left and symbol == right:
            out[-1] += symbol
        else:
            out.append(symbol)
    return out


class BPETokenizer:
    def __init__(self):
        self.merges = []
        self._spelling = dict(enumerate(bytes([i]) for i in range(256)))

    @classmethod
    def train(cls, text, vocab_size):
        self = cls()
        symbols = self._symbols(text)
        while len(self._spelling) < vocab_size:
            seen = {}
            for pair in zip(symbols, symbols[1:]):
                seen[pair] = seen.get(pair, 0) + 1
            if not seen:
                break
            left, right = max(seen, key=lambda pair: (seen[pair], pair))
            self._spelling[len(self._spelling)] = left + right
            self.merges.append((left, right))
            symbols = glued(symbols, left, right)
        return self

    @staticmethod
    def _symbols(text):
        raw = text.encode()
        return [raw[i : i + 1] for i in range(len(raw))]

    def encode(self, text):
        symbols = self._symbols(text)
        for left, right in self.merges:
            symbols = glued(symbols, left, right)
        number = {spelling: i for i, spelling in self._spelling.items()}
        return [number[symbol] for symbol in symbols]

    def decode(self, ids):
        return b"".join(map(self._spelling.__getitem__, map(int, ids))).decode(errors="replace")
