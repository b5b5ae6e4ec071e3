import numpy as np


class _Batches:
    """The endless iterator behind batches()."""

    __slots__ = ("ids", "batch_size", "seq_len", "rng")

    def __init__(self, ids, batch_size, seq_len, rng):
        ids = np.asarray(ids)
        if ids.ndim != 1:
            raise ValueError(f"ids must be one long row, got shape {ids.shape}")
        if batch_size < 1 or seq_len < 1:
            raise ValueError(f"batch_size {batch_size} and seq_len {seq_len} must be at least 1")
        if ids.size < seq_len + 1:
            raise ValueError(f"{ids.size} ids, but seq_len {seq_len} needs at least {seq_len + 1}")
        self.ids, self.batch_size, self.seq_len, self.rng = ids, batch_size, seq_len, rng

    @property
    def n_starts(self):
        # the window takes seq_len ids and y one more
        return self.ids.size - self.seq_len

    def __iter__(self):
        return self

    def __next__(self):
        starts = self.rng.integers(0, self.n_starts, size=self.batch_size)
        window = starts[:, None] + np.arange(self.seq_len)
        return self.ids[window], self.ids[window + 1]


def batches(ids, batch_size, seq_len, *, rng):
    """Endless (x, y), each (batch_size, seq_len); y is x one token later."""
    return _Batches(ids, batch_size, seq_len, rng)
