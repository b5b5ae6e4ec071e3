import os
from collections import Counter, defaultdict

import regex as re

PAT = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def count_pretokens(text: str, special_tokens: list[str]) -> Counter:
    if special_tokens:
        longest_first = sorted(special_tokens, key=len, reverse=True)
        parts = re.split("|".join(re.escape(s) for s in longest_first), text)
    else:
        parts = [text]
    counts = Counter()
    for part in parts:
        for m in re.finditer(PAT, part):
            counts[m.group().encode("utf-8")] += 1
    return counts


def merge_word(word: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


def train_bpe(input_path: str | os.PathLike, vocab_size: int, special_tokens: list[str], **kwargs):
    with open(input_path, "rb") as f:
        text = f.read().decode("utf-8", errors="ignore")
    pretokens = count_pretokens(text, special_tokens)

    vocab = {i: bytes([i]) for i in range(256)}
    for s in special_tokens:
        vocab[len(vocab)] = s.encode("utf-8")

    words = [[bytes([b]) for b in w] for w in pretokens]
    freqs = list(pretokens.values())
    pair_counts = defaultdict(int)
    where = defaultdict(set)  # pair -> indices of the words it occurs in
    for i, word in enumerate(words):
        for pair in zip(word, word[1:]):
            pair_counts[pair] += freqs[i]
            where[pair].add(i)

    merges = []
    while len(vocab) < vocab_size and pair_counts:
        # most frequent pair, ties go to the lexicographically greater one
        best = max(pair_counts, key=lambda p: (pair_counts[p], p))
        merges.append(best)
        vocab[len(vocab)] = best[0] + best[1]
        for i in list(where[best]):
            word = words[i]
            for pair in zip(word, word[1:]):
                pair_counts[pair] -= freqs[i]
                if pair_counts[pair] == 0:
                    del pair_counts[pair]
                where[pair].discard(i)
            words[i] = word = merge_word(word, best)
            for pair in zip(word, word[1:]):
                pair_counts[pair] += freqs[i]
                where[pair].add(i)
    return vocab, merges
