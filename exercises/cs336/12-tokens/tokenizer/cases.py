"""Vocabularies, merges and texts for the tokenizer. As in GPT-2's files the bytes do not stand in their
order, the merges follow in the order in which they were learned, and special tokens come last.
"""

from pack.bpe import cut, learned, merged
from pack.bpe_texts import SIGNS, WIDE, numbers, pick, words

END = "<|endoftext|>"
PAD = "<|pad|>"
ORDERS = ["longest token first", "from the left", "from the left, everywhere"]
ORDERS += ["latest merge first", "alphabetical"]
TELLS = {  # what a text has to be cut differently by
    "order": ORDERS,
    "single_bytes": ORDERS,
    "cuts": ["no cuts", "blanks by themselves", "words and digits together"],
    "contractions": ["no contractions", "any case"],
    "blanks": ["blanks in one piece"],
    "wide": ["only ASCII letters"],
    "end": ["special tokens as text"],
    "overlapping": ["shorter special token first"],
    "end_blanks": ["parts stripped", "special tokens taken out"],
}
SPECIAL = {"end": [END], "end_blanks": [END], "only_end": [END], "overlapping": [END, END + END]}
SPECIAL |= {"no_special": None, "empty_list": [], "appended": [END], "lines_end": [END]}
CARROLL = (  # Alice's Adventures in Wonderland, the first sentence
    "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing "
    "to do: once or twice she had peeped into the book her sister was reading, but it had no pictures or "
    "conversations in it, and what is the use of a book, thought Alice, without pictures or conversations?"
)
ACROSS = [(b"a", b" "), (b"o", b"."), (b"e", b"1")]
CROSSING = {  # merges that may never be used: no pre-token holds such a pair
    "cuts": ACROSS,
    "end_blanks": [*ACROSS, (b"\n", b"\n")],
    "contractions": [(b"'", b"S")],
}


def text_for(rng, regime):
    told = words(rng, 30)
    if regime in ("cuts", "digits"):
        ends = [*pick(rng, SIGNS, 15), *numbers(rng, 15)]
        return "".join(a + b + " " for a, b in zip(told, rng.permutation(ends), strict=True))
    if regime == "contractions":
        ends = pick(rng, ["'s", "'t", "'ll", "'S", "'so", " 'sa"], 30)
        return " ".join(a + b for a, b in zip(told, ends, strict=True))
    if regime == "blanks":
        ends = pick(rng, ["  ", "   ", "\n\n", " \n", "\n  ", " ", "\t\t", "\n\n\n"], 30)
        return "".join(a + b for a, b in zip(told, ends, strict=True))
    if regime == "wide":
        return " ".join(words(rng, 20, WIDE))
    if regime == "order":
        return "".join(told)
    if regime == "single_bytes":  # few letters in all orders, so that most pairs want the same one
        return " ".join("".join(pick(rng, list("aeinrst"), 9)) for _ in range(20))
    if regime == "shown":
        return CARROLL
    return " ".join(told)


def pairs_of(merges):
    return [tuple(bytes.fromhex(part) for part in pair.split(" ")) for pair in merges]


def taught(rng, regime):
    """A vocabulary, its merges and a text that they were learned from."""
    text = text_for(rng, "order" if regime == "merges" else regime)
    many = {"single_bytes": (30, 40), "shown": (80, 81)}.get(regime, (14, 22))
    pairs = () if regime == "no_merges" else learned(text, 256 + int(rng.integers(*many)))
    if regime == "single_bytes":  # none is made of what another made
        pairs = [pair for pair in pairs if len(pair[0] + pair[1]) == 2]
    pairs = (*pairs, *CROSSING.get(regime, ()))
    special = SPECIAL.get(regime, None)
    found = [bytes([int(b)]) for b in rng.permutation(256)] + [a + b for a, b in pairs]
    found += [token.encode() for token in special or () if regime != "appended"]
    if regime == "any_ids":
        found = [found[int(i)] for i in rng.permutation(len(found))]
    return text, pairs, special, found


def lesson(rng, regime):
    """What a tokenizer is made from, and a text. What is open decides nothing: each token is what its merges
    make of its bytes, so that it does not matter whether a whole pre-token is looked up first.
    """
    while True:
        text, pairs, special, found = taught(rng, regime)
        text = another(rng, regime, text)
        right = cut(text, pairs, tuple(special or ()))
        products = [a + b for a, b in pairs]
        alone = all(merged(tuple(bytes([b]) for b in t), pairs) == (t,) for t in products)
        told = all(
            cut(text, pairs, tuple(special or ()), wrong) != right
            for wrong in TELLS.get(regime, ())
        )
        if told and alone and len({*found}) == len(found):
            merges = [a.hex() + " " + b.hex() for a, b in pairs]
            return {
                "known": [t.hex() for t in found],
                "merges": merges,
                "special": special,
                "text": text,
            }


