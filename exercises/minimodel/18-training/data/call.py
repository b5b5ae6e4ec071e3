"""Runs the learner's `batches`. What is drawn is free; what may be drawn is not."""

import itertools

import numpy as np


def drawn(learner, ids, batch_size, seq_len, count, seed):
    """The first `count` batches, each copied before the next is asked for."""
    stream = learner.batches(ids, batch_size, seq_len, rng=np.random.default_rng(seed))
    return [(np.array(x), np.array(y)) for x, y in itertools.islice(stream, count)]


def places(ids, batch):
    """The place in `ids` (n,), all different, of each number of a batch; -1 for one that is not there."""
    order = np.argsort(ids)
    at = np.minimum(np.searchsorted(ids, batch, sorter=order), len(ids) - 1)
    return np.where(ids[order[at]] == batch, order[at], -1)


def windows(learner, record, ids, batch_size, seq_len, count, seed):
    """ids (n,), all different, so that each number of a batch tells where it was cut."""
    found = drawn(learner, ids, batch_size, seq_len, count, seed)
    record(batches=len(found))
    record(x_shapes=np.array([x.shape for x, _ in found]))
    record(y_shapes=np.array([y.shape for _, y in found]))
    record(integers=all(part.dtype.kind in "iu" for pair in found for part in pair))
    pieces, shifts = True, set()
    for x, y in found:
        at, then = places(ids, x), places(ids, y)
        pieces &= bool((at >= 0).all() and (np.diff(at, axis=1) == 1).all())
        pieces &= bool((at[:, 0] + seq_len < len(ids)).all())
        shifts |= set((then - at).ravel().tolist())
    record(x_is_cut_from_ids=pieces)
    record(y_is_later_by=shifts.pop() if len(shifts) == 1 else "not the same everywhere")


def one_window(learner, record, ids, batch_size, seq_len, seed):
    """ids (seq_len + 1,): one piece, and no other, can be drawn."""
    for name, (x, y) in zip(("", "_again"), drawn(learner, ids, batch_size, seq_len, 2, seed)):
        record(**{"x" + name: x, "y" + name: y})


def starts(learner, record, ids, batch_size, seq_len, count, seed):
    """Which starts are drawn, sooner or later? ids (n,), all different."""
    found = [places(ids, x)[:, 0] for x, _ in drawn(learner, ids, batch_size, seq_len, count, seed)]
    record(seen=np.unique(np.concatenate(found)))
    record(rows_differ=any(len(set(at.tolist())) > 1 for at in found))
    record(batches_differ=any((at != found[0]).any() for at in found))


def endless(learner, record, n, count, seed):
    """How many batches come of so many that are asked for?"""
    stream = learner.batches(np.arange(n), 1, 1, rng=np.random.default_rng(seed))
    record(batches=sum(1 for _ in itertools.islice(stream, count)))


