"""Rows of a table as a picture: two directions of them, and who is near whom."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def pca(rows: Floats) -> Floats:
    """(n, d) -> (n, 2): the two directions in which the rows differ most (Pearson 1901).

    The sign of a direction is free; the largest component of each is made positive.
    """
    centred = rows - rows.mean(0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    first = np.zeros((2, rows.shape[1]))
    first[: min(2, len(directions))] = directions[:2]
    largest = np.abs(first).argmax(1)
    first *= np.where(first[[0, 1], largest] < 0, -1.0, 1.0)[:, None]
    plane: Floats = centred @ first.T
    return plane


def nearest(rows: Floats, of: int, count: int = 3) -> list[tuple[int, float]]:
    """The rows at the smallest angle to row `of`, with the cosine, nearest first."""
    norms = np.linalg.norm(rows, axis=1)
    with np.errstate(all="ignore"):
        cosines = np.nan_to_num(rows @ rows[of] / (norms * norms[of]), nan=-1.0)
    order = [int(i) for i in np.argsort(-cosines, kind="stable") if i != of]
    return [(i, float(cosines[i])) for i in order[:count]]
