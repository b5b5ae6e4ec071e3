"""Byte-pair encoding."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Pair = tuple[bytes, bytes]
Ids = NDArray[np.int64]


def _to_ids(text: str) -> Ids:
    # surrogatepass: even half a surrogate pair survives the round trip.
    raw = text.encode("utf-8", "surrogatepass")
    return np.frombuffer(raw, dtype=np.uint8).astype(np.int64)


def _merge(ids: Ids, left: int, right: int, new: int) -> Ids:
    """Replace left, right by new, from the left and without overlaps."""
    hits = np.flatnonzero((ids[:-1] == left) & (ids[1:] == right))
    if not hits.size:
        return ids
    # Neighbouring hits overlap (x x x): of each run take every other one.
    run_start = np.r_[True, np.diff(hits) > 1]
    first = np.maximum.accumulate(np.where(run_start, hits, 0))
    hits = hits[(hits - first) % 2 == 0]
    merged = ids.copy()
    merged[hits] = new
    return np.delete(merged, hits + 1)


class _Vocabulary:
    """Byte strings and their ids: 256 bytes, then one id per merge.

    Two merges can spell the same string; the string then keeps its first
    id, so that a token *is* its byte string.
    """

    def __init__(self) -> None:
        self.strings: list[bytes] = [bytes([b]) for b in range(256)]
        self.ids: dict[bytes, int] = {s: i for i, s in enumerate(self.strings)}

    def add(self, pair: Pair) -> tuple[int, int, int]:
        """Add a merge; return the ids of left, right and result."""
        left, right = pair
        joined = left + right
        self.strings.append(joined)
        self.ids.setdefault(joined, len(self.strings) - 1)
        return self.ids[left], self.ids[right], self.ids[joined]


class BPETokenizer:
    """Byte-level tokenizer.

    Parameters
    ----------
    merges : iterable of (bytes, bytes)
        Pairs to be merged, in the order learned.

    Attributes
    ----------
    merges : list of (bytes, bytes)
        As given.
    vocab_size : int
        256 + number of merges.
    encode : callable
        str -> list of int.
    decode : callable
        Iterable of int -> str.  Bytes that are not UTF-8 become U+FFFD;
        IndexError for an id that is not in the vocabulary.
    """

    def __init__(self, merges: Iterable[Pair] = ()) -> None:
        self.merges: list[Pair] = list(merges)
        vocabulary = _Vocabulary()
        rules = [vocabulary.add(pair) for pair in self.merges]
        strings = vocabulary.strings
        self.vocab_size: int = len(strings)

        def encode(text: str) -> list[int]:
            ids = _to_ids(text)
            for left, right, new in rules:
                ids = _merge(ids, left, right, new)
            return [int(i) for i in ids]

        def decode(ids: Iterable[int]) -> str:
            parts: list[bytes] = []
            for i in ids:
                if not 0 <= i < len(strings):
                    raise IndexError(
                        f"token id {i} is not in a vocabulary of size "
                        f"{len(strings)}"
                    )
                parts.append(strings[i])
            raw = b"".join(parts)
            try:
                return raw.decode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                return raw.decode("utf-8", "replace")

        self.encode: Callable[[str], list[int]] = encode
        self.decode: Callable[[Iterable[int]], str] = decode

    @staticmethod
    def train(text: str, vocab_size: int) -> BPETokenizer:
        """Learn merges from a text.

        Parameters
        ----------
        text : str
            What to learn from.
        vocab_size : int
            256 bytes and this many less 256 merges, or fewer if the text
            has run out of pairs.

        Returns
        -------
        BPETokenizer
            The most frequent pair is merged first, the greater pair of byte
            strings in case of a tie.

        Raises
        ------
        ValueError
            If there is no room for the bytes themselves.
        """
        if vocab_size < 256:
            raise ValueError(f"vocab_size = {vocab_size} is less than 256")
        vocabulary = _Vocabulary()
        strings = vocabulary.strings
        merges: list[Pair] = []
        ids = _to_ids(text)
        while len(strings) < vocab_size and ids.size > 1:
            codes, counts = np.unique(
                ids[:-1] * vocab_size + ids[1:], return_counts=True
            )
            tied = (
                divmod(int(code), vocab_size)
                for code in codes[counts == counts.max()]
            )
            pair = max((strings[i], strings[j]) for i, j in tied)
            merges.append(pair)
            ids = _merge(ids, *vocabulary.add(pair))
        return BPETokenizer(merges)
