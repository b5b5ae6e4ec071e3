import numpy as np


def _replace(symbols, left, right, new):
    """Put `new` for every (left, right) in the row, from left to right, never overlapping."""
    hits = np.flatnonzero((symbols[:-1] == left) & (symbols[1:] == right))
    if hits.size == 0:
        return symbols
    if left == right:
        # in a run like aaaa the hits are neighbours and overlap: take the 1st,
        # 3rd, ... of each run of consecutive positions
        place = np.arange(hits.size)
        begins = np.concatenate([[True], np.diff(hits) > 1])
        run_start = np.maximum.accumulate(np.where(begins, place, 0))
        hits = hits[(place - run_start) % 2 == 0]
    symbols = symbols.copy()
    symbols[hits] = new
    return np.delete(symbols, hits + 1)


class BPETokenizer:
    """Byte-level BPE. Ids 0..255 are the bytes, 256 + n is the n-th merge.

    A symbol is its byte string: should two merges spell the same bytes
    (a+bc and ab+c), the text uses the id of the first.
    """

    __slots__ = ("_merges", "_spelling", "_id_of")

    def __init__(self, merges=()):
        self._merges = []
        self._spelling = [bytes([b]) for b in range(256)]
        self._id_of = {s: i for i, s in enumerate(self._spelling)}
        for left, right in merges:
            self._learn(bytes(left), bytes(right))

    def _learn(self, left, right):
        """Append one merge; the symbol it makes."""
        self._merges.append((left, right))
        self._spelling.append(left + right)
        return self._id_of.setdefault(left + right, len(self._spelling) - 1)

    @property
    def merges(self):
        return list(self._merges)

    @property
    def vocab_size(self):
        return len(self._spelling)

    @staticmethod
    def _symbols(text):
        # surrogatepass: half a surrogate pair is a legal str too
        raw = text.encode("utf-8", errors="surrogatepass")
        return np.frombuffer(raw, dtype=np.uint8).astype(np.int64)

    @classmethod
    def train(cls, text, vocab_size):
        if vocab_size < 256:
            raise ValueError(f"vocab_size {vocab_size} has no room for the 256 bytes")
        tokenizer = cls()
        symbols = cls._symbols(text)
        while tokenizer.vocab_size < vocab_size and symbols.size > 1:
            left, right = tokenizer._best_pair(symbols)
            spell = tokenizer._spelling
            new = tokenizer._learn(spell[left], spell[right])
            symbols = _replace(symbols, left, right, new)
        return tokenizer

    def _best_pair(self, symbols):
        """The most frequent pair of neighbours; of several, the one spelled greatest."""
        n = self.vocab_size
        codes, counts = np.unique(symbols[:-1] * n + symbols[1:], return_counts=True)
        tied = (divmod(int(code), n) for code in codes[counts == counts.max()])
        return max(tied, key=lambda pair: (self._spelling[pair[0]], self._spelling[pair[1]]))

    def encode(self, text):
        """Play the merges in the order they were learned."""
        symbols = self._symbols(text)
        for left, right in self._merges:
            ids = self._id_of
            symbols = _replace(symbols, ids[left], ids[right], ids[left + right])
        return symbols.tolist()

    def decode(self, ids):
        pieces = []
        for i in ids:
            if not 0 <= i < self.vocab_size:
                raise IndexError(f"token id {i} is outside the vocabulary of size {self.vocab_size}")
            pieces.append(self._spelling[i])
        raw = b"".join(pieces)
        try:
            return raw.decode("utf-8", errors="surrogatepass")
        except UnicodeDecodeError:
            return raw.decode("utf-8", errors="replace")  # ids that no text encodes to
