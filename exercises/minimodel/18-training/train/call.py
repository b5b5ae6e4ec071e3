"""Runs the learner's train_step and train on a table of logits: the smallest language model.

The model is made of the learner's Module, Parameter and Tensor; the optimiser is plain descent, and
keeps what it is given. So nothing here stands on MiniGPT, SGD or AdamW.
"""

from types import SimpleNamespace

import numpy as np


def table_model(learner, table, bias):
    """logits = table[x] + bias, with table (V, V) and bias (V,); each forward is remembered."""

    class Table(learner.Module):
        def __init__(self):
            super().__init__()
            self.table = learner.Parameter(np.array(table))
            self.bias = learner.Parameter(np.array(bias))
            self.config = SimpleNamespace(context_len=1 << 20, vocab_size=len(bias))
            self.seen = None

        def forward(self, token_ids):
            token_ids = np.asarray(token_ids)
            self.seen = (token_ids.copy(), self.table.data.copy(), self.bias.data.copy())
            rows = np.eye(len(bias), dtype=bias.dtype)[token_ids]  # (..., V), one-hot
            return learner.Tensor(rows) @ self.table + self.bias

    return Table()


class Descent:
    """p -= lr * p.grad, for the parameters of one model and of others. What each step found is kept."""

    def __init__(self, model, lr, *others):
        self.model, self.others = model, others
        self.params = [p for each in (model, *others) for p in (each.table, each.bias)]
        self.lr = lr
        self.found = []  # at each step: the gradients of table and bias, of each model
        self.seen = []  # and what the model had seen last

    def zero_grad(self):
        for each in (self.model, *self.others):
            each.zero_grad()

    def step(self):
        self.found.append([None if p.grad is None else p.grad.copy() for p in self.params])
        self.seen.append(self.model.seen)
        for p in self.params:
            if p.grad is not None:
                p.data[...] = p.data - self.lr * p.grad


def made(learner, table, bias, lr):
    model = table_model(learner, table, bias)
    return model, Descent(model, lr)


def flat(grads):
    """The gradients of one step as one vector in float64."""
    return np.concatenate([np.asarray(g, dtype=np.float64).reshape(-1) for g in grads])


def length_of(grads):
    return float(np.sqrt((flat(grads) ** 2).sum()))


def direction_of(grads):
    """Of unit length, in the dtype of the gradients."""
    return (flat(grads) / length_of(grads)).astype(grads[0].dtype)


def recorded(record, model, optimizer, max_norm):
    """What the steps found and what they left. Clipped lengths are free in their last digits."""
    record(steps=len(optimizer.found))
    if max_norm is None or max_norm > 1e3:
        for name, grads in zip(("table", "bias"), zip(*optimizer.found)):
            there = all(grad is not None for grad in grads)
            record(**{"grad_" + name: np.stack(grads, axis=-1) if there else None})  # (..., steps)
        record(table=model.table.data, bias=model.bias.data)
    else:
        record(directions=np.stack([direction_of(grads) for grads in optimizer.found]))
        record(longest=max(map(length_of, optimizer.found)))
        record(shortest=min(map(length_of, optimizer.found)))


def number(value):
    """The number, however it comes: as a float, NumPy's, an array's or a Tensor's. See `returned`."""
    try:
        return float(np.asarray(value.data if hasattr(value, "backward") else value).reshape(()))
    except (TypeError, ValueError):
        return value


def settings(max_norm):
    return {} if max_norm is None else {"max_norm": max_norm}


def step(
    learner, record, table, bias, x, y, stale_x, stale_y, without, spoiled, evaluating, lr, max_norm
):
    """One step on x, y (B, T). With stale_x, a gradient of another batch is there already, but in the
    parameter `without`; spoiled, it has overflowed. evaluating: in the mode that changes nothing here.
    """
    model, optimizer = made(learner, table, bias, lr)
    if stale_x is not None:
        learner.cross_entropy(model(stale_x), stale_y).backward()
    if without:
        getattr(model, without).grad = None
    if spoiled:
        model.table.grad[...] = np.inf
        model.bias.grad[...] = np.nan
    if evaluating:
        model.eval()
    loss = learner.train_step(model, x, y, optimizer, **settings(max_norm))
    record(loss=number(loss))
    recorded(record, model, optimizer, max_norm)


