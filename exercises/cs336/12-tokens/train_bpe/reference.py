"""What byte-pair encoding learns from a text: pack/bpe.py.

Variants: "smaller" takes the smaller of equally frequent pairs, "once" counts each pre-token once.
"""

from pack.bpe import cut, learned

BUGS = {"smaller": "smaller pair", "once": "each word once"}


def merges(out, variant, *, text, vocab_size, special):
    found = learned(text, vocab_size, tuple(special), BUGS.get(variant, ""))
    out.record(merges=[" ".join(map(repr, pair)) for pair in found])


def kinds(out, variant, *, text, vocab_size, special):
    out.record(result="tuple", parts=2, vocab="dict", merges="list")
    out.record(ids_are_integers=True, tokens_are_bytes=True, merges_are_pairs=True, of_bytes=True)


def vocab(out, variant, *, text, vocab_size, special):
    out.record(bytes_missing="none", special_missing="none", merged_missing="none", too_much="none")
    merges = learned(text, vocab_size, tuple(special))
    out.record(size=256 + len(special) + len(merges), ids_from_0=True)


def taught(out, variant, *, text, vocab_size):
    found = learned(text, vocab_size, (), BUGS.get(variant, ""))
    products = [(a + b).decode() for a, b in found]
    out.record(first_merge=products[0], merges=products, longest=max(map(len, products)))
    out.record(tokens_without_merges=len(text), tokens=len(cut(text, found)))
