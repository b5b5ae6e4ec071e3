"""Words for the texts of the tokenizer's probes, invented syllable by syllable."""

from __future__ import annotations

SYLLABLES = [a + b for a, b in zip("ttnnrrsslmpkd", "aoieaeouuoaeu", strict=True)]
WIDE = ["a\u00f1", "\u00df", "\u65e5\u672c", "\u8a9e", "\u0436\u0438", "o\u00e9", "n\u00fc", "te"]
SIGNS = [".", ",", "!", "?", ";", "...", " - ", "_"]


def pick(rng, items, count):
    return [items[int(i)] for i in rng.integers(0, len(items), count)]


def words(rng, count, syllables=SYLLABLES):
    """Words of one to three syllables, some of them far more frequent than others."""
    known = [
        "".join(pick(rng, syllables, int(rng.integers(1, 4)))) for _ in range(max(3, count // 3))
    ]
    return [known[int(len(known) * rng.random() ** 2)] for _ in range(count)]


def numbers(rng, count):
    """Numbers of one to three digits."""
    return [str(int(n)) for n in rng.integers(0, 200, count)]
