"""Runs the learner's sinusoidal."""

import numpy as np


def table(learner, record, max_len, d_model):
    rows = learner.sinusoidal(max_len, d_model)
    record(is_an_array=type(rows) is np.ndarray)
    record(table=rows)


def again(learner, record, max_len, longer, d_model, wider):
    """Other lengths and widths in between leave no trace."""
    record(first=learner.sinusoidal(max_len, d_model))
    record(longer=learner.sinusoidal(longer, d_model))
    record(wider=learner.sinusoidal(max_len, wider))
    record(first_again=learner.sinusoidal(max_len, d_model))


def written(learner, record, max_len, d_model):
    """Whoever gets a table may write into it: the next one that is asked for is as it should be. One that
    cannot be written to is right as well.
    """
    mine = learner.sinusoidal(max_len, d_model)
    if mine.flags.writeable:
        mine += 1.0
    record(next_one=learner.sinusoidal(max_len, d_model))


def similar(learner, record, max_len, d_model):
    """How far is each position's row from the row of position 0? How much does each column move?"""
    rows = learner.sinusoidal(max_len, d_model)
    record(first_row=rows[0])
    pairs = rows.reshape(max_len, -1, 2)  # d_model is even here
    record(squares_of_a_pair_add_to_1=bool(np.abs((pairs**2).sum(-1) - 1).max() < 1e-5))
    distance = np.sqrt(((rows - rows[0]) ** 2).sum(-1))  # (max_len,)
    record(distance=distance, near=distance[:128])
    nearest = 1 + int(np.argmin(distance[1:]))
    record(nearest=str(nearest), smallest=float(distance[nearest]))
    spread = rows.max(0) - rows.min(0)  # (d_model,)
    record(spread=spread, still_columns=int((spread < 0.01).sum()))
