"""The tokens of a text: cut at special tokens, then into pre-tokens, then the merges in their order."""

from pack.bpe import cut, written


def pairs_of(merges):
    return tuple(tuple(bytes.fromhex(part) for part in pair.split(" ")) for pair in merges)


def tokens_of(text, merges, special):
    return written(cut(text, pairs_of(merges), tuple(special or ())))


def encode(out, variant, *, known, merges, special, text):
    out.record(tokens=tokens_of(text, merges, special))


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
