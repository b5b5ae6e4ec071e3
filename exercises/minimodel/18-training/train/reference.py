"""Gradient descent on a table of logits, written out in float64.

In the variant "accumulates" nothing is cleared: the gradient of every step is added to what the step
before has left (after clipping), and so is the first to what lay there at the start.
"""

import numpy as np

ACCUMULATES = "accumulates"


def loss_and_grads(table, bias, x, y):
    """Mean cross-entropy of logits table[x] + bias, and its gradients."""
    V = len(bias)
    logits = table[x] + bias
    logits = logits - logits.max(-1, keepdims=True)
    e = np.exp(logits)
    p = e / e.sum(-1, keepdims=True)
    right = np.eye(V)[y]
    loss = (np.log(e.sum(-1)) - (logits * right).sum(-1)).mean()
    back = ((p - right) / y.size).reshape(-1, V)
    rows = np.eye(V)[x].reshape(-1, V)
    return float(loss), [rows.T @ back, back.sum(0)]


def length(grads):
    return float(np.sqrt(sum((g**2).sum() for g in grads)))


class Run:
    """A model that is trained step by step; keeps losses and the gradients that were stepped with."""

    def __init__(self, variant, table, bias, lr, max_norm=None, stale=None):
        self.table, self.bias = table.copy(), bias.copy()
        self.variant, self.lr, self.max_norm = variant, lr, max_norm
        self.left = [np.zeros_like(table), np.zeros_like(bias)]
        if stale:
            self.left = loss_and_grads(table, bias, *stale)[1]
        self.losses, self.found = [], []

    def step(self, x, y):
        loss, grads = loss_and_grads(self.table, self.bias, x, y)
        if self.variant == ACCUMULATES:
            grads = [g + old for g, old in zip(grads, self.left)]
        if self.max_norm is not None and length(grads) > self.max_norm:
            grads = [g * self.max_norm / length(grads) for g in grads]
        self.left = grads
        self.table = self.table - self.lr * grads[0]
        self.bias = self.bias - self.lr * grads[1]
        self.losses.append(loss)
        self.found.append(grads)

    def beside(self, x, y):
        """Somebody else's gradient, which stays behind."""
        grads = loss_and_grads(self.table, self.bias, x, y)[1]
        self.left = [old + new for old, new in zip(self.left, grads)]


def recorded(out, run):
    out.record(steps=len(run.found))
    if run.max_norm is None or run.max_norm > 1e3:
        for name, grads in zip(("table", "bias"), zip(*run.found)):
            out.record(**{"grad_" + name: np.stack(grads, axis=-1)})
        out.record(table=run.table, bias=run.bias)
        return
    vectors = [np.concatenate([g.reshape(-1) for g in grads]) for grads in run.found]
    out.record(directions=np.stack([v / np.sqrt((v**2).sum()) for v in vectors]))
    near = (run.max_norm * (1 - 2e-3), run.max_norm * (1 + 1e-4))
    out.within(longest=near, shortest=near)


def step(
    out, variant, *, table, bias, x, y, stale_x, stale_y, without, spoiled, evaluating, lr, max_norm
):  # fmt: skip
    stale = None if stale_x is None else (stale_x, stale_y)
    run = Run(variant, table, bias, lr, max_norm, stale)
    if without:
        run.left[("table", "bias").index(without)][...] = 0.0
    run.step(x, y)
    out.record(loss=run.losses[0])
    recorded(out, run)


def steps(out, variant, *, table, bias, x, y, lr, max_norm):
    run = Run(variant, table, bias, lr, max_norm)
    for one_x, one_y in zip(x, y):
        run.step(one_x, one_y)
    out.record(losses=run.losses)
    recorded(out, run)


def apart(out, variant, *, table, bias, other_table, other_bias, new_table, x, y, lr):
    first, second = Run(variant, table, bias, lr), Run(variant, other_table, other_bias, lr)
    losses = []
    for n in range(2):
        first.step(x[n], y[n])
        second.step(x[n + 2], y[n + 2])
        losses += [first.losses[-1], second.losses[-1]]
    first.table = new_table.copy()
    first.step(x[2], y[2])
    out.record(losses=[*losses, first.losses[-1]], table=first.table, other_table=second.table)
    out.record(bias=first.bias, other_bias=second.bias)