def reaches(learner, record, n, kind, batch_size, seq_len, count, seed):
    """Does a start lie in the first tenth of a long text, and one in the last? 450 starts miss one of
    them once in 10^20 times. kind: of the ids, which grow with their place, as far as they can; where
    they are their places, starts leave every remainder (450 of them miss one of eight as seldom).
    """
    most = min(n, np.iinfo(kind).max)
    ids = (np.arange(n) * most // n).astype(kind)
    at = np.array([x[:, 0] for x, _ in drawn(learner, ids, batch_size, seq_len, count, seed)])
    record(first_tenth=bool(at.min() / most < 0.1), last_tenth=bool(at.max() / most > 0.9))
    if most == n:
        record(remainders=[len(np.unique(at % k)) for k in range(2, 9)])


def x_alone(learner, record, ids, batch_size, seq_len, count, seed):
    """What is drawn for x."""
    record(x=np.stack([x for x, _ in drawn(learner, ids, batch_size, seq_len, count, seed)]))


def kept(learner, record, ids, batch_size, seq_len, count, seed):
    """Batches that somebody keeps are what they were when the next ones come."""
    stream = learner.batches(ids, batch_size, seq_len, rng=np.random.default_rng(seed))
    found, copies = [], []
    for pair in itertools.islice(stream, count):
        found.append(pair)
        copies.append([np.array(part) for part in pair])
    record(stay=same(found, copies))


def repeated(learner, record, ids, batch_size, seq_len, count, seed):
    """ids (n,) of few kinds: a row of x and its last target are a piece of the text."""
    legal = {tuple(ids[s : s + seq_len + 1].tolist()) for s in range(len(ids) - seq_len)}
    pieces = shifted = True
    for x, y in drawn(learner, ids, batch_size, seq_len, count, seed):
        shifted &= bool((y[:, :-1] == x[:, 1:]).all())
        rows = np.concatenate([x, y[:, -1:]], axis=1)
        pieces &= all(tuple(row) in legal for row in rows.tolist())
    record(pieces=pieces, shifted=shifted)


def continued(learner, record, ids, batch_size, seq_len, count, seed):
    """ids (n,) of two kinds, in which what follows a piece is not the same everywhere. Which pieces with
    their last target are drawn, sooner or later?
    """
    found = drawn(learner, ids, batch_size, seq_len, count, seed)
    rows = [np.concatenate([x, y[:, -1:]], axis=1) for x, y in found]
    record(seen=np.unique(np.concatenate(rows), axis=0).astype(np.int64))


def same(a, b):
    return all((x == u).all() and (y == v).all() for (x, y), (u, v) in zip(a, b))


def same_rng(learner, record, ids, others, batch_size, seq_len, count, seed, other_seed):
    """The generator that is handed in decides, and nothing else does."""
    shape = batch_size, seq_len
    first = drawn(learner, ids, *shape, count, seed)
    record(same_seed_same_batches=same(first, drawn(learner, ids, *shape, count, seed)))
    record(other_seed_same_batches=same(first, drawn(learner, ids, *shape, count, other_seed)))
    mine = learner.batches(ids, *shape, rng=np.random.default_rng(seed))
    yours = learner.batches(others, *shape, rng=np.random.default_rng(other_seed))
    turns = [(np.array(x), np.array(y)) for (x, y), _ in itertools.islice(zip(mine, yours), count)]
    record(same_beside_another=same(first, turns))


def too_few(learner, record, ids, batch_size, seq_len, seed):
    """ids (n,), n <= seq_len: there is nothing to draw."""
    x, y = next(iter(learner.batches(ids, batch_size, seq_len, rng=np.random.default_rng(seed))))
    record(x=x, y=y)


def probabilities(logits):
    e = np.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def learn(learner, record, ids, batch_size, seq_len, steps, lr, seed):
    """A table of logits (V, V), one row for each last token, trained on the batches with NumPy alone.

    The loss that training reports, the loss on the text itself, and how the table goes on writing.
    """
    V = int(ids.max()) + 1
    table, losses = np.zeros((V, V)), []
    for x, y in drawn(learner, ids, batch_size, seq_len, steps, seed):
        p = probabilities(table[x])  # (B, T, V)
        right = np.eye(V)[y]
        losses.append(float(-np.log((p * right).sum(-1)).mean()))
        np.add.at(table, x, -lr * (p - right) / x.size)
    record(losses=losses, mean_of_last_10=float(np.mean(losses[-10:])))
    record(losses_below_a_tenth=int(sum(loss < 0.1 for loss in losses)))  # of all steps
    p = probabilities(table)[ids[:-1], ids[1:]]
    on_the_text = float(-np.log(p).mean())
    record(loss_on_the_text=on_the_text)
    than = "better" if on_the_text < 0.9 * np.log(V) else "worse"
    record(loss_on_the_text_is="as_good" if abs(on_the_text / np.log(V) - 1) < 0.1 else than)
    written = [int(ids[0])]
    for _ in range(12):
        written.append(int(table[written[-1]].argmax()))
    pairs = set(zip(ids[:-1].tolist(), ids[1:].tolist()))
    if len(set(written)) == 1:
        record(writes="repeats")
    else:
        record(writes="as_the_text" if pairs >= set(zip(written, written[1:])) else "otherwise")
