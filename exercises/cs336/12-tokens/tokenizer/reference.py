"""The tokens of a text: cut at special tokens, then into pre-tokens, then the merges in their order.

Variant: "latest_first" takes the merges from the last to the first. Code that goes through the list once
agrees with it only where all merges are of single bytes.
"""

from pack.bpe import cut, written

SHOWN, LINE = 24, 8  # words that are shown, and on one line


def pairs_of(merges):
    return tuple(tuple(bytes.fromhex(part) for part in pair.split(" ")) for pair in merges)


def tokens_of(text, merges, special, variant=""):
    mistake = "latest merge first" if variant == "latest_first" else ""
    return written(cut(text, pairs_of(merges), tuple(special or ()), mistake))


def encode(out, variant, *, known, merges, special, text):
    out.record(tokens=tokens_of(text, merges, special, variant))


def cost(out, variant, *, known, merges, special, text):
    words = text.replace(" ", "\n ").split("\n")
    tokens = [cut(word, pairs_of(merges), tuple(special or ())) for word in words]
    out.record(text_comes_back=True)
    out.record(letters=len(text), tokens=len(tokens_of(text, merges, special)))
    out.record(words_in_one_token=sum(len(one) == 1 for one in tokens))
    dotted = ["\u00b7".join(token.decode("latin-1") for token in one) for one in tokens]
    for first in range(0, SHOWN, LINE):
        some = "".join(dotted[first : first + LINE]).strip()
        out.record(**{f"words_{first + 1}_to_{first + LINE}": some})


def kinds(out, variant, *, known, merges, special, text):
    out.record(encoded="list", of_integers=True, decoded="str")


def decode(out, variant, *, known, merges, special, text, ids):
    out.record(text=repr(text))


def round_trip(out, variant, *, known, merges, special, texts):
    out.record(**{f"text_{i}": repr(text) for i, text in enumerate(texts)})


def malformed(out, variant, *, known, merges, special, ids):
    told = b"".join(bytes.fromhex(known[id]) for id in ids).decode("utf-8", "replace")
    while "\ufffd\ufffd" in told:
        told = told.replace("\ufffd\ufffd", "\ufffd")
    out.record(text=ascii(told))


def iterable(out, variant, *, known, merges, special, lines):
    out.record(tokens=tokens_of("".join(lines), merges, special))


def lazy(out, variant, *, known, merges, special, lines):
    out.record(first_id_before_the_end=True)


def again(out, variant, *, known, merges, special, text, other_known, other_merges, other):
    first = tokens_of(text, merges, special)
    out.record(first=first, other=tokens_of(other, other_merges, special), again=first)
