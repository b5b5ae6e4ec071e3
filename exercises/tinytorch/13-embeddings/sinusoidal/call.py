"""Runs the learner's create_sinusoidal_embeddings."""

import numpy as np


def rows_of(learner, max_seq_len, embed_dim):
    """The table as an array."""
    return learner.create_sinusoidal_embeddings(max_seq_len, embed_dim).data


def table(learner, record, max_seq_len, embed_dim):
    rows = learner.create_sinusoidal_embeddings(max_seq_len, embed_dim)
    record(is_a_tensor=isinstance(rows, learner.Tensor), trained=bool(rows.requires_grad))
    record(table=rows.data)


def again(learner, record, max_seq_len, longer, embed_dim, wider):
    """Other lengths and widths in between leave no trace."""
    record(first=rows_of(learner, max_seq_len, embed_dim))
    record(longer=rows_of(learner, longer, embed_dim))
    record(wider=rows_of(learner, max_seq_len, wider))
    record(first_again=rows_of(learner, max_seq_len, embed_dim))


def goes_on(learner, record, max_seq_len, longer, embed_dim):
    """A longer table begins as the short one, and goes on in the same way."""
    short = rows_of(learner, max_seq_len, embed_dim)
    long = rows_of(learner, longer, embed_dim)
    record(begins_the_same=bool(np.abs(long[:max_seq_len] - short).max() < 1e-5))
    record(goes_on=long[max_seq_len:])
    step = np.sqrt(((long[1:] - long[:-1]) ** 2).sum(-1))  # from each row to the next
    record(step=step, longest=len(long))


def similar(learner, record, max_len, d_model):
    """How far is each position's row from the row of position 0? How much does each column move?"""
    rows = rows_of(learner, max_len, d_model)
    record(first_row=rows[0])
    pairs = rows.reshape(max_len, -1, 2)  # d_model is even here
    record(squares_of_a_pair_add_to_1=bool(np.abs((pairs**2).sum(-1) - 1).max() < 1e-5))
    distance = np.sqrt(((rows - rows[0]) ** 2).sum(-1))  # (max_len,)
    record(distance=distance, near=distance[:128])
    nearest = 1 + int(np.argmin(distance[1:]))
    record(nearest=str(nearest), smallest=float(distance[nearest]))
    spread = rows.max(0) - rows.min(0)  # (d_model,)
    record(spread=spread, still_columns=int((spread < 0.01).sum()))


def turned(learner, record, max_seq_len, embed_dim):
    """Is a step the same rotation everywhere? The product of neighbours, for each position."""
    rows = rows_of(learner, max_seq_len, embed_dim).astype(np.float64)
    product = (rows[1:] * rows[:-1]).sum(-1)
    record(product=product, smallest=float(product.min()), largest=float(product.max()))
    record(length=np.sqrt((rows**2).sum(-1)), first_length=float(np.sqrt((rows[0] ** 2).sum())))
    far = ((rows - rows[0]) ** 2).sum(-1)
    record(nearest=str(1 + int(np.argmin(far[1:]))))


def written(learner, record, max_len, d_model):
    """Whoever gets a table may write into it: the next one that is asked for is as it should be."""
    mine = rows_of(learner, max_len, d_model)
    if mine.flags.writeable:
        mine += 1.0
    record(next_one=rows_of(learner, max_len, d_model))
