"""Runs the learner's run_train_bpe on a small file in the folder of this process."""

from pathlib import Path

FILE = "corpus.txt"
FEW = 5  # of a list that is told


def trained(learner, text, vocab_size, special):
    """What run_train_bpe makes of a file with this text."""
    file = Path.cwd() / FILE
    file.write_bytes(text.encode("utf-8"))
    return learner.run_train_bpe(
        input_path=file, vocab_size=vocab_size, special_tokens=list(special)
    )


def written(pairs):
    """Merges as text, as Python would write them: [(b"t", b"h")] -> ["b't' b'h'"]."""
    return [" ".join(repr(bytes(part)) for part in pair) for pair in pairs]


def merges(learner, record, text, vocab_size, special):
    """The merges alone, in their order."""
    _, found = trained(learner, text, vocab_size, special)
    record(merges=written(found))


def kinds(learner, record, text, vocab_size, special):
    """What the result is made of."""
    found = trained(learner, text, vocab_size, special)
    record(result=type(found).__name__, parts=len(found))
    vocab, pairs = found
    record(vocab=type(vocab).__name__, merges=type(pairs).__name__)
    record(ids_are_integers=all(type(id) is int for id in vocab))
    record(tokens_are_bytes=all(type(token) is bytes for token in vocab.values()))
    record(merges_are_pairs=all(type(pair) is tuple and len(pair) == 2 for pair in pairs))
    record(of_bytes=all(type(part) is bytes for pair in pairs for part in pair))


def vocab(learner, record, text, vocab_size, special):
    """What the vocabulary has to hold, apart from the ids: those are only to be 0, 1, 2 ..."""
    found, pairs = trained(learner, text, vocab_size, special)
    tokens = set(found.values())
    bytes_alone = [bytes([byte]) for byte in range(256)]
    named = [token.encode("utf-8") for token in special]
    products = [left + right for left, right in pairs]
    record(bytes_missing=few(t for t in bytes_alone if t not in tokens))
    record(special_missing=few(t for t in named if t not in tokens))
    record(merged_missing=few(t for t in products if t not in tokens))
    record(too_much=few(sorted(tokens - {*bytes_alone, *named, *products})))
    record(size=len(found), ids_from_0=sorted(found) == list(range(len(found))))


def few(tokens):
    """The first of some tokens, as text."""
    return ", ".join([repr(token) for token in tokens][:FEW]) or "none"


def taught(learner, record, text, vocab_size):
    """What is learned from a text without special tokens, and into how many tokens the merges cut it."""
    _, found = trained(learner, text, vocab_size + 1, ["<|endoftext|>"])
    pairs = [(bytes(a).decode("latin-1"), bytes(b).decode("latin-1")) for a, b in found]
    record(first_merge="".join(pairs[0]), merges=["".join(pair) for pair in pairs])
    record(longest=max(len(a + b) for a, b in pairs))
    record(tokens_without_merges=len(text), tokens=sum(map(len, cut(text, pairs))))


def cut(text, pairs):
    """The words of a text, each with the blank before it, cut by merges in their order."""
    for word in text.replace(" ", "\n ").split("\n"):
        tokens = list(word)
        for a, b in pairs:
            i = 0
            while i < len(tokens) - 1:
                if tokens[i] == a and tokens[i + 1] == b:
                    tokens[i : i + 2] = [a + b]
                i += 1
        yield tokens
