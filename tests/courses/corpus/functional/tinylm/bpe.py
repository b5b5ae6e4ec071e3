"""Byte pair encoding with plain functions on tuples of bytes."""

import re as stdlib_re
from collections import Counter, defaultdict
from itertools import pairwise

import regex

TOKEN_RE = regex.compile(r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")


def split_special(text, special_tokens):
    """Odd elements are special tokens, even ones are ordinary text."""
    if not special_tokens:
        return [text]
    alternatives = sorted(set(special_tokens), key=lambda s: (-len(s), s))
    return stdlib_re.split("(" + "|".join(stdlib_re.escape(s) for s in alternatives) + ")", text)


def as_bytes(s):
    return tuple(bytes((b,)) for b in s.encode("utf-8"))


def merge(word, pair):
    joined, out, skip = pair[0] + pair[1], [], False
    for here, following in zip(word, word[1:] + (None,)):
        if skip:
            skip = False
        elif (here, following) == pair:
            out.append(joined)
            skip = True
        else:
            out.append(here)
    return tuple(out)


def count_words(text, special_tokens):
    words = Counter()
    for part in split_special(text, special_tokens)[::2]:
        words.update(TOKEN_RE.findall(part))
    return {as_bytes(w): n for w, n in words.items()}


def train(path, vocab_size, special_tokens):
    with open(path, encoding="utf-8", newline="") as f:
        words = count_words(f.read(), special_tokens)
    vocab = dict(enumerate([s.encode("utf-8") for s in special_tokens] + [bytes((b,)) for b in range(256)]))
    merges = []

    counts, users = Counter(), defaultdict(set)
    for word, n in words.items():
        for pair in pairwise(word):
            counts[pair] += n
            users[pair].add(word)

    for new_id in range(len(vocab), vocab_size):
        best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
        if best is None:
            break
        merges.append(best)
        vocab[new_id] = best[0] + best[1]
        for old in users.pop(best):
            n = words.pop(old, 0)
            if n == 0:
                continue  # this word has changed since
            for pair in pairwise(old):
                counts[pair] -= n
            new = merge(old, best)
            words[new] = words.get(new, 0) + n
            for pair in pairwise(new):
                counts[pair] += n
                users[pair].add(new)
        counts = +counts  # drop the pairs that are gone
    return vocab, merges


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.special_tokens = special_tokens or []
        missing = [s.encode("utf-8") for s in self.special_tokens if s.encode("utf-8") not in set(vocab.values())]
        self.id_to_token = {**vocab, **dict(enumerate(missing, start=len(vocab)))}
        self.token_to_id = {t: i for i, t in self.id_to_token.items()}
        self.ranks = {tuple(m): r for r, m in enumerate(merges)}
        self.known = {}

    @classmethod
    def from_files(cls, vocab_filepath, merges_filepath, special_tokens=None):
        import pickle

        with open(vocab_filepath, "rb") as v, open(merges_filepath, "rb") as m:
            return cls(pickle.load(v), pickle.load(m), special_tokens)

    def encode_word(self, text):
        if text not in self.known:
            word = as_bytes(text)
            while pairs := [p for p in pairwise(word) if p in self.ranks]:
                word = merge(word, min(pairs, key=self.ranks.__getitem__))
            self.known[text] = [self.token_to_id[t] for t in word]
        return self.known[text]

    def encode(self, text):
        ids = []
        for i, part in enumerate(split_special(text, self.special_tokens)):
            if i % 2 == 1:
                ids.append(self.token_to_id[part.encode("utf-8")])
            else:
                for word in TOKEN_RE.findall(part):
                    ids += self.encode_word(word)
        return ids

    def encode_iterable(self, iterable):
        for piece in iterable:
            yield from self.encode(piece)

    def decode(self, ids):
        return b"".join(self.id_to_token[i] for i in ids).decode("utf-8", errors="replace")
