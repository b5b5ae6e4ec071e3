"""What byte-pair encoding learns from a text: pack/bpe.py."""

from pack.bpe import learned


def merges(out, variant, *, text, vocab_size, special):
    found = learned(text, vocab_size, tuple(special))
    out.record(merges=[" ".join(map(repr, pair)) for pair in found])


def kinds(out, variant, *, text, vocab_size, special):
    out.record(result="tuple", parts=2, vocab="dict", merges="list")
    out.record(ids_are_integers=True, tokens_are_bytes=True, merges_are_pairs=True, of_bytes=True)


def vocab(out, variant, *, text, vocab_size, special):
    out.record(bytes_missing="none", special_missing="none", merged_missing="none", too_much="none")
    merges = learned(text, vocab_size, tuple(special))
    out.record(size=256 + len(special) + len(merges), ids_from_0=True)
