"""From a text file to batches of token ids."""

from pathlib import Path

import torch

TEXT = Path(__file__).with_name("text.txt")


def read_text():
    return TEXT.read_text(encoding="utf-8")


class TextData:
    """The beginning of the text to learn from, and its end to see what was learned."""

    def __init__(self, ids, train_share=0.9):
        tokens = torch.tensor(ids)
        n = int(train_share * len(tokens))
        self.train, self.val = tokens[:n], tokens[n:]

    def get_batch(self, split, batch_size, block_size):
        """Random pieces of a split, and the same pieces one token further on: the targets."""
        tokens = self.train if split == "train" else self.val
        starts = torch.randint(len(tokens) - block_size, (batch_size,))
        x = torch.stack([tokens[i : i + block_size] for i in starts])
        y = torch.stack([tokens[i + 1 : i + 1 + block_size] for i in starts])
        return x, y
