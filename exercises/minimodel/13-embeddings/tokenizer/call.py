"""Runs the learner's BPETokenizer. How the ids are numbered is open, so tokens are told by their text."""

import numpy as np


def written(pairs):
    """Merges as text, as Python would write them: [(b"t", b"h")] -> ["b't' b'h'"]."""
    return [" ".join(repr(bytes(part)) for part in pair) for pair in pairs]


def points(text):
    """A text as numbers, so that nothing on the way here can change it."""
    return np.array([ord(character) for character in text], dtype=np.int64)


def pieces(tokenizer, ids):
    """The text of each token by itself. Only where every byte is a character of its own."""
    return [tokenizer.decode([token]) for token in ids]


def train(learner, record, text, vocab_size):
    merges = learner.BPETokenizer.train(text, vocab_size).merges
    record(count=len(merges), merges=written(merges))


def kinds(learner, record, text, vocab_size):
    """What train returns, and what its merges are made of."""
    tokenizer = learner.BPETokenizer.train(text, vocab_size)
    merges = tokenizer.merges
    record(is_a_tokenizer=isinstance(tokenizer, learner.BPETokenizer))
    record(merges_are_a_list=isinstance(merges, list))
    pairs = all(isinstance(pair, tuple) and len(pair) == 2 for pair in merges)
    record(of_pairs=pairs)
    record(of_bytes=pairs and all(isinstance(part, bytes) for pair in merges for part in pair))


def encode(learner, record, text, vocab_size, other):
    """`other` cut into tokens, by what was learned from `text`. Both are ASCII."""
    tokenizer = learner.BPETokenizer.train(text, vocab_size)
    found = pieces(tokenizer, tokenizer.encode(other))
    record(count=len(found), pieces=found)


def ids(learner, record, text, vocab_size, other):
    """What an Embedding of vocab_size rows must be able to look up."""
    tokenizer = learner.BPETokenizer.train(text, vocab_size)
    found = tokenizer.encode(other)
    record(is_a_list=isinstance(found, list), integers=all(type(token) is int for token in found))
    record(inside=all(0 <= token < vocab_size for token in found))
    named = {(token, piece) for token, piece in zip(found, pieces(tokenizer, found), strict=True)}
    record(one_id_each=len({token for token, _ in named}) == len({piece for _, piece in named}))
    record(from_an_array=points(tokenizer.decode(np.array(found))))


def round_trip(learner, record, text, vocab_size, others):
    """decode(encode(...)) of texts that may have nothing in common with the one that taught: as Python
    writes them, in quotes and with escapes, so that nothing on the way here can change them.
    """
    tokenizer = learner.BPETokenizer.train(text, vocab_size)
    for i, other in enumerate(others):
        found = tokenizer.encode(other)
        record(**{f"text_{i}": repr(tokenizer.decode(found)), f"count_{i}": len(found)})


def again(learner, record, text, vocab_size, other_text, other_size, other):
    """Two tokenizers beside each other; what one has learned or given away is its own."""
    one = learner.BPETokenizer.train(text, vocab_size)
    before = one.encode(other)
    record(pieces=pieces(one, before), merges=written(one.merges))
    two = learner.BPETokenizer.train(other_text, other_size)
    record(other_pieces=pieces(two, two.encode(other)), other_merges=written(two.merges))
    kept = list(before)
    before[:] = before[::-1]  # the list was handed over: the caller may do with it what it likes
    record(unchanged=list(one.encode(other)) == kept, merges_after=written(one.merges))
    same = learner.BPETokenizer.train(text, vocab_size)
    record(repeats=list(same.encode(other)) == kept)
    record(repeats_merges=written(same.merges) == written(one.merges))
