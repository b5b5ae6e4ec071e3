from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from minimodel.tensor import Array

Pair = tuple[bytes, bytes]


def _bytes(text: str) -> Array:
    # surrogatepass: a str may hold lone surrogates, which plain UTF-8 refuses
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8).astype(np.int64)


def _merge(S: Array, a: int, b: int, ab: int) -> Array:
    """Replace every a b in S by ab, from left to right."""
    hit = np.flatnonzero((S[:-1] == a) & (S[1:] == b))
    if a == b and hit.size:  # in a run a a a a the hits overlap: keep every second one, counted from the start of its run
        start = np.maximum.accumulate(np.where(np.diff(hit, prepend=-2) > 1, hit, 0))
        hit = hit[(hit - start) % 2 == 0]
    S = S.copy(); S[hit] = ab
    return np.delete(S, hit + 1)


class BPETokenizer:
    """Byte-level BPE: ids 0..255 are the bytes, id 256 + j is the j-th merge."""

    def __init__(self, merges: Sequence[Pair] = ()) -> None:
        self.merges: list[Pair] = list(merges)
        self.vocab: list[bytes] = [bytes([i]) for i in range(256)] + [a + b for a, b in self.merges]
        self._id: dict[bytes, int] = {s: i for i, s in enumerate(self.vocab)}

    @property
    def vocab_size(self) -> int: return len(self.vocab)

    @classmethod
    def train(cls, text: str, vocab_size: int) -> BPETokenizer:
        """Stops early when the whole text has become one token."""
        if vocab_size < 256: raise ValueError(f"vocab_size must be at least 256 (one id per byte), got {vocab_size}")
        S, tok = _bytes(text), cls()
        while tok.vocab_size < vocab_size and S.size > 1:
            V = tok.vocab_size
            pairs, n = np.unique(S[:-1] * V + S[1:], return_counts=True)  # a pair as one number in base V
            top = [divmod(int(k), V) for k in pairs[n == n.max()]]
            a, b = max(top, key=lambda ab: (tok.vocab[ab[0]], tok.vocab[ab[1]]))
            tok.merges.append((tok.vocab[a], tok.vocab[b])); tok.vocab.append(tok.vocab[a] + tok.vocab[b]); tok._id[tok.vocab[-1]] = V
            S = _merge(S, a, b, V)
        return tok

    def encode(self, text: str) -> list[int]:
        S = _bytes(text)
        for j, (a, b) in enumerate(self.merges): S = _merge(S, self._id[a], self._id[b], 256 + j)
        return S.tolist()

    def decode(self, ids: Iterable[int]) -> str:
        """Exact on what encode returned; ids cut inside a character decode to U+FFFD there."""
        ids = [int(i) for i in ids]
        if bad := [i for i in ids if not 0 <= i < self.vocab_size]: raise IndexError(f"id {bad[0]} is outside the vocabulary of size {self.vocab_size}")
        s = b"".join(self.vocab[i] for i in ids)
        try: return s.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError: return s.decode("utf-8", "replace")
