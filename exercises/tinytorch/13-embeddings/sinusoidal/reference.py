"""The table of sines and cosines, column by column.

Columns 2i and 2i + 1 are the imaginary and the real part of e^(i angle), with angle = pos * w_i. The
w_i fall geometrically, from 1 towards 1 / 10000. Variants: "doubled" lets them fall towards 1 / 10000^2;
"sines" has a sine in the odd columns as well.
"""

import numpy as np


def columns(d):
    """2i for every column: 0, 0, 2, 2, ..."""
    return np.arange(d) - np.arange(d) % 2


def rows(n, d, variant=None):
    """(n, d)"""
    times = 2 if variant == "doubled" else 1
    frequency = np.exp(-times * np.log(10000.0) * columns(d) / d)
    wave = np.exp(1j * np.multiply.outer(np.arange(n), frequency))
    even = np.arange(d) % 2 == 0
    return wave.imag if variant == "sines" else np.where(even, wave.imag, wave.real)


def table(out, variant, *, max_seq_len, embed_dim):
    out.record(is_a_tensor=True, trained=False, table=rows(max_seq_len, embed_dim, variant))
    position = np.arange(max_seq_len)
    out.name(positions=position, d=embed_dim, max_len=max_seq_len)
    kinds = {"pair": np.arange(0, embed_dim, 2), "column": columns(embed_dim)}
    for name, two_i in kinds.items():
        exponent = two_i / embed_dim
        divisor = 10000.0**exponent
        out.name(**{f"exponent_{name}": exponent, f"minus_exponent_{name}": -exponent})
        out.name(**{f"log_{name}": np.log(10000.0) * exponent})
        out.name(**{f"minus_log_{name}": -np.log(10000.0) * exponent})
        out.name(**{f"divisor_{name}": divisor, f"frequency_{name}": 1 / divisor})
        angle = np.multiply.outer(position, 1 / divisor)
        out.name(**{f"angle_{name}": angle, f"cos_{name}": np.cos(angle)})
    of_pairs = np.cos(np.multiply.outer(position, 10000.0 ** (-kinds["pair"] / embed_dim)))
    out.name(cosines=of_pairs[:, : embed_dim // 2])


def again(out, variant, *, max_seq_len, longer, embed_dim, wider):
    first = rows(max_seq_len, embed_dim, variant)
    out.record(first=first, longer=rows(longer, embed_dim, variant))
    out.record(wider=rows(max_seq_len, wider, variant), first_again=first)


def goes_on(out, variant, *, max_seq_len, longer, embed_dim):
    long = rows(longer, embed_dim, variant)
    out.record(begins_the_same=True, goes_on=long[max_seq_len:])
    out.record(step=np.sqrt(((long[1:] - long[:-1]) ** 2).sum(-1)), longest=longer)


def similar(out, variant, *, max_len, d_model):
    """The distance of two rows is that of points on d / 2 circles: 2 sin(angle / 2) on each."""
    table = rows(max_len, d_model, variant)
    out.record(first_row=table[0], squares_of_a_pair_add_to_1=variant != "sines")
    distance = np.sqrt(((table - table[0]) ** 2).sum(-1))
    out.record(distance=distance, near=distance[:128])
    nearest = 1 + int(np.argmin(distance[1:]))
    out.record(nearest=str(nearest), smallest=float(distance[nearest]))
    spread = table.max(0) - table.min(0)
    out.record(spread=spread, still_columns=int((spread < 0.01).sum()))


def turned(out, variant, *, max_seq_len, embed_dim):
    table = rows(max_seq_len, embed_dim, variant)
    product = (table[1:] * table[:-1]).sum(-1)
    out.record(product=product, smallest=float(product.min()), largest=float(product.max()))
    length = np.sqrt((table**2).sum(-1))
    out.record(length=length, first_length=float(length[0]))
    far = ((table - table[0]) ** 2).sum(-1)
    out.record(nearest=str(1 + int(np.argmin(far[1:]))))


def written(out, variant, *, max_len, d_model):
    out.record(next_one=rows(max_len, d_model, variant))
