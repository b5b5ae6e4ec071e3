"""Runs the learner's Embedding. Ids are handed over as a Tensor, as TinyTorch does."""

import numpy as np


def wanting(layer):
    """The layer, its parameters ready for gradients, as an optimiser makes them or asks for."""
    for parameter in layer.parameters():
        parameter.requires_grad = True
    return layer


def back(y, grad):
    """Backward from y with this gradient."""
    y.backward(np.asarray(grad, np.float32))


def made(learner, weight):
    """An Embedding of the learner's with these weights, copied in place. weight: (V, d)."""
    embedding = wanting(learner.Embedding(*weight.shape))
    embedding.weight.data[...] = weight
    return embedding


def looked_up(learner, embedding, ids):
    return embedding(learner.Tensor(ids))


def attributes(learner, record, vocab_size, embed_dim):
    embedding = learner.Embedding(vocab_size, embed_dim)
    record(weight_shape=list(embedding.weight.data.shape))
    found = list(embedding.parameters())
    record(parameters=len(found), weight_is_a_parameter=any(p is embedding.weight for p in found))


def trainable(learner, record, vocab_size, embed_dim):
    record(requires_grad=bool(learner.Embedding(vocab_size, embed_dim).weight.requires_grad))


def initialisation(learner, record, vocab_size, embed_dim, seed):
    """In units of sqrt(6 / (V + d)): the largest number, and the standard deviation of an even spread, in
    units of its own. Rounded, as the numbers are others each time where the code seeds a generator itself.
    """
    np.random.seed(seed)
    weight = learner.Embedding(vocab_size, embed_dim).weight.data.astype(np.float64)
    z = weight / np.sqrt(6 / (vocab_size + embed_dim))
    record(**{"standard deviation": round(float(z.std() * np.sqrt(3)), 2)})
    record(largest=round(float(np.abs(z).max()), 3))
    record(mean=abs(round(float(z.mean()), 1)))
    record(distinct=len(set(z[:, 0].tolist())) > 0.9 * vocab_size)


def forward(learner, record, weight, ids, grad):
    """ids: (...,), grad: (..., d). Values, then the gradient of sum(values * grad)."""
    embedding = made(learner, weight)
    vectors = looked_up(learner, embedding, ids)
    record(vectors=vectors.data)
    back(vectors, grad)
    record(grad_weight=embedding.weight.grad)


def twice(learner, record, weight, other, ids, more_ids, grad, more_grad):
    """Two calls share a gradient; the next call uses what was written into the weight."""
    embedding = made(learner, weight)
    back(looked_up(learner, embedding, ids), grad)
    back(looked_up(learner, embedding, more_ids), more_grad)
    record(grad_weight=embedding.weight.grad)
    embedding.weight.data[...] = other
    record(vectors=looked_up(learner, embedding, ids).data)


def squared(learner, record, weight, ids, grad):
    """The gradient of sum(vectors * vectors * grad): each vector is used twice."""
    embedding = made(learner, weight)
    out = looked_up(learner, embedding, ids)
    back(out * out, grad)
    record(grad_weight=embedding.weight.grad)


def outside(learner, record, weight, ids):
    """Ids that are no rows of the table."""
    try:
        vectors = looked_up(learner, made(learner, weight), ids).data
    except (ValueError, IndexError):
        record(answer="refused")
    else:
        record(answer="refused" if vectors is None else "a vector")


def received(learner, record, weight, ids):
    """Every position sends back a gradient of ones. How much of it arrives in each row?"""
    embedding = made(learner, weight)
    vectors = looked_up(learner, embedding, ids)
    back(vectors, np.ones(vectors.data.shape))
    first_column = embedding.weight.grad[:, 0]
    record(received=first_column, total=float(first_column.sum()))
    record(most=float(first_column[np.bincount(ids.reshape(-1)).argmax()]))


def fit(learner, record, weight, ids, targets, lr, steps):
    """Gradient descent on the squared distance between each position's vector and its target.

    ids: (...,), targets: (..., d). The loss is the mean over the positions.
    """
    embedding = made(learner, weight)
    losses = []
    for _ in range(steps):
        embedding.weight.grad = None
        vectors = looked_up(learner, embedding, ids)
        missing = vectors.data - targets
        losses.append(float((missing**2).sum() / ids.size))
        back(vectors, 2 * missing / ids.size)
        embedding.weight.data[...] = embedding.weight.data - lr * embedding.weight.grad
    token = np.bincount(ids.reshape(-1)).argmax()  # the most frequent one
    wanted = targets[ids == token]
    places = {"mean": wanted.mean(0), "sum": wanted.sum(0), "first": wanted[0], "last": wanted[-1]}
    row = embedding.weight.data[token]
    nearest = min(places, key=lambda name: np.abs(row - places[name]).max())
    record(losses=losses, last_loss=losses[-1], row=row, most_frequent_row_ends_at=nearest)


def start(learner, record, vocab_size, embed_dim, seed):
    """How far from 0 the numbers of a fresh table go, how long its rows are, and how that compares with
    learned positions, which start between -sqrt(2 / d) and sqrt(2 / d).
    """
    np.random.seed(seed)
    weight = learner.Embedding(vocab_size, embed_dim).weight.data.astype(np.float64)
    lengths = np.sqrt((weight**2).sum(-1))
    record(largest_number=float(np.abs(weight).max()), mean_length=float(lengths.mean()))
    larger = bool(np.abs(weight).max() > np.sqrt(2 / embed_dim))
    record(beside_positions="larger" if larger else "smaller")
    record(lengths=np.sort(lengths)[:: max(1, vocab_size // 64)])


def wrapped(learner, record, weight, wide):
    """Which row does each id from -wide to wide - 1 get? -1 where it is refused, -2 where it is no row."""
    embedding, found = made(learner, weight), []
    for id in range(-wide, wide):
        try:
            vector = looked_up(learner, embedding, np.array([[id]])).data.reshape(-1)
        except (ValueError, IndexError):
            found.append(-1)
        else:
            same = np.flatnonzero((weight == vector).all(-1))
            found.append(int(same[0]) if same.size else -2)
    record(rows=np.array(found), taken=sum(row != -1 for row in found))
    last = found[wide - 1]
    record(minus_one="refused" if last == -1 else "no row" if last == -2 else f"row {last}")


def memory(learner, record, vocab_size, embed_dim):
    """What the table takes as it is, and what it would take in other types, in bytes."""
    weight = learner.Embedding(vocab_size, embed_dim).weight.data
    record(numbers=int(weight.size), bytes=int(weight.nbytes), bytes_a_row=int(weight[0].nbytes))
    kinds = (np.float64, np.float16, np.int8)
    record(by_type=[int(weight.astype(kind).nbytes) for kind in kinds])
