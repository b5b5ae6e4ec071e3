"""Byte level BPE: training and the tokenizer."""

from __future__ import annotations

import heapq
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import regex as re

GPT2_PATTERN = re.compile(r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")


def special_pattern(special_tokens: list[str]) -> re.Pattern | None:
    if not special_tokens:
        return None
    ordered = sorted(special_tokens, key=lambda s: -len(s))
    return re.compile("(" + "|".join(re.escape(s) for s in ordered) + ")")


class _Desc:
    """Reverses the order of pairs of bytes, so that heapq pops the greatest pair first."""

    __slots__ = ("pair",)

    def __init__(self, pair):
        self.pair = pair

    def __lt__(self, other):
        return self.pair > other.pair


def train_bpe(input_path, vocab_size: int, special_tokens: list[str], **kwargs):
    with open(input_path, encoding="utf-8", newline="") as f:
        text = f.read()
    splitter = special_pattern(special_tokens)
    docs = splitter.split(text) if splitter else [text]
    counts: Counter[str] = Counter()
    for doc in docs:
        if doc in special_tokens:
            continue
        counts.update(m.group() for m in GPT2_PATTERN.finditer(doc))

    vocab = [s.encode("utf-8") for s in special_tokens] + [bytes([i]) for i in range(256)]
    words = [[bytes([b]) for b in w.encode("utf-8")] for w in counts]
    freq = list(counts.values())

    pair_freq: dict[tuple[bytes, bytes], int] = defaultdict(int)
    occurs: dict[tuple[bytes, bytes], set[int]] = defaultdict(set)
    for w, word in enumerate(words):
        for pair in zip(word, word[1:]):
            pair_freq[pair] += freq[w]
            occurs[pair].add(w)
    heap = [(-n, _Desc(pair)) for pair, n in pair_freq.items()]
    heapq.heapify(heap)

    merges = []
    while len(vocab) < vocab_size and heap:
        neg, desc = heapq.heappop(heap)
        pair = desc.pair
        if pair_freq.get(pair, 0) != -neg or neg == 0:
            continue  # out of date
        merges.append(pair)
        new = pair[0] + pair[1]
        vocab.append(new)
        delta: dict[tuple[bytes, bytes], int] = defaultdict(int)
        for w in occurs.pop(pair):
            word, merged, i = words[w], [], 0
            while i < len(word):
                if i + 1 < len(word) and word[i] == pair[0] and word[i + 1] == pair[1]:
                    merged.append(new)
                    i += 2
                else:
                    merged.append(word[i])
                    i += 1
            for old in zip(word, word[1:]):
                delta[old] -= freq[w]
            for fresh in zip(merged, merged[1:]):
                delta[fresh] += freq[w]
                occurs[fresh].add(w)
            words[w] = merged
        for changed, d in delta.items():
            if d != 0:
                pair_freq[changed] += d
                if pair_freq[changed] > 0:
                    heapq.heappush(heap, (-pair_freq[changed], _Desc(changed)))
    return dict(enumerate(vocab)), merges


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens: list[str] | None = None):
        self.id_to_bytes = dict(vocab)
        self.bytes_to_id = {b: i for i, b in vocab.items()}
        self.rank = {pair: i for i, pair in enumerate(merges)}
        self.special_tokens = special_tokens or []
        for s in self.special_tokens:
            if s.encode("utf-8") not in self.bytes_to_id:
                new_id = max(self.id_to_bytes) + 1
                self.id_to_bytes[new_id] = s.encode("utf-8")
                self.bytes_to_id[s.encode("utf-8")] = new_id
        self.splitter = special_pattern(self.special_tokens)

    @classmethod
    def from_files(cls, vocab_filepath: str, merges_filepath: str, special_tokens: list[str] | None = None):
        with open(vocab_filepath, "rb") as vf, open(merges_filepath, "rb") as mf:
            return cls(pickle.load(vf), pickle.load(mf), special_tokens)

    def _bpe(self, token: bytes) -> Iterator[int]:
        parts = [token[i : i + 1] for i in range(len(token))]
        while True:
            best, at = None, -1
            for i in range(len(parts) - 1):
                r = self.rank.get((parts[i], parts[i + 1]))
                if r is not None and (best is None or r < best):
                    best, at = r, i
            if best is None:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return (self.bytes_to_id[p] for p in parts)

    def encode(self, text: str) -> list[int]:
        return list(self.encode_iterable([text]))

    def encode_iterable(self, iterable: Iterable[str]) -> Iterator[int]:
        for text in iterable:
            for piece in self.splitter.split(text) if self.splitter else [text]:
                if piece in self.special_tokens:
                    yield self.bytes_to_id[piece.encode("utf-8")]
                    continue
                for m in GPT2_PATTERN.finditer(piece):
                    yield from self._bpe(m.group().encode("utf-8"))

    def decode(self, ids: Iterable[int]) -> str:
        data = b"".join(self.id_to_bytes[int(i)] for i in ids)
        return data.decode("utf-8", errors="replace")
