"""Byte-pair encoding: from text to token ids and back."""

from __future__ import annotations


class BPETokenizer:
    """A byte-level BPE tokenizer: it starts from the 256 bytes, so it can encode any text.

    Attributes:
        merges: list[tuple[bytes, bytes]], the pairs that were joined, in the order they were learned.
    """

    merges: list[tuple[bytes, bytes]]

    @classmethod
    def train(cls, text: str, vocab_size: int) -> BPETokenizer:
        """Learn merges from the UTF-8 bytes of `text` until there are `vocab_size` tokens.

        Each merge joins the neighbouring pair that occurs most often at that moment. Pairs are counted
        at every position, so occurrences may overlap; the text is not split into words first. Among
        equally frequent pairs, the greatest one is taken, comparing (bytes, bytes).
        """
        raise NotImplementedError("learn the merges from a text")

    def encode(self, text: str) -> list[int]:
        """The token ids of a text."""
        raise NotImplementedError("encode a text as token ids")

    def decode(self, ids: list[int]) -> str:
        """The text of some token ids; decode(encode(text)) == text for any text."""
        raise NotImplementedError("decode token ids to a text")
