"""Byte-pair encoding from first principles: count all pairs, join the best, count again."""

from functools import lru_cache

import numpy as np


def bytes_of(text):
    """The UTF-8 bytes of a text, each a token."""
    return [bytes([byte]) for byte in text.encode("utf-8")]


def counted(tokens):
    """How often each pair of neighbours occurs, overlaps included."""
    counts = {}
    for pair in zip(tokens, tokens[1:], strict=False):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def joined(tokens, pair):
    """Every occurrence of the pair made one token, from left to right."""
    found, i = [], 0
    while i < len(tokens):
        if tuple(tokens[i : i + 2]) == pair:
            found.append(pair[0] + pair[1])
            i += 2
        else:
            found.append(tokens[i])
            i += 1
    return found


@lru_cache(maxsize=16)  # cases.py asks first
def learned(text, vocab_size):
    """The merges, in order: the most frequent pair first, of several the greatest."""
    tokens, merges = bytes_of(text), []
    while 256 + len(merges) < vocab_size and len(tokens) > 1:
        counts = counted(tokens)
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        tokens = joined(tokens, merges[-1])
    return tuple(merges)


def cut(text, merges):
    """The tokens of a text: the merges are repeated in the order in which they were learned."""
    tokens = bytes_of(text)
    for pair in merges:
        tokens = joined(tokens, pair)
    return tokens


def written(pairs):
    return [" ".join(repr(part) for part in pair) for pair in pairs]


def shown(tokens):
    return [token.decode("ascii") for token in tokens]


def points(text):
    return np.array([ord(character) for character in text], dtype=np.int64)


def train(out, variant, *, text, vocab_size):
    merges = learned(text, vocab_size)
    out.record(count=len(merges), merges=written(merges))


def kinds(out, variant, *, text, vocab_size):
    out.record(is_a_tokenizer=True, merges_are_a_list=True, of_pairs=True, of_bytes=True)


def encode(out, variant, *, text, vocab_size, other):
    found = cut(other, learned(text, vocab_size))
    out.record(count=len(found), pieces=shown(found))


def ids(out, variant, *, text, vocab_size, other):
    out.record(is_a_list=True, integers=True, inside=True, one_id_each=True)
    out.record(from_an_array=points(other))


def round_trip(out, variant, *, text, vocab_size, others):
    merges = learned(text, vocab_size)
    for i, other in enumerate(others):
        out.record(**{f"text_{i}": repr(other), f"count_{i}": len(cut(other, merges))})


def again(out, variant, *, text, vocab_size, other_text, other_size, other):
    one, two = learned(text, vocab_size), learned(other_text, other_size)
    out.record(pieces=shown(cut(other, one)), merges=written(one), merges_after=written(one))
    out.record(other_pieces=shown(cut(other, two)), other_merges=written(two))
    out.record(unchanged=True, repeats=True, repeats_merges=True)
