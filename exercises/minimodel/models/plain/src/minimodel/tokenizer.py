"""Byte-pair encoding: from text to token ids and back."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

Pair = tuple[bytes, bytes]


class BPETokenizer:
    """Ids 0 to 255 are the bytes, id 256 + i is what the i-th merge made."""

    def __init__(self, merges: list[Pair]) -> None:
        self.merges = merges
        self.tokens = [bytes([byte]) for byte in range(256)] + [a + b for a, b in merges]
        self.id_of = {token: id for id, token in enumerate(self.tokens)}

    @classmethod
    def train(cls, text: str, vocab_size: int) -> BPETokenizer:
        """Join the most frequent pair, then count again, until there are vocab_size tokens."""
        tokens = split(text)
        merges: list[Pair] = []
        while 256 + len(merges) < vocab_size and len(tokens) > 1:
            count = Counter(pairwise(tokens))
            best = max(count, key=lambda pair: (count[pair], pair))
            merges.append(best)
            tokens = join(tokens, best)
        return cls(merges)

    def encode(self, text: str) -> list[int]:
        """The merges once more, in the order in which they were learned."""
        tokens = split(text)
        for pair in self.merges:
            tokens = join(tokens, pair)
        return [self.id_of[token] for token in tokens]

    def decode(self, ids: list[int]) -> str:
        """Ids that a model made up may end within a character; those bytes become U+FFFD."""
        return b"".join(self.tokens[id] for id in ids).decode("utf-8", errors="replace")


def split(text: str) -> list[bytes]:
    """The bytes of a text, one by one."""
    return [bytes([byte]) for byte in text.encode("utf-8")]


def join(tokens: list[bytes], pair: Pair) -> list[bytes]:
    """Every occurrence of the pair becomes one token, from left to right."""
    joined = []
    i = 0
    while i < len(tokens):
        if i + 1 < len(tokens) and (tokens[i], tokens[i + 1]) == pair:
            joined.append(tokens[i] + tokens[i + 1])
            i += 2
        else:
            joined.append(tokens[i])
            i += 1
    return joined