def steps(learner, record, table, bias, x, y, lr, max_norm):
    """One step after the other. x, y: (steps, B, T)."""
    model, optimizer = made(learner, table, bias, lr)
    losses = []
    for one_x, one_y in zip(x, y):
        loss = learner.train_step(model, one_x, one_y, optimizer, **settings(max_norm))
        losses.append(number(loss))
    record(losses=losses)
    recorded(record, model, optimizer, max_norm)


def apart(learner, record, table, bias, other_table, other_bias, new_table, x, y, lr):
    """Two models take turns, two steps each. Then the first gets a new table, and goes on."""
    first, descent = made(learner, table, bias, lr)
    second, other_descent = made(learner, other_table, other_bias, lr)
    losses = []
    for n in range(2):
        losses.append(number(learner.train_step(first, x[n], y[n], descent)))
        losses.append(number(learner.train_step(second, x[n + 2], y[n + 2], other_descent)))
    first.table.data[...] = new_table
    losses.append(number(learner.train_step(first, x[2], y[2], descent)))
    record(losses=losses, table=first.table.data, other_table=second.table.data)
    record(bias=first.bias.data, other_bias=second.bias.data)


def sharing(learner, record, table, bias, other_table, other_bias, x, y, lr):
    """One optimiser for two models: a step of the first, then all of the second, of which alone is told:
    whether a step clears what is not its model's is open.
    """
    first, second = table_model(learner, table, bias), table_model(learner, other_table, other_bias)
    optimizer = Descent(first, lr, second)
    learner.train_step(first, x[0], y[0], optimizer)
    losses = [number(learner.train_step(second, *xy, optimizer)) for xy in zip(x[1:], y[1:])]
    record(losses=losses, table=second.table.data, bias=second.bias.data)


def trained(learner, table, bias, ids, lr, seed, **arguments):
    model, optimizer = made(learner, table, bias, lr)
    rng = np.random.default_rng(seed)
    losses = learner.train(model, ids, optimizer=optimizer, rng=rng, **arguments)
    return model, optimizer, [number(loss) for loss in losses]


def one_window(learner, record, table, bias, ids, steps, batch_size, lr, watched, measuring, seed):
    """`train` on ids (T + 1,): every batch is the same. What on_step is told, if there is one; measuring:
    it follows a loss of its own back through the model.
    """
    told = []
    arguments = {"steps": steps, "batch_size": batch_size, "seq_len": len(ids) - 1}

    def tell(step, loss, model):
        told.append((step, loss, model))
        if measuring:
            learner.cross_entropy(model(ids[None, :-1]), ids[None, :-1]).backward()

    if watched:
        arguments["on_step"] = tell
    model, optimizer, losses = trained(learner, table, bias, ids, lr, seed, **arguments)
    record(losses=losses, told_steps=[int(step) for step, _, _ in told])
    record(told_losses=[number(loss) for _, loss, _ in told])
    record(told_the_model=all(one is model for _, _, one in told))
    record(steps=len(optimizer.found), table=model.table.data, bias=model.bias.data)


def returned(learner, record, table, bias, x, y, ids, lr, seed):
    """What train_step returns, what train returns, and what on_step is told: floats."""
    model, optimizer = made(learner, table, bias, lr)
    record(step_is_a_float=isinstance(learner.train_step(model, x, y, optimizer), float))
    model, optimizer = made(learner, table, bias, lr)
    told = []
    losses = learner.train(
        model, ids, steps=2, batch_size=2, seq_len=len(ids) - 1, optimizer=optimizer,
        rng=np.random.default_rng(seed), on_step=lambda step, loss, model: told.append(loss),
    )  # fmt: skip
    record(losses_are_a_list=isinstance(losses, list))
    record(losses_are_floats=all(isinstance(loss, float) for loss in losses))
    record(told_floats=all(isinstance(loss, float) for loss in told))


