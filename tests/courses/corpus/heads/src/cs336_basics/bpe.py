import pickle
from collections import Counter
from functools import cache

import regex

WORDS = regex.compile(r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")


def cut(text, specials):
    """Yields (piece, is_special)."""
    if specials:
        longest_first = sorted(specials, key=len, reverse=True)
        last = 0
        for m in regex.finditer("|".join(map(regex.escape, longest_first)), text):
            yield text[last : m.start()], False
            yield m[0], True
            last = m.end()
        text = text[last:]
    yield text, False


class Word:
    """A pretoken with its current tokens."""

    __slots__ = ("tokens", "count")

    def __init__(self, raw: bytes, count: int):
        self.tokens = [bytes([b]) for b in raw]
        self.count = count

    def pairs(self):
        return list(zip(self.tokens, self.tokens[1:]))

    def merge(self, left, right):
        i = 0
        while i < len(self.tokens) - 1:
            if self.tokens[i] == left and self.tokens[i + 1] == right:
                self.tokens[i : i + 2] = [left + right]
            i += 1


class BytePairTrainer:
    def __init__(self, vocab_size, special_tokens):
        self.vocab_size, self.special_tokens = vocab_size, special_tokens

    def train(self, path):
        with open(path, "rb") as f:
            text = f.read().decode("utf-8", errors="ignore")
        counts = Counter()
        for piece, special in cut(text, self.special_tokens):
            if not special:
                counts.update(WORDS.findall(piece))
        self.words = [Word(w.encode("utf-8"), n) for w, n in counts.items()]
        self.totals, self.index = Counter(), {}
        for word in self.words:
            self.add(word, +1)

        tokens = [bytes([b]) for b in range(256)] + [s.encode("utf-8") for s in self.special_tokens]
        merges = []
        while len(tokens) < self.vocab_size:
            best = self.most_frequent()
            if best is None:
                break
            merges.append(best)
            tokens.append(best[0] + best[1])
            for word in list(self.index[best]):
                self.add(word, -1)
                word.merge(*best)
                self.add(word, +1)
        return dict(enumerate(tokens)), merges

    def add(self, word, sign):
        for pair in word.pairs():
            self.totals[pair] += sign * word.count
            words = self.index.setdefault(pair, set())
            if sign > 0:
                words.add(word)
            else:
                words.discard(word)

    def most_frequent(self):
        best, best_count = None, 0
        for pair, count in self.totals.items():
            if count > best_count or (count == best_count and best is not None and pair > best):
                best, best_count = pair, count
        return best


class BytePairTokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.specials = special_tokens or []
        self.tokens = dict(vocab)
        for s in self.specials:
            if s.encode("utf-8") not in self.tokens.values():
                self.tokens[len(self.tokens)] = s.encode("utf-8")
        self.ids = {t: i for i, t in self.tokens.items()}
        self.order = {m: i for i, m in enumerate(merges)}
        self.word_ids = cache(self.word_ids)

    @classmethod
    def from_files(cls, vocab_filepath, merges_filepath, special_tokens=None):
        with open(vocab_filepath, "rb") as f:
            vocab = pickle.load(f)
        with open(merges_filepath, "rb") as f:
            merges = pickle.load(f)
        return cls(vocab, merges, special_tokens)

    def word_ids(self, text):
        word = Word(text.encode("utf-8"), 1)
        while True:
            possible = [p for p in word.pairs() if p in self.order]
            if not possible:
                return [self.ids[t] for t in word.tokens]
            word.merge(*min(possible, key=self.order.get))

    def encode_iterable(self, iterable):
        for text in iterable:
            for piece, special in cut(text, self.specials):
                if special:
                    yield self.ids[piece.encode("utf-8")]
                else:
                    for m in WORDS.finditer(piece):
                        yield from self.word_ids(m[0])

    def encode(self, text):
        return [i for i in self.encode_iterable([text])]

    def decode(self, ids):
        return b"".join(map(self.tokens.__getitem__, ids)).decode("utf-8", "replace")