def another(rng, regime, text):
    """Another text of the same syllables."""
    told = words(rng, 8)
    if regime in ("cuts", "contractions", "blanks", "wide", "single_bytes", "shown"):
        return text_for(rng, regime)
    if regime == "nothing":
        return ""
    if regime in ("end", "appended"):
        return told[0] + END + " ".join(told[1:4]) + END + END + " " + told[4] + END
    if regime == "overlapping":
        return told[0] + END + END + " ".join(told[1:4]) + END + told[4] + END + END + END
    if regime == "end_blanks":
        return told[0] + " \n\n" + END + "\n" + told[1] + "  " + END + "\n\n" + told[2] + "\n\n"
    if regime == "only_end":
        return END
    if regime == "no_special":
        return told[0] + " " + END + told[1]
    if regime == "unknown":
        return "".join(pick(rng, [*"QWXYZ!#%&\x00\x7f\u00e9\u65e5\U0001f422"], 20))
    if regime in ("order", "merges"):
        return "".join(pick(rng, words(rng, 12), 12)) + text[: len(text) // 3]
    return " ".join(told) + " " + text[: len(text) // 2]


def encode(rng, regime, dtype):
    return lesson(rng, regime)


def cost(rng, regime, dtype):
    """`shown`: the text from which the merges were learned."""
    return lesson(rng, "shown" if regime == "shown" else "usual")


def kinds(rng, regime, dtype):
    return lesson(rng, regime)


def decode(rng, regime, dtype):
    found = lesson(rng, regime)
    places = {token: id for id, token in enumerate(found["known"])}
    tokens = cut(found["text"], pairs_of(found["merges"]), tuple(found["special"] or ()))
    return {**found, "ids": [places[token.hex()] for token in tokens]}


def round_trip(rng, regime, dtype):
    texts = {
        "ascii": [text_for(rng, "cuts"), text_for(rng, "blanks"), "", "s"],
        "any_character": [
            "H\u00e9ll\u00f2 \U0001f643 \u65e5\u672c\u8a9e",
            "e\u0301 \u00e9 \ufb01 \u212b",
            text_for(rng, "wide"),
        ],
        "appended": [words(rng, 1)[0] + END + words(rng, 1)[0], END],
        "control": ["two  spaces ", "\t\n \n\n", "\r\n\r\n", "\x00\x7f", "\ufeffa\u2028b"],
    }[regime]
    found = lesson(rng, "appended" if regime == "appended" else "end")
    del found["text"]
    return {**found, "texts": texts}


def malformed(rng, regime, dtype):
    """A text with a character that is cut short."""
    found = lesson(rng, "any_ids")
    broken = {
        "cut_short": ["\u65e5".encode()[:2], "\U0001f422".encode()[:3], b"\xc3"],
        "no_beginning": [b"\x80", b"\xbf\xbf"],
        "alone": [b"\xff", b"\xc3"],
    }[regime]
    raw = pick(rng, broken, 1)[0]
    if regime != "alone":
        before, behind = words(rng, 2)
        raw = before.encode() + raw + b" " + behind.encode()
    del found["text"]
    places = {token: id for id, token in enumerate(found["known"])}
    return {**found, "ids": [places[bytes([byte]).hex()] for byte in raw]}


def iterable(rng, regime, dtype):
    found = lesson(rng, {"lines": "usual", "lines_end": "lines_end"}.get(regime, "usual"))
    lines = [" ".join(words(rng, 4)) + "\n" for _ in range(5)]
    if regime == "lines_end":
        lines = [line for pair in zip(lines, [END + "\n"] * 5, strict=True) for line in pair]
    if regime == "across":  # cut inside words and blanks
        whole = "".join(lines).replace("\n", "  ")
        ends = sorted({0, len(whole), *(int(i) for i in rng.integers(1, len(whole), 12))})
        lines = [whole[a:b] for a, b in zip(ends, ends[1:], strict=False)]
    del found["text"]
    return {**found, "lines": lines}


def lazy(rng, regime, dtype):
    return iterable(rng, "lines", dtype)


def again(rng, regime, dtype):
    one, two = lesson(rng, "usual"), lesson(rng, "cuts")
    return {**one, "other_known": two["known"], "other_merges": two["merges"], "other": two["text"]}
