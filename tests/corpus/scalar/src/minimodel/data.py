import numpy as np


def batches(ids, batch_size, seq_len, *, rng):
    """Endless (x, y): random windows of ids, y is one further than x."""
    ids = np.asarray(ids)
    if ids.ndim != 1:
        raise ValueError(f"ids should be one long row, got {ids.shape}")
    if len(ids) < seq_len + 1:
        raise ValueError(f"{len(ids)} ids are too few for seq_len = {seq_len}, need {seq_len + 1}")
    # the check sits out here so that it happens right away and not at the first next()
    return _endless(ids, batch_size, seq_len, rng)


def _endless(ids, batch_size, seq_len, rng):
    while True:
        starts = rng.integers(0, len(ids) - seq_len, size=batch_size).tolist()
        x = [ids[s:s + seq_len] for s in starts]
        y = [ids[s + 1:s + seq_len + 1] for s in starts]
        yield np.array(x), np.array(y)
