"""Texts to learn merges from. Each regime is about one thing that goes wrong: a text is drawn until the
mistakes in TELLS give other merges there.
"""

from pack.bpe import counted, learned, parts, split
from pack.bpe_texts import SIGNS, SYLLABLES, WIDE, numbers, pick, words

END = "<|endoftext|>"
CUTS = ["no cuts", "blanks left out", "blanks by themselves", "blank behind"]
TELLS = {
    "side_by_side": ["taken off twice"],
    "spaces": CUTS,
    "signs": ["words, signs and digits together", "words and digits together"],
    "contractions": ["no contractions", "any case"],
    "blanks": ["blanks in one piece"],
    "ties": ["smaller pair", "first pair", "glued pair", "greater id"],
    "words_again": ["each word once"],
    "special": ["special tokens as text"],
    "special_cut": ["special tokens taken out"],
    "special_blank": ["parts stripped"],
    "wide": ["only ASCII letters"],
    "runs": ["no overlaps"],
    "overlapping": ["special tokens as text"],
}
SAME = {  # and these give the same, as other regimes are about them
    "one_merge": [*CUTS, "each word once", "words and digits together"],
    "clear": ["smaller pair", "first pair"],
    "spaces": ["each word once"],
    "special": ["special tokens taken out", "parts stripped"],
    "special_cut": ["parts stripped"],
}
SIZES = {"one_merge": (1, 2), "clear": (3, 5), "large": (30, 36), "runs": (3, 6), "ties": (8, 11)}


def text_for(rng, regime):
    """A text in which much repeats."""
    told = words(rng, 200 if regime == "large" else 32)
    if (
        regime == "spaces"
    ):  # all words end alike, so a letter and a blank are the most frequent pair
        return " ".join(sorted({word[:-1] + "a" for word in words(rng, 90)}))
    if regime == "signs":
        ends = [*pick(rng, SIGNS, 16), *numbers(rng, 16)]
        return "".join(a + b + " " for a, b in zip(told, rng.permutation(ends), strict=True))
    if regime == "contractions":
        ends = pick(rng, ["'s", "'t", "'ll", "'S", "'LL", "'so", "'lle", " 'sa"], 32)
        return " ".join(a + b for a, b in zip(told, ends, strict=True))
    if regime == "blanks":
        ends = pick(rng, ["  ", "   ", "\n\n", " \n", "\n  ", " ", "\t\t"], 32)
        return "".join(a + b for a, b in zip(told, ends, strict=True))
    if regime == "side_by_side":  # toto, and words that have what stands in its middle
        pair = pick(rng, SYLLABLES, 1)[0]
        others = [letter + pair[::-1] for letter in pick(rng, list("bfgvwz"), 7)]
        return " ".join(rng.permutation([2 * pair] * 8 + others + told[:12]))
    if regime == "clear":  # one word
        return "".join(words(rng, 20))
    if regime == "ties":  # one word of few letters, twice: nearly all pairs are equally frequent
        return 2 * "".join(pick(rng, list("abzAZQ"), 26))
    if regime == "words_again":  # a few words that come very often, many that come once
        often = words(rng, 3)
        return " ".join(rng.permutation([*often * 8, *told]))
    if regime == "runs":
        letters = zip(pick(rng, list("abc"), 9), rng.integers(1, 8, 9), strict=True)
        return " ".join(letter * int(n) for letter, n in letters)
    if regime == "wide":
        return " ".join(words(rng, 24, WIDE))
    return documents(rng, regime, told)


def documents(rng, regime, told):
    """Words in several documents, with a special token between them."""
    cuts = [" ".join(told[i : i + 8]) for i in range(0, len(told), 8)]
    if regime in ("special_cut", "overlapping"):  # no blank beside it
        cuts = ["".join(told[i : i + 2]) for i in range(0, len(told), 2)]
    if regime == "special_blank":
        blank = pick(rng, ["\n\n", "  ", " \n"], 1)[0]
        cuts = [blank + told[i] + " " + told[i + 1] + blank for i in range(0, len(told), 2)]
    if regime == "other_special":
        return "[CUT]".join(cuts)
    if regime == "several":
        return "".join(a + b for a, b in zip(cuts, pick(rng, [END, "<pad>"], len(cuts))))
    if regime == "overlapping":
        ends = pick(rng, [END, END + END], len(cuts))
        return "".join(a + b for a, b in zip(cuts, ends, strict=True))
    if regime in ("no_special", "one_merge"):
        return " ".join(told)
    if regime == "nothing_left":
        return END.join(["to", "no", "to"])
    return END.join(cuts) if regime == "special_cut" else ("\n" + END + "\n").join(cuts)


def special_for(regime):
    several = {"no_special": [], "several": [END, "<pad>"], "other_special": ["[CUT]"]}
    return several.get(regime, [END, END + END] if regime == "overlapping" else [END])


def lesson(rng, regime):
    """A text, vocab_size and special tokens. What is open decides nothing: whether pairs that overlap are
    counted twice (but in the regime "runs"), whether pairs that come once are merged (but in
    "nothing_left"), and what becomes of two merges that give the same token.
    """
    while True:
        text, special = text_for(rng, regime), special_for(regime)
        low, high = SIZES.get(regime, (40, 60) if regime == "nothing_left" else (6, 12))
        asked = text, 256 + len(special) + int(rng.integers(low, high)), tuple(special)
        right = learned(*asked)
        made = {a + b for a, b in right}
        told = all(learned(*asked, wrong) != right for wrong in TELLS.get(regime, ()))
        told = told and all(learned(*asked, wrong) == right for wrong in SAME.get(regime, ()))
        open_ = regime != "runs" and learned(*asked, "no overlaps") != right
        if regime != "nothing_left":
            open_ = open_ or learned(*asked, "pairs that come once left") != right
        if told and not open_ and len(made) == len(right):
            if regime != "one_merge" or one_is_ahead(text):
                return {"text": text, "vocab_size": asked[1], "special": special}


def one_is_ahead(text):
    """Whether one pair is more frequent than every other."""
    pieces = [piece for part, _ in parts(text) for piece in split(part)]
    counts = counted({tuple(bytes([b]) for b in p.encode()): pieces.count(p) for p in pieces})
    first, second = counts.most_common(2)
    return first[1] > second[1]


def merges(rng, regime, dtype):
    return lesson(rng, regime)


def kinds(rng, regime, dtype):
    return lesson(rng, regime)


def vocab(rng, regime, dtype):
    return lesson(rng, regime)


def taught(rng, regime, dtype):
    """shown: one word again and again among many that come once; shown_ties: a text of few letters."""
    if regime == "shown_ties":
        text = 2 * "".join(pick(rng, list("abzAZQ"), 26))
        return {"text": text, "vocab_size": 256 + 10}
    often = ["lantern"] * 40
    told = [*often, *sorted({word + "stone" for word in words(rng, 30)})]
    return {"text": " ".join(told), "vocab_size": 256 + 12}
