"""Byte-pair encoding from first principles, as the CS336 handout has it: texts are cut at special tokens,
then into pre-tokens, and pairs are counted and joined within a pre-token.

`mistake` names what learners do instead: cases.py asks for texts on which that gives something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

# GPT-2: '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
# over a text in which each character stands for its kind. `a` and `0` are no part of a contraction.
GPT2 = re.compile(
    r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", re.ASCII
)
KINDS = {"L": "a", "N": "0"}
CUTS = {
    "blanks left out": r"\S+",
    "blanks by themselves": r"\s+|\S+",
    "blank behind": r"\S+\s*|\s+",
    "words, signs and digits together": r" ?[^\s]+|\s+(?!\S)|\s+",
    "words and digits together": r" ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+",
    "no contractions": r" ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+",
    "any case": r"'(?i:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+",
    "blanks in one piece": r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+",
    "only ASCII letters": r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+",
}


def kind(character):
    """What stands for a character: itself in ASCII, else one of its kind."""
    if character.isascii():
        return character
    return "\n" if character.isspace() else KINDS.get(unicodedata.category(character)[0], ".")


def split(text, mistake=""):
    """The pre-tokens of a text."""
    if mistake == "no cuts":
        return [text] if text else []
    if mistake == "line by line":
        return [piece for line in text.splitlines(keepends=True) for piece in split(line)]
    if mistake in CUTS:
        return re.findall(CUTS[mistake], text)
    kinds = "".join(map(kind, text))
    return [text[match.start() : match.end()] for match in GPT2.finditer(kinds)]


def parts(text, special=(), mistake=""):
    """A text cut at its special tokens, the longest first: (part, whether it is special)."""
    if mistake == "special tokens taken out":
        for token in special:
            text = text.replace(token, "")
    if not special or mistake in ("special tokens as text", "special tokens taken out"):
        return [(text, False)]
    order = special if mistake == "shorter special token first" else sorted(special, key=len)[::-1]
    cut = re.split("(" + "|".join(map(re.escape, order)) + ")", text)
    if mistake == "parts stripped":
        cut = [part if part in special else part.strip() for part in cut]
    return [(part, part in special) for part in cut if part]


def bytes_of(text):
    """The UTF-8 bytes of a text, each a token."""
    return tuple(bytes([byte]) for byte in text.encode("utf-8"))


def joined(tokens, pair):
    """Every occurrence of the pair made one token, from left to right."""
    found, i = [], 0
    while i < len(tokens):
        if tokens[i : i + 2] == pair:
            found.append(pair[0] + pair[1])
            i += 2
        else:
            found.append(tokens[i])
            i += 1
    return tuple(found)


def counted(words, mistake=""):
    """How often each pair of neighbours occurs, in words with how often they do."""
    counts = Counter()
    for tokens, times in words.items():
        last = None
        for pair in zip(tokens, tokens[1:], strict=False):
            if mistake == "no overlaps" and pair == last:  # aaa holds aa once
                last = None
                continue
            counts[pair] += 1 if mistake == "each word once" else times
            last = pair
    return counts


def ahead(pair, made, mistake):
    """What decides between pairs that are equally frequent: the greater one."""
    if mistake == "smaller pair":
        return tuple([-byte for byte in part] + [1] for part in pair)
    if mistake == "glued pair":
        return pair[0] + pair[1]
    if mistake == "greater id":
        return tuple(made.get(part, part[0]) for part in pair)
    return 0 if mistake == "first pair" else pair


@lru_cache(maxsize=64)  # cases.py asks first
def learned(text, vocab_size, special=(), mistake=""):
    """The merges, in order: the most frequent pair first, of several the lexicographically greater."""
    pieces = [part for part, is_special in parts(text, special, mistake) if not is_special]
    words = Counter(bytes_of(piece) for part in pieces for piece in split(part, mistake))
    merges, made, counts = [], {}, counted(words, mistake)
    while 256 + len(special) + len(merges) < vocab_size:
        if not counts or (mistake == "pairs that come once left" and max(counts.values()) == 1):
            break
        best = max(counts, key=lambda pair: (counts[pair], ahead(pair, made, mistake)))
        merges.append(best)
        made[best[0] + best[1]] = 256 + len(merges)
        if mistake == "taken off twice":
            taken_off(counts, words, best)
        words = sum_of((joined(tokens, best), times) for tokens, times in words.items())
        if mistake != "taken off twice":
            counts = counted(words, mistake)
    return tuple(merges)


def taken_off(counts, words, pair):
    """Counts that keep up with a merge: the pairs beside it go, new ones come. What stands between two
    merges side by side goes twice.
    """
    for tokens, times in words.items():
        after = joined(tokens, pair)
        start = 0
        for token in after:
            end = start + 1
            if token == pair[0] + pair[1] and tokens[start : start + 2] == pair:
                end = start + 2
                for beside in (tokens[max(start - 1, 0) : start + 1], tokens[end - 1 : end + 1]):
                    if len(beside) == 2:
                        counts[beside] -= times
            start = end
        for two in zip(after, after[1:], strict=False):
            if pair[0] + pair[1] in two:
                counts[two] += times
    del counts[pair]


def sum_of(pairs):
    """Counts of what may come several times."""
    found = Counter()
    for what, times in pairs:
        found[what] += times
    return found


def merged(tokens, merges, mistake=""):
    """The tokens of a pre-token: the merges, in the order in which they were learned."""
    if mistake == "longest token first":
        return longest(tokens, {a + b for a, b in merges})
    if mistake in ("from the left", "from the left, everywhere"):  # whichever pair comes first
        return leftmost(tokens, set(merges), everywhere="everywhere" in mistake)
    if mistake == "latest merge first":
        return ranked(tokens, merges[::-1])
    if mistake == "alphabetical":
        return ranked(tokens, sorted(merges))
    for pair in merges:
        if pair[0] + pair[1] in b"".join(tokens):
            tokens = joined(tokens, pair)
    return tokens


def ranked(tokens, merges):
    """Joins the pair whose merge comes first, again and again; in any order of the merges."""
    places = {pair: place for place, pair in enumerate(merges)}
    while True:
        known = [pair for pair in zip(tokens, tokens[1:], strict=False) if pair in places]
        if not known:
            return tokens
        tokens = joined(tokens, min(known, key=places.__getitem__))


def longest(tokens, known):
    """From the left the longest token that fits."""
    whole, found, start = b"".join(tokens), [], 0
    while start < len(whole):
        ends = range(len(whole), start, -1)
        end = next(e for e in ends if e == start + 1 or whole[start:e] in known)
        found.append(whole[start:end])
        start = end
    return tuple(found)


def leftmost(tokens, known, everywhere):
    """Joins the first pair that any merge joins, again and again; everywhere: wherever it stands."""
    while True:
        pairs = zip(tokens, tokens[1:], strict=False)
        at = next((i for i, pair in enumerate(pairs) if pair in known), None)
        if at is None:
            return tokens
        if everywhere:
            tokens = joined(tokens, tokens[at : at + 2])
            continue
        tokens = (*tokens[:at], tokens[at] + tokens[at + 1], *tokens[at + 2 :])


def cut(text, merges, special=(), mistake=""):
    """The tokens of a text, as bytes."""
    found = []
    for part, is_special in parts(text, special, mistake):
        if is_special:
            found.append(part.encode("utf-8"))
            continue
        for piece in split(part, mistake):
            found += merged(bytes_of(piece), merges, mistake)
    return found


def written(tokens):
    """Tokens as Python writes bytes."""
    return [repr(token) for token in tokens]
