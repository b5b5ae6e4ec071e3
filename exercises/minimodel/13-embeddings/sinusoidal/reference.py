"""The table of sines and cosines, column by column; and the bug that doubles the exponent.

Columns 2i and 2i + 1 are the imaginary and the real part of e^(i angle), with angle = pos * w_i. The
w_i fall geometrically, from 1 towards 1 / 10000. Variant "doubled": towards 1 / 10000^2.
"""

import numpy as np


def columns(d_model):
    """2i for every column: 0, 0, 2, 2, ..."""
    return np.arange(d_model) - np.arange(d_model) % 2


def rows(max_len, d_model, variant=None):
    """(max_len, d_model)"""
    times = 2 if variant == "doubled" else 1
    frequency = np.exp(-times * np.log(10000.0) * columns(d_model) / d_model)
    wave = np.exp(1j * np.multiply.outer(np.arange(max_len), frequency))
    return np.where(np.arange(d_model) % 2 == 0, wave.imag, wave.real)


def table(out, variant, *, max_len, d_model):
    out.record(is_an_array=True, table=rows(max_len, d_model, variant))
    position = np.arange(max_len)
    out.name(positions=position, d=d_model, max_len=max_len)
    for name, two_i in {"pair": np.arange(0, d_model, 2), "column": columns(d_model)}.items():
        exponent = two_i / d_model
        divisor = 10000.0**exponent
        out.name(**{f"two_i_{name}": two_i, f"i_{name}": two_i // 2})
        out.name(**{f"exponent_{name}": exponent, f"minus_exponent_{name}": -exponent})
        out.name(**{f"log_{name}": np.log(10000.0) * exponent})
        out.name(**{f"minus_log_{name}": -np.log(10000.0) * exponent})
        out.name(**{f"divisor_{name}": divisor, f"frequency_{name}": 1 / divisor})
        out.name(**{f"angle_{name}": np.multiply.outer(position, 1 / divisor)})


def again(out, variant, *, max_len, longer, d_model, wider):
    out.record(first=rows(max_len, d_model, variant), longer=rows(longer, d_model, variant))
    out.record(wider=rows(max_len, wider, variant), first_again=rows(max_len, d_model, variant))


def similar(out, variant, *, max_len, d_model):
    """The distance of two rows is that of points on d / 2 circles: 2 sin(angle / 2) on each."""
    table = rows(max_len, d_model, variant)
    out.record(first_row=np.arange(d_model) % 2.0, squares_of_a_pair_add_to_1=True)
    distance = np.sqrt(((table - table[0]) ** 2).sum(-1))
    out.record(distance=distance, near=distance[:128])
    nearest = 1 + int(np.argmin(distance[1:]))
    out.record(nearest=str(nearest), smallest=float(distance[nearest]))
    spread = table.max(0) - table.min(0)
    out.record(spread=spread, still_columns=int((spread < 0.01).sum()))


def written(out, variant, *, max_len, d_model):
    out.record(next_one=rows(max_len, d_model, variant))
