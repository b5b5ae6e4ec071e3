"""Pieces of text to learn from."""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def batches(ids, batch_size, seq_len, *, rng):
    if len(ids) < seq_len + 1:
        raise ValueError(f"a piece takes {seq_len + 1} ids, and there are only {len(ids)}")
    pieces = sliding_window_view(np.asarray(ids), seq_len + 1)  # one row for each start

    def forever():
        while True:
            chosen = pieces[rng.integers(len(pieces), size=batch_size)]
            yield chosen[:, :-1], chosen[:, 1:]

    return forever()
