"""Runs the learner's Embedding."""

import numpy as np


def made(learner, weight):
    """An Embedding of the learner's with these weights, copied in place. weight: (V, d)."""
    embedding = learner.Embedding(*weight.shape)
    embedding.weight.data[...] = weight
    return embedding


def comparisons(number, n):
    """Whether the number says that it is n, is not n, is n + 1, is not n + 1."""
    return [bool(said) for said in (number == n, number != n, number == n + 1, number != n + 1)]


def dtype(learner, record):
    record(dtype=str(learner.Embedding(5, 3).weight.data.dtype))


def attributes(learner, record, vocab_size, d_model):
    embedding = learner.Embedding(vocab_size, d_model)
    record(vocab_size=int(embedding.vocab_size), d_model=int(embedding.d_model))
    record(vocab_size_is=comparisons(embedding.vocab_size, vocab_size))
    record(d_model_is=comparisons(embedding.d_model, d_model))
    record(weight_shape=list(embedding.weight.data.shape))
    found = list(embedding.parameters())
    record(parameters=len(found), weight_is_a_parameter=any(p is embedding.weight for p in found))


def tables(learner, record, vocab_size, d_model, count, seed):
    """Many small tables from one generator, in units of 0.02: their numbers are drawn one by one.

    deviation between tables: of their means, times the root of their size.
    """
    rng = np.random.default_rng(seed)
    made = [learner.Embedding(vocab_size, d_model, rng=rng).weight.data for _ in range(count)]
    z = np.asarray(made, dtype=np.float64) / 0.02  # (count, V, d)
    between = float(np.sqrt(vocab_size * d_model) * z.mean(axis=(1, 2)).std())
    record(**{"standard deviation": float(z.std()), "deviation between tables": between})
    record(**{"fourth moment": float((z**4).mean() / (z**2).mean() ** 2)})


def initialisation(learner, record, vocab_size, d_model, seed):
    """The statistics of a fresh weight, in units of 0.02, the standard deviation that is asked for.

    seed: for the generator that is handed over, None where none is. Then every run draws other
    numbers, and the statistics are rounded, so that two runs of the same code agree.
    """

    def drawn(seed):
        rng = {} if seed is None else {"rng": np.random.default_rng(seed)}
        return learner.Embedding(vocab_size, d_model, **rng).weight.data

    weight = drawn(seed)
    z = np.asarray(weight, dtype=np.float64) / 0.02
    mean, deviation, squares = float(z.mean()), float(z.std()), z * z
    fourth = float((squares * squares).mean() / squares.mean() ** 2)
    if seed is None:
        record(**{"standard deviation": round(deviation, 1), "mean": round(mean, 1)})
        record(**{"fourth moment": round(fourth)})
        return
    record(**{"standard deviation": deviation, "mean": mean, "fourth moment": fourth})
    record(largest=float(np.abs(z).max()))
    record(distinct=all(len(set(row.tolist())) > 0.9 * row.size for row in (z[0], z[:, 0])))
    record(columns_differ=float(np.abs(np.corrcoef(z[:, 0], z[:, 1])[0, 1])))
    record(seeds_differ=bool(np.any(weight != drawn(seed + 1))))
    record(seeds_repeat=bool(np.all(weight == drawn(seed))))


def elsewhere(learner, record, others, seed):
    """Fresh parameters of other modules, by role: what a bug in the table's start leaves alone."""
    for role, sizes in others.items():
        try:
            module = getattr(learner, role)(*sizes, rng=np.random.default_rng(seed))
            found = [parameter.data for parameter in module.parameters()]
        except Exception as error:  # of any kind: it may not be built yet
            record(**{role: type(error).__name__})
        else:
            record(**{f"{role}_{i}": array for i, array in enumerate(found)})


def forward(learner, record, weight, ids, grad):
    """ids: (...,), grad: (..., d). Values, then the gradient of sum(values * grad)."""
    embedding = made(learner, weight)
    vectors = embedding(ids)
    record(vectors=vectors.data)
    vectors.backward(grad)
    record(grad_weight=embedding.weight.grad)


def uneven(learner, record, weight, ids, grad, sizes):
    """The gradients of a row are as large as `sizes` (V,) says, and are measured in units of that."""
    embedding = made(learner, weight)
    embedding(ids).backward(grad * sizes[ids][..., None])
    found = embedding.weight.grad
    record(grad_weight=found if found is None else found / sizes[:, None])


def twice(learner, record, weight, other, ids, more_ids, grad, more_grad):
    """Two calls share a gradient; the next call uses what was written into the weight."""
    embedding = made(learner, weight)
    embedding(ids).backward(grad)
    embedding(more_ids).backward(more_grad)
    record(grad_weight=embedding.weight.grad)
    embedding.weight.data[...] = other
    record(vectors=embedding(ids).data)


def together(learner, record, weight, ids, more_ids, grad, more_grad):
    """Two lookups in one graph, and one backward through both."""
    embedding = made(learner, weight)
    first, second = embedding(ids), embedding(more_ids)
    total = (first * learner.Tensor(grad)).sum() + (second * learner.Tensor(more_grad)).sum()
    total.backward()
    record(grad_weight=embedding.weight.grad)


def lookup_only(learner, record, weight, ids):
    """A lookup with ids that may be refused."""
    record(vectors=made(learner, weight)(ids).data)


def received(learner, record, weight, ids):
    """Every position sends back a gradient of ones. How much of it arrives in each row?"""
    embedding = made(learner, weight)
    vectors = embedding(ids)
    vectors.backward(np.ones(vectors.data.shape, weight.dtype))
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
        vectors = embedding(ids)
        missing = vectors.data - targets
        losses.append(float((missing**2).sum() / ids.size))
        vectors.backward(2 * missing / ids.size)
        embedding.weight.data[...] = embedding.weight.data - lr * embedding.weight.grad
    token = np.bincount(ids.reshape(-1)).argmax()  # the most frequent one
    wanted = targets[ids == token]
    places = {"mean": wanted.mean(0), "sum": wanted.sum(0), "first": wanted[0], "last": wanted[-1]}
    row = embedding.weight.data[token]
    nearest = min(places, key=lambda name: np.abs(row - places[name]).max())
    record(losses=losses, last_loss=losses[-1], row=row, most_frequent_row_ends_at=nearest)
