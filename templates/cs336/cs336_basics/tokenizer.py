"""Byte-pair encoding: from text to token ids and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator


def train_bpe(
    input_path: str | os.PathLike[str], vocab_size: int, special_tokens: list[str]
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Learn merges from a text file until there are `vocab_size` tokens.

    The text is cut at the special tokens, and each part into pre-tokens by GPT-2's pattern; pairs are
    counted within pre-tokens. Each merge joins the pair that occurs most often at that moment; of equally
    frequent ones the greatest, comparing (bytes, bytes).

    Returns:
        vocab: id -> token, for the 256 bytes, the special tokens and what the merges make.
        merges: the pairs that were joined, in the order in which they were learned.
    """
    raise NotImplementedError("learn the merges from a file")


class Tokenizer:
    """Encodes any text with a vocabulary and its merges. Special tokens are never cut, the longest first;
    those that the vocabulary lacks are appended to it.
    """

    def __init__(
        self,
        vocab: dict[int, bytes],
        merges: list[tuple[bytes, bytes]],
        special_tokens: list[str] | None = None,
    ) -> None:
        raise NotImplementedError("keep the vocabulary, the merges and the special tokens")

    def encode(self, text: str) -> list[int]:
        """The token ids of a text."""
        raise NotImplementedError("encode a text as token ids")

    def encode_iterable(self, iterable: Iterable[str]) -> Iterator[int]:
        """The token ids of a text that comes in pieces, such as the lines of a file; they are given while
        it is read.
        """
        raise NotImplementedError("encode piece by piece")

    def decode(self, ids: list[int]) -> str:
        """The text of some token ids; bytes that are no UTF-8 become U+FFFD."""
        raise NotImplementedError("decode token ids to a text")
