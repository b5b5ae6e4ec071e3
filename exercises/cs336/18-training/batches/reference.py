"""Which starts are drawn is free; what is measured is where the pieces come from, and how often.

Variants: "not_shifted" gives x twice; "beyond" draws starts from the whole dataset.
"""

import math

import numpy as np


def recorded(out, variant, batch_size, context_length):
    shape, later = [batch_size, context_length], 0 if variant == "not_shifted" else 1
    out.record(x_shape=shape, y_shape=shape, rows_of_x_that_are_no_piece=0, y_is_later_by=[later])


def pieces(out, variant, *, dataset, batch_size, context_length, kind):
    recorded(out, variant, batch_size, context_length)
    out.record(rows_from_the_same_start=False, x_dtype="torch.int64", y_dtype="torch.int64")


def starts(out, variant, *, dataset, batch_size, context_length, calls, seed):
    n = len(dataset) - context_length
    out.record(first_start=0, last_start=n - 1)
    rows = calls // 4 * batch_size
    mean, spread = rows / n, math.sqrt(rows / n * (1 - 1 / n))
    bounds = (mean - 6 * spread, mean + 6 * spread)
    out.within(rarest_start_comes_up=bounds, most_frequent_start_comes_up=bounds)
    out.name(starts=float(n), tokens=float(len(dataset)), length=float(context_length))


def one_start(out, variant, *, dataset, batch_size, context_length):
    recorded(out, variant, batch_size, context_length)
    out.record(rows_from_the_same_start=True)
    tokens = dataset.astype(np.float64)
    x, y = (np.stack([tokens[a : a + context_length]] * batch_size) for a in (0, 1))
    out.name(x=x, y=y, x_row=x[0], y_row=y[0])
    places = np.arange(context_length, dtype=np.float64)
    out.name(places=np.stack([places] * batch_size), later=np.stack([places + 1] * batch_size))


def device(out, variant, *, dataset, batch_size, context_length):
    out.record(cuda_99="refused by PyTorch", device_of_x="cpu", device_of_y="cpu")


def file(out, variant, *, dataset, batch_size, context_length):
    recorded(out, variant, batch_size, context_length)


def crashes(out, variant, *, dataset, batch_size, context_length, calls, seed):
    if variant != "beyond":
        out.record(calls_that_raise=0, share=0.0)
        return
    chance = 1 - (1 - context_length / len(dataset)) ** batch_size
    spread = 5 * math.sqrt(calls * chance * (1 - chance)) + 1
    low, high = max(1.0, calls * chance - spread), min(calls, calls * chance + spread)
    out.within(calls_that_raise=(low, high), share=(low / calls, high / calls))


def learn(out, variant, **_):
    """Nothing is judged by it: it draws by lot."""
