"""What may be drawn, and that y comes one id later. The variant "not_shifted" has y = x."""

import numpy as np

NOT_SHIFTED = "not_shifted"


def windows(out, variant, *, ids, batch_size, seq_len, count, seed):
    shapes = np.array([[batch_size, seq_len]] * count)
    out.record(batches=count, x_shapes=shapes, y_shapes=shapes, integers=True)
    out.record(x_is_cut_from_ids=True, y_is_later_by=0 if variant == NOT_SHIFTED else 1)


def one_window(out, variant, *, ids, batch_size, seq_len, seed):
    x = np.stack([ids[:-1]] * batch_size)
    y = x if variant == NOT_SHIFTED else np.stack([ids[1:]] * batch_size)
    out.record(x=x, y=y, x_again=x, y_again=y)
    out.name(ids=ids, piece=np.stack([ids] * batch_size), x_row=ids[:-1], y_row=ids[1:])
    at = np.stack([np.arange(seq_len)] * batch_size)
    out.name(at=at, at_row=at[0], next_at=at + 1, next_at_row=at[0] + 1)
    out.name(start=np.zeros(batch_size), next_start=np.ones(batch_size))


def starts(out, variant, *, ids, batch_size, seq_len, count, seed):
    out.record(seen=np.arange(len(ids) - seq_len), rows_differ=True, batches_differ=True)


def endless(out, variant, *, n, count, seed):
    out.record(batches=count)


def reaches(out, variant, *, n, kind, batch_size, seq_len, count, seed):
    out.record(first_tenth=True, last_tenth=True)
    if kind == "int64":
        out.record(remainders=list(range(2, 9)))


def repeated(out, variant, *, ids, batch_size, seq_len, count, seed):
    out.record(pieces=True, shifted=True)


def continued(out, variant, *, ids, batch_size, seq_len, count, seed):
    windows = np.lib.stride_tricks.sliding_window_view(ids, seq_len + 1)
    out.record(seen=np.unique(windows, axis=0))


def kept(out, variant, *, ids, batch_size, seq_len, count, seed):
    out.record(stay=True)


def same_rng(out, variant, *, ids, others, batch_size, seq_len, count, seed, other_seed):
    out.record(same_seed_same_batches=True, other_seed_same_batches=False)
    out.record(same_beside_another=True)


def too_few(out, variant, *, ids, batch_size, seq_len, seed):
    raise ValueError("there are fewer than seq_len + 1 ids")


def x_alone(out, variant, *, ids, batch_size, seq_len, count, seed):
    """Which pieces are drawn is free."""


def learn(out, variant, *, ids, batch_size, seq_len, steps, lr, seed):
    """How fast it learns hangs on what is drawn."""
