"""Texts for the tokenizer's probes, invented syllable by syllable."""

from collections import Counter

from pack.tokenizer.reference import learned

SYLLABLES = [a + b for a, b in zip("ttnnrrsslmpkd", "aoieaeouuoaeu", strict=True)]
LONG = {"large": 160, "hundreds": 400}  # words
WIDE = ["a\u00f1", "\u00df", "\u65e5\u672c", "\u8a9e", "\u0436", "\U0001f422", "\U0001f408"]
WIDE += ["\u201c", "\u2014", "e\u0301", "\ufdfd", "\u0e44\u0e17\u0e22", "\u200d", "\u200f"]


def pick(rng, items, count):
    return [items[int(i)] for i in rng.integers(0, len(items), count)]


def words(rng, count, syllables=SYLLABLES):
    """Words of one to three syllables, some of them far more frequent than others."""
    known = [
        "".join(pick(rng, syllables, int(rng.integers(1, 4)))) for _ in range(max(3, count // 3))
    ]
    return [known[int(len(known) * rng.random() ** 2)] for _ in range(count)]


def text_for(rng, regime):
    """A text in which much repeats."""
    if regime in ("empty", "empty_teacher"):
        return ""
    if regime == "one_byte":
        return "xyz~"[int(rng.integers(4))]
    if regime == "pair_left":  # soon a single token
        before, after = pick(rng, [" ", "\t", "\n "], 1), pick(rng, ["\r\n", "\r\n "], 1)
        letters = rng.permutation(list("kmopQR"))[: int(rng.integers(2, 6))]
        return "".join([*before, *letters, *after])
    if regime == "all_once":  # every pair occurs once: only the order of bytes decides
        return "".join(rng.permutation(list("abcdefABCDEF0123")))
    if regime == "ties":  # few letters, so that many pairs are equally frequent
        return "".join(pick(rng, list("abz~0A"), int(rng.integers(30, 50))))
    if regime == "runs":  # aaaa, in which pairs overlap
        letters = pick(rng, list("abc"), 9)
        return "".join(
            letter * int(n) for letter, n in zip(letters, rng.integers(1, 8, 9), strict=True)
        )
    if regime == "blank":  # what a splitting into words or lines would part
        blanks = [" ", "  ", "\n", "\n\n", "\t ", " \n", "'s ", ", ", "...\r\n"]
        told = words(rng, 24)
        return "".join(a + b for a, b in zip(told, pick(rng, blanks, 24), strict=True))
    if regime == "cases":  # Tata and tata are different words
        return " ".join(w.title() if rng.random() < 0.4 else w for w in words(rng, 26))
    if regime == "wide":  # most characters take two to four bytes
        return " ".join(words(rng, 20, [*WIDE, *SYLLABLES[:4]]))
    return " ".join(words(rng, LONG.get(regime, 30)))


def size_for(rng, regime):
    """vocab_size: 256 bytes, and so many merges."""
    if regime == "no_merges":
        return 256
    if regime == "one_merge":
        return 257
    if regime in ("pair_left", "one_byte", "empty", "empty_teacher"):  # more than there is to learn
        return 256 + int(rng.integers(20, 60))
    if regime == "large":
        return 256 + int(rng.integers(28, 36))
    if regime == "hundreds":
        return 256 + int(rng.integers(140, 160))
    if regime == "runs":
        return 256 + int(rng.integers(2, 6))
    return 256 + int(rng.integers(6, 12))


def lesson(rng, regime):
    """A text and a vocab_size by which no two merges give the same token: what then is open."""
    while True:
        text, vocab_size = text_for(rng, regime), size_for(rng, regime)
        made = [a + b for a, b in learned(text, vocab_size)]
        if regime == "one_merge" and not one_is_ahead(text):
            continue
        if len(set(made)) == len(made):
            return {"text": text, "vocab_size": vocab_size}


def one_is_ahead(text):
    """Whether one pair of bytes is more frequent than every other."""
    raw = text.encode()
    first, second = Counter(zip(raw, raw[1:], strict=False)).most_common(2)
    return first[1] > second[1]


def train(rng, regime, dtype):
    return lesson(rng, regime)


def kinds(rng, regime, dtype):
    return lesson(rng, regime)


def encode(rng, regime, dtype):
    taught = lesson(
        rng, {"own": "normal", "unknown": "normal", "nothing": "normal"}.get(regime, regime)
    )
    if regime in ("own", "pair_left", "empty_teacher"):
        other = taught["text"] or "tata"
    elif regime == "nothing":
        other = ""
    elif regime == "unknown":  # bytes that the text did not have
        other = "".join(pick(rng, list("QWXYZ!#%&1234567890\n\t\x00\x7f"), 20))
    elif regime in ("ties", "runs", "all_once"):
        other = text_for(rng, regime) + text_for(rng, regime)
    else:  # pieces of the text, in another order
        known = taught["text"].split(" ")
        other = "".join(
            a + b
            for a, b in zip(pick(rng, known, 30), pick(rng, [" ", "", " ", "q"], 30), strict=True)
        )
    return {**taught, "other": other}


def ids(rng, regime, dtype):
    return encode(rng, regime, dtype)


def round_trip(rng, regime, dtype):
    others = {
        "wide": [text_for(rng, "wide"), "".join(pick(rng, WIDE, 12))],
        "normal": [text_for(rng, "normal"), text_for(rng, "cases")],
        "control": [
            "two  spaces",
            " \t around it \n ",
            "\r\n\r\n",
            "",
            "\x00",
            "\ufeffmark",
            "\x7f\x80\x85\u2028",
        ],
        "empty_teacher": [text_for(rng, "normal"), text_for(rng, "wide")],
        "any_character": [
            "".join(chr(int(c)) for c in rng.integers(0xE000, 0x110000, 20)),
            "".join(map(chr, range(256))),
        ],
        "look_alikes": [
            "\u00e9 e\u0301",
            "\ufb01 fi",
            "\u212b \u00c5",
            "\u017f s",
            "\u2126 \u03a9",
        ],
    }[regime]
    taught = lesson(
        rng,
        {"control": "blank", "any_character": "wide", "look_alikes": "wide"}.get(regime, regime),
    )
    return {**taught, "others": others}


def again(rng, regime, dtype):
    taught, more = lesson(rng, "normal"), lesson(rng, "cases")
    other = " ".join(
        pick(rng, taught["text"].split(" "), 8) + pick(rng, more["text"].split(" "), 8)
    )
    return {
        **taught,
        "other_text": more["text"],
        "other_size": more["vocab_size"],
        "other": other,
    }