def loss_of(table, bias, x, y):
    """Mean cross-entropy in float64."""
    logits = (table[x] + bias).astype(np.float64)
    logits -= logits.max(-1, keepdims=True)
    right = np.take_along_axis(logits, y[..., None], -1)[..., 0]
    return float((np.log(np.exp(logits).sum(-1)) - right).mean())


def drawn(learner, record, table, bias, ids, steps, batch_size, seq_len, lr, seed, other_seed):
    """`train` on ids (V,), each of which occurs once. Pieces are free, what is made of them is not."""
    arguments = {"steps": steps, "batch_size": batch_size, "seq_len": seq_len}
    _, optimizer, losses = trained(learner, table, bias, ids, lr, seed, **arguments)
    place = np.argsort(ids)
    pieces = True
    shapes, fits, starts = [], [], []
    rough = 1e-3 if table.dtype == np.float32 else 1e-7
    for loss, (x, at_table, at_bias) in zip(losses, optimizer.seen):
        at = place[x]
        shapes.append(x.shape)
        pieces &= bool((np.diff(at, axis=-1) == 1).all() and (at[:, 0] + seq_len < len(ids)).all())
        wanted = loss_of(at_table, at_bias, x, ids[np.minimum(at + 1, len(ids) - 1)])
        fits.append(abs(loss - wanted) <= rough * (1 + wanted))
        starts.append(at[:, 0].tolist())
    record(steps=len(optimizer.found), losses=len(losses))
    record(shapes=np.array(shapes), pieces=pieces)
    record(losses_are_those_of_the_pieces=all(fits))
    record(batches_differ=any(one != starts[0] for one in starts))
    again = trained(learner, table, bias, ids, lr, seed, **arguments)[2]
    other = trained(learner, table, bias, ids, lr, other_seed, **arguments)[2]
    record(same_seed_same_losses=losses == again, other_seed_same_losses=losses == other)


def distance(got, wanted):
    """The largest difference in units of the largest number wanted, rounded to what rounding leaves."""
    apart = max(float(np.abs(g - w).max()) for g, w in zip(got, wanted))
    largest = max(float(np.abs(w).max()) for w in wanted)
    return round(apart / largest, 3 if wanted[0].dtype == np.float32 else 8)


class PlainDescent:
    """p -= lr * p.grad for all parameters of a model."""

    def __init__(self, model, lr):
        self.params, self.lr = list(model.parameters()), lr

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        for p in self.params:
            if p.grad is not None:
                p.data[...] = p.data - self.lr * p.grad


def optimizer_of(learner, kind, model, lr):
    """Plain descent, or one of the learner's that keeps something from step to step."""
    if kind == "sgd":
        return learner.SGD(list(model.parameters()), lr, 0.9)
    if kind == "adamw":
        return learner.AdamW(list(model.parameters()), lr=lr)
    return PlainDescent(model, lr)


def whole(learner, record, sizes, x, y, kind, lr, seed):
    """train_step on MiniGPT beside the same steps made here, after eval(), as there may be dropout in it.
    x, y: (steps, B, T).
    """
    config = learner.MiniGPTConfig(**sizes)
    model, other = (learner.MiniGPT(config, rng=np.random.default_rng(seed)) for _ in range(2))
    model.eval()
    other.eval()
    optimizer, by_hand = (optimizer_of(learner, kind, m, lr) for m in (model, other))
    losses, wanted = [], []
    for one_x, one_y in zip(x, y):
        losses.append(number(learner.train_step(model, one_x, one_y, optimizer)))
        other.zero_grad()
        loss = learner.cross_entropy(other(one_x), one_y)
        loss.backward()
        by_hand.step()
        wanted.append(float(loss.data))
    left, right = ([p.data for p in m.parameters()] for m in (model, other))
    losses, wanted = (np.array(those, left[0].dtype) for those in (losses, wanted))
    record(distance_losses=distance([losses], [wanted]))
    record(distance_parameters=distance(left, right))


