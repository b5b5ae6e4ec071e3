import json
from collections.abc import Iterable, Iterator

import regex as re

from .bpe import PAT, merge_word


class Tokenizer:
    def __init__(self, vocab: dict[int, bytes], merges: list[tuple[bytes, bytes]],
                 special_tokens: list[str] | None = None):
        self.vocab = dict(vocab)
        self.ids = {tok: i for i, tok in self.vocab.items()}
        self.ranks = {pair: r for r, pair in enumerate(merges)}
        # longest first, so that overlapping special tokens are matched greedily
        self.special_tokens = sorted(special_tokens or [], key=len, reverse=True)
        for s in self.special_tokens:
            b = s.encode("utf-8")
            if b not in self.ids:
                self.ids[b] = len(self.vocab)
                self.vocab[len(self.vocab)] = b
        self.special_re = None
        if self.special_tokens:
            self.special_re = re.compile("(" + "|".join(map(re.escape, self.special_tokens)) + ")")
        self.cache: dict[str, list[int]] = {}

    @classmethod
    def from_files(cls, vocab_filepath, merges_filepath, special_tokens=None):
        with open(vocab_filepath) as f:
            vocab = {int(i): bytes(b) for i, b in json.load(f).items()}
        with open(merges_filepath) as f:
            merges = [(bytes(a), bytes(b)) for a, b in json.load(f)]
        return cls(vocab, merges, special_tokens)

    def _encode_pretoken(self, pretoken: str) -> list[int]:
        if pretoken in self.cache:
            return self.cache[pretoken]
        word = [bytes([b]) for b in pretoken.encode("utf-8")]
        while len(word) > 1:
            pair = min(zip(word, word[1:]), key=lambda p: self.ranks.get(p, float("inf")))
            if pair not in self.ranks:
                break
            word = merge_word(word, pair)
        ids = [self.ids[tok] for tok in word]
        self.cache[pretoken] = ids
        return ids

    def encode(self, text: str) -> list[int]:
        parts = self.special_re.split(text) if self.special_re else [text]
        ids = []
        for part in parts:
            if part in self.special_tokens:
                ids.append(self.ids[part.encode("utf-8")])
            else:
                for m in re.finditer(PAT, part):
                    ids.extend(self._encode_pretoken(m.group()))
        return ids

    def encode_iterable(self, iterable: Iterable[str]) -> Iterator[int]:
        for chunk in iterable:
            yield from self.encode(chunk)

    def decode(self, ids: list[int]) -> str:
        return b"".join(self.vocab[i] for i in ids).decode("utf-8", errors="replace")