def sharing(out, variant, *, table, bias, other_table, other_bias, x, y, lr):
    second = Run(variant, other_table, other_bias, lr)
    for one_x, one_y in zip(x[1:], y[1:]):
        second.step(one_x, one_y)
    out.record(losses=second.losses, table=second.table, bias=second.bias)


def one_window(
    out, variant, *, table, bias, ids, steps, batch_size, lr, watched, measuring, seed
):  # fmt: skip
    run = Run(variant, table, bias, lr)
    x, y = (np.stack([piece] * batch_size) for piece in (ids[:-1], ids[1:]))
    for _ in range(steps):
        run.step(x, y)
        if measuring:
            run.beside(ids[None, :-1], ids[None, :-1])
    told = steps if watched else 0
    out.record(losses=run.losses, told_steps=list(range(told)))
    out.record(told_losses=run.losses[:told], told_the_model=True, steps=steps)
    out.record(table=run.table, bias=run.bias)


def returned(out, variant, **inputs):
    out.record(step_is_a_float=True, losses_are_a_list=True)
    out.record(losses_are_floats=True, told_floats=True)


def drawn(out, variant, *, table, bias, ids, steps, batch_size, seq_len, lr, seed, other_seed):
    out.record(steps=steps, losses=steps, shapes=np.array([[batch_size, seq_len]] * steps))
    out.record(pieces=True, losses_are_those_of_the_pieces=True, batches_differ=True)
    out.record(same_seed_same_losses=True, other_seed_same_losses=False)


def still(out, variant, *, table, bias, x, y, steps):
    lengths = [float(n + 1) if variant == ACCUMULATES else 1.0 for n in range(steps)]
    out.record(lengths=lengths, last_length=lengths[-1], moved=0.0)


def two_batches(out, variant, *, table, bias, x, y, lr):
    rows = len(np.unique(x[1]))
    moved = len(np.unique(x)) if variant == ACCUMULATES else rows
    out.record(rows_in_the_batch=rows, rows_moved=moved)


def descent(out, variant, *, table, bias, x, y, lr, steps):
    run = Run(variant, table, bias, lr)
    for _ in range(steps):
        run.step(x, y)
    out.record(losses=run.losses)


def whole(out, variant, *, sizes, x, y, kind, lr, seed):
    """Both models are the learner's own: in any correct form they stay the same."""
    out.record(distance_losses=0.0, distance_parameters=0.0)


def containers(out, variant, *, table, bias, x, y, stale, lr, steps):
    run = Run(variant, table, bias, lr)
    for _ in range(steps):
        run.step(x, y)
        stray = loss_and_grads(run.table, run.bias, x, y)[1]
        run.left = [left + g for left, g in zip(run.left, stray)]
    unused = bias - steps * lr * stale if variant == ACCUMULATES else bias
    out.record(losses=run.losses, table=run.table, bias=run.bias, unused=unused)
    numbers, losses = [run.table, run.bias, np.zeros_like(bias)], []
    left = [*run.left, np.zeros_like(bias)]
    for _ in range(steps):
        loss, (g, h) = loss_and_grads(numbers[0], numbers[1] + numbers[2], x, y)
        grads = [g, h, h]
        if variant == ACCUMULATES:
            grads = [new + old for new, old in zip(grads, left)]
        numbers = [n - lr * g for n, g in zip(numbers, grads)]
        g, h = loss_and_grads(numbers[0], numbers[1] + numbers[2], x, y)[1]  # it strays in between
        left = [old + new for old, new in zip(grads, [g, h, h])]
        losses.append(loss)
    out.record(losses_grown=losses, table_grown=numbers[0], added=numbers[2])


def no_room(out, variant, *, table, bias, x, y, lr):
    out.offered(table=table, bias=bias)
