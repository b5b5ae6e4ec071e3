"""Which starts are drawn is free; what is measured is where the pieces come from, and how often."""

import math


def recorded(out, batch_size, context_length):
    shape = [batch_size, context_length]
    out.record(x_shape=shape, y_shape=shape, rows_of_x_that_are_no_piece=0, y_is_later_by=[1])


def pieces(out, variant, *, dataset, batch_size, context_length, kind):
    recorded(out, batch_size, context_length)
    out.record(rows_from_the_same_start=False, x_dtype="torch.int64", y_dtype="torch.int64")


def starts(out, variant, *, dataset, batch_size, context_length, calls, seed):
    n = len(dataset) - context_length
    out.record(first_start=0, last_start=n - 1)
    rows = calls // 4 * batch_size
    mean, spread = rows / n, math.sqrt(rows / n * (1 - 1 / n))
    bounds = (mean - 6 * spread, mean + 6 * spread)
    out.within(rarest_start_comes_up=bounds, most_frequent_start_comes_up=bounds)


def one_start(out, variant, *, dataset, batch_size, context_length):
    recorded(out, batch_size, context_length)
    out.record(rows_from_the_same_start=True)


def device(out, variant, *, dataset, batch_size, context_length):
    out.record(cuda_99="refused by PyTorch", device_of_x="cpu", device_of_y="cpu")


def file(out, variant, *, dataset, batch_size, context_length):
    recorded(out, batch_size, context_length)
