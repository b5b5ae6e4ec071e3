"""Runs the learner's rope."""

import numpy as np


def forward(learner, record, x, positions, base, grad):
    """x, grad: (..., T, d), positions: (T,) or None. Values, then the gradient of sum(values * grad)."""
    leaf = learner.Tensor(x, requires_grad=True)
    named = {"positions": positions, "base": base}
    turned = learner.rope(leaf, **{name: v for name, v in named.items() if v is not None})
    record(turned=turned.data)
    turned.backward(grad)
    record(grad_x=leaf.grad)


def relative(learner, record, q, k, positions, shift):
    """One query and one key, put at every position: how well do they match, for each pair (T, T)?"""

    def turned(row, where):
        rows = np.broadcast_to(row, (len(where), len(row))).copy()  # (T, d)
        return learner.rope(learner.Tensor(rows), where).data

    record(scores=turned(q, positions) @ turned(k, positions).T)
    record(scores_shifted=turned(q, positions + shift) @ turned(k, positions + shift).T)
    record(length=np.sqrt((turned(q, positions) ** 2).sum(-1)))


def looks_back(learner, record, d, T, back, shift):
    """A head that looks `back` positions back: its query and its key fit best at that distance.

    Both were made for pairs of columns (2i, 2i + 1): the key is (1, 0) in every pair, and the query
    is the key, turned back by as much as a pair turns in `back` steps.
    """
    speed = 10000.0 ** (-np.arange(0, d, 2) / d)
    key, query = np.zeros(d), np.zeros(d)
    key[0::2] = 1.0
    query[0::2], query[1::2] = np.cos(back * speed), -np.sin(back * speed)
    dtype = learner.Embedding(5, 3).weight.data.dtype

    def scores(last):
        """The query at position `last`, the key there and at the T - 1 positions before."""
        where = last - np.arange(T)
        keys = learner.rope(learner.Tensor(np.tile(key.astype(dtype), (T, 1))), where).data
        found = learner.rope(learner.Tensor(query[None].astype(dtype)), np.array([last])).data
        return keys @ found[0]  # (T,), by distance

    here = scores(T - 1)
    best = int(np.argmax(here))
    record(scores=here, score=float(here[back]), best=best)
    record(peak="there" if best == back else "elsewhere")
    moved = float(np.abs(scores(T - 1 + shift) - here).max())
    record(shifting_everything_changes="nothing" if moved < 1e-3 else "the scores")


def one_column(learner, record, d):
    """Column 0 alone is 1: into which columns is it turned at position 1?"""
    first = np.zeros((1, d), learner.Embedding(5, 3).weight.data.dtype)
    first[0, 0] = 1.0
    into = np.flatnonzero(learner.rope(learner.Tensor(first), np.array([1])).data[0])
    record(column_0_into=" ".join(str(column) for column in into))


def again(learner, record, x, longer, wider, growing, firsts, positions, base, grad, more_grad):
    """Other lengths, widths, positions and bases in between leave no trace."""
    leaf = learner.Tensor(x, requires_grad=True)
    first = learner.rope(leaf)
    record(first=first.data)
    record(other_base=learner.rope(leaf, None, base).data)
    record(next_base=learner.rope(leaf, None, base + 0.5).data)
    last = x.ndim - 1
    across = learner.Tensor(np.ascontiguousarray(x.swapaxes(-1, -2))).transpose(last - 1, last)
    record(first_across=learner.rope(across).data)
    record(longer=learner.rope(learner.Tensor(longer)).data)
    record(wider=learner.rope(learner.Tensor(wider)).data)
    for i, T in enumerate(firsts):
        record(**{f"{i}_first_{T}": learner.rope(learner.Tensor(growing[:T])).data})
    moved = learner.rope(leaf, positions)
    record(moved=moved.data)
    inside = slice(1, -1)  # between the same ends, in another order, then others
    for name, change in (("reordered", lambda p: p[::-1]), ("shifted", lambda p: p + 1)):
        others = positions.copy()
        others[inside] = change(positions[inside])
        record(**{name: learner.rope(leaf, others).data})
    record(first_again=learner.rope(leaf).data)
    first.backward(grad)
    moved.backward(more_grad)
    record(grad_x=leaf.grad)


def residual(learner, record, x, positions, grad):
    """x + rope(x): x is used twice, and both gradients reach it."""
    leaf = learner.Tensor(x, requires_grad=True)
    total = leaf + learner.rope(leaf, positions)
    record(total=total.data)
    total.backward(grad)
    record(grad_x=leaf.grad)
    for side in ("left", "right", "both"):  # the gradient is one array for both terms at first
        mine, other = (learner.Tensor(x, requires_grad=True) for _ in range(2))
        y = learner.rope(mine, positions)
        z = learner.rope(other, positions) if side == "both" else other
        total = z + y if side == "right" else y + z
        (total * learner.Tensor(grad)).sum().backward()
        record(**{f"grad_{side}": mine.grad, f"grad_beside_{side}": other.grad})


def fractions(learner, record, x, positions):
    """Positions (T,) between the integers, where they are taken at all."""
    try:
        turned = learner.rope(learner.Tensor(x), positions).data
    except Exception as error:  # of any kind: nobody says that they must be
        turned = type(error).__name__
    record(turned=turned)