def still(learner, record, table, bias, x, y, steps):
    """The same batch in every step, with lr = 0. How long is the gradient that each step finds?"""
    model, optimizer = made(learner, table, bias, 0.0)
    for _ in range(steps):
        learner.train_step(model, x, y, optimizer)
    first = length_of(optimizer.found[0])
    lengths = [length_of(grads) / first for grads in optimizer.found]
    record(
        lengths=lengths,
        last_length=lengths[-1],
        moved=float(np.abs(model.table.data - table).max()),
    )


def two_batches(learner, record, table, bias, x, y, lr):
    """x (2, B, T): two batches that share no id. Which rows of the table does the second step move?"""
    model, optimizer = made(learner, table, bias, lr)
    learner.train_step(model, x[0], y[0], optimizer)
    before = model.table.data.copy()
    learner.train_step(model, x[1], y[1], optimizer)
    moved = np.abs(model.table.data - before).max(-1) > 1e-9
    record(rows_in_the_batch=len(np.unique(x[1])), rows_moved=int(moved.sum()))


def descent(learner, record, table, bias, x, y, lr, steps):
    """The same batch in every step: the loss of each."""
    model, optimizer = made(learner, table, bias, lr)
    losses = [number(learner.train_step(model, x, y, optimizer)) for _ in range(steps)]
    lowest = min(losses)
    after = losses[losses.index(lowest) :]  # from the lowest point on
    back = (max(after) - lowest) / (losses[0] - lowest)  # how much of the way down it climbs again
    record(losses=losses, lowest=lowest, last_loss=losses[-1], climbs_back=back)
    rises = [step for step in range(steps - 1) if losses[step + 1] > losses[step]]
    bottom = rises[0] if rises else steps - 1  # where the loss first turns up again
    record(bottom_at=bottom, bottom=losses[bottom], back_up=max(losses[bottom:]))
    record(course="settles" if back < 0.1 else "returns" if back < 1.5 else "runs_away")


def containers(learner, record, table, bias, x, y, stale, lr, steps):
    """Several steps on one batch; the model holds its parameters in a list and in a dict, and one that
    it never uses, in which an old gradient lies. What is differentiated between two steps belongs to
    neither. Then the list gets another bias, and it all goes on with a new optimiser.
    """

    class Held(learner.Module):
        def __init__(self):
            super().__init__()
            self.listed = [learner.Parameter(np.array(table))]
            self.named = {"bias": learner.Parameter(np.array(bias))}
            self.unused = learner.Parameter(np.array(bias))
            self.config = SimpleNamespace(context_len=1 << 20, vocab_size=len(bias))

        def forward(self, token_ids):
            rows = np.eye(len(bias), dtype=bias.dtype)[np.asarray(token_ids)]
            logits = learner.Tensor(rows) @ self.listed[0] + self.named["bias"]
            return logits + self.listed[1] if len(self.listed) > 1 else logits

    model = Held()
    model.unused.grad = np.array(stale)
    optimizer = PlainDescent(model, lr)
    losses = []
    for _ in range(steps):
        losses.append(number(learner.train_step(model, x, y, optimizer)))
        learner.cross_entropy(model(x), y).backward()
    record(losses=losses, table=model.listed[0].data, bias=model.named["bias"].data)
    record(unused=model.unused.data)
    model.listed.append(learner.Parameter(np.zeros_like(bias)))
    optimizer, losses = PlainDescent(model, lr), []
    for _ in range(steps):
        losses.append(number(learner.train_step(model, x, y, optimizer)))
        learner.cross_entropy(model(x), y).backward()
    record(losses_grown=losses, table_grown=model.listed[0].data, added=model.listed[1].data)


def no_room(learner, record, table, bias, x, y, lr):
    """max_norm 0.0: gradients of length 0 move nothing. Whoever refuses it says so."""
    model, optimizer = made(learner, table, bias, lr)
    try:
        learner.train_step(model, x, y, optimizer, max_norm=0.0)
        found = {"table": model.table.data, "bias": model.bias.data}
    except Exception as error:  # of any kind: the contract does not say that 0 is a limit
        found = dict.fromkeys(("table", "bias"), type(error).__name__)
    record(**found)
