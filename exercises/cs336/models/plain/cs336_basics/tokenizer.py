"""Byte-pair encoding: from text to token ids and back."""

from __future__ import annotations

import heapq
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import regex

Pair = tuple[bytes, bytes]

# GPT-2's pre-tokens. They cover every character, so that joined they are the text again.
PRE_TOKEN = regex.compile(
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)

# How many pre-tokens a tokenizer remembers, so that common words are merged only once.
CACHE_SIZE = 4096


def special_pattern(special_tokens: Iterable[str]) -> regex.Pattern[str]:
    """Matches any special token, the longest first; in a group, so that split() keeps them."""
    longest_first = sorted(special_tokens, key=len, reverse=True)
    never = "(?!)"
    return regex.compile(f"({'|'.join(map(regex.escape, longest_first)) or never})")


def single_bytes(text: str) -> list[bytes]:
    """The text in UTF-8, byte by byte."""
    return [bytes([byte]) for byte in text.encode("utf-8")]


def join_pair(tokens: list[bytes], pair: Pair) -> list[bytes]:
    """The tokens with each occurrence of the pair joined, from left to right."""
    left, right = pair
    joined: list[bytes] = []
    for token in tokens:
        if token == right and joined and joined[-1] == left:
            joined[-1] = left + right
        else:
            joined.append(token)
    return joined


class GreatestFirst(tuple):
    """A pair of which a heap, which gives the smallest first, gives the greatest first."""

    __slots__ = ()
    __lt__ = tuple.__gt__


def count_pre_tokens(text: str, special_tokens: list[str]) -> Counter[str]:
    """How often each pre-token occurs between the special tokens of a text."""
    counts: Counter[str] = Counter()
    for part in special_pattern(special_tokens).split(text):
        if part not in special_tokens:
            counts.update(PRE_TOKEN.findall(part))
    return counts


def train_bpe(
    input_path: str | os.PathLike[str], vocab_size: int, special_tokens: list[str]
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Learn merges from a text file until there are `vocab_size` tokens.

    The text is cut at the special tokens, and each part into pre-tokens by GPT-2's pattern; pairs
    are counted within pre-tokens. Each merge joins the pair that occurs most often at that moment;
    of equally frequent ones the greatest, comparing (bytes, bytes).

    Returns:
        vocab: id -> token, for the 256 bytes, the special tokens and what the merges make.
        merges: the pairs that were joined, in the order in which they were learned.
    """
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [token.encode("utf-8") for token in dict.fromkeys(special_tokens)]
    vocab = dict(enumerate(tokens))
    merges: list[Pair] = []

    text = Path(input_path).read_bytes().decode("utf-8")
    counts = count_pre_tokens(text, special_tokens)
    words = [single_bytes(pre_token) for pre_token in counts]
    frequencies = list(counts.values())

    pair_counts: Counter[Pair] = Counter()
    words_with: defaultdict[Pair, set[int]] = defaultdict(set)
    for index, word in enumerate(words):
        for pair in pairwise(word):
            pair_counts[pair] += frequencies[index]
            words_with[pair].add(index)

    # A count only falls once its pair is in the heap; one that fell is put right when it comes up.
    heap = [(-count, GreatestFirst(pair)) for pair, count in pair_counts.items()]
    heapq.heapify(heap)
    while len(vocab) < vocab_size and heap:
        negative_count, pair = heapq.heappop(heap)
        count = pair_counts[pair]
        if count != -negative_count:
            if count > 0:
                heapq.heappush(heap, (-count, pair))
            continue

        left, right = pair
        merged = left + right
        vocab[len(vocab)] = merged
        merges.append((left, right))

        new_pairs: set[Pair] = set()
        for index in words_with.pop(pair):
            old_word, frequency = words[index], frequencies[index]
            word = words[index] = join_pair(old_word, pair)
            for old in pairwise(old_word):
                pair_counts[old] -= frequency
            for new in pairwise(word):
                pair_counts[new] += frequency
                if merged in new:
                    words_with[new].add(index)
                    new_pairs.add(new)
        for new in new_pairs:
            heapq.heappush(heap, (-pair_counts[new], GreatestFirst(new)))
    return vocab, merges


class Tokenizer:
    """Encodes any text with a vocabulary and its merges. Special tokens are never cut, the longest
    first; those that the vocabulary lacks are appended to it.
    """

    def __init__(
        self,
        vocab: dict[int, bytes],
        merges: list[tuple[bytes, bytes]],
        special_tokens: list[str] | None = None,
    ) -> None:
        self.vocab = dict(vocab)
        self.merges = list(merges)
        self.special_tokens = list(special_tokens or [])

        self._ids = {token: token_id for token_id, token in self.vocab.items()}
        for special in self.special_tokens:
            token = special.encode("utf-8")
            if token not in self._ids:
                self._ids[token] = max(self.vocab, default=-1) + 1
                self.vocab[self._ids[token]] = token

        self._ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self._special_pattern = special_pattern(self.special_tokens)
        self._special_ids = {
            special: [self._ids[special.encode("utf-8")]] for special in self.special_tokens
        }
        self._cache: dict[str, list[int]] = {}
        # How far a pre-token may depend on what follows: the longest contraction has two characters
        # after its apostrophe, and each of these may turn out to be the start of a special token.
        self._look_ahead = 2 + max(map(len, self.special_tokens), default=0)

    def encode(self, text: str) -> list[int]:
        """The token ids of a text."""
        return [token_id for part in self._parts(text) for token_id in self._encode_part(part)]

    def encode_iterable(self, iterable: Iterable[str]) -> Iterator[int]:
        """The token ids of a text that comes in pieces, such as the lines of a file; they are given
        while it is read.
        """
        rest = ""
        for piece in iterable:
            rest += piece
            # Only parts that no further text can change; a word may go on in the next piece.
            done, certain = 0, len(rest) - self._look_ahead
            for part in self._parts(rest):
                if done + len(part) > certain:
                    break
                yield from self._encode_part(part)
                done += len(part)
            rest = rest[done:]
        yield from self.encode(rest)

    def decode(self, ids: list[int]) -> str:
        """The text of some token ids; bytes that are no UTF-8 become U+FFFD."""
        return b"".join(self.vocab[token_id] for token_id in ids).decode("utf-8", errors="replace")

    def _parts(self, text: str) -> Iterator[str]:
        """The special tokens and the pre-tokens of a text; joined, they are the text again."""
        for part in self._special_pattern.split(text):
            if part in self._special_ids:
                yield part
            else:
                for match in PRE_TOKEN.finditer(part):
                    yield match.group()

    def _encode_part(self, part: str) -> list[int]:
        """The token ids of a special token or a pre-token."""
        ids = self._special_ids.get(part) or self._cache.get(part)
        if ids is None:
            ids = [self._ids[token] for token in self._merge(part)]
            if len(self._cache) < CACHE_SIZE:
                self._cache[part] = ids
        return ids

    def _merge(self, pre_token: str) -> list[bytes]:
        """The bytes of a pre-token, joined by the merges in the order in which they came."""
        tokens = single_bytes(pre_token)
        never = len(self._ranks)
        while len(tokens) > 1:
            pair = min(pairwise(tokens), key=lambda pair: self._ranks.get(pair, never))
            if pair not in self._ranks:
                break
            tokens = join_pair(tokens, pair)
        return tokens
