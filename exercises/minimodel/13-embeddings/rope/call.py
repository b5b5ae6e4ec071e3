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


def again(learner, record, x, longer, wider, positions, base, grad, more_grad):
    """Other lengths, widths, positions and bases in between leave no trace."""
    leaf = learner.Tensor(x, requires_grad=True)
    first = learner.rope(leaf)
    record(first=first.data)
    record(other_base=learner.rope(leaf, None, base).data)
    record(longer=learner.rope(learner.Tensor(longer)).data)
    record(wider=learner.rope(learner.Tensor(wider)).data)
    moved = learner.rope(leaf, positions)
    record(moved=moved.data)
    record(first_again=learner.rope(leaf).data)
    first.backward(grad)
    moved.backward(more_grad)
    record(grad_x=leaf.grad)
