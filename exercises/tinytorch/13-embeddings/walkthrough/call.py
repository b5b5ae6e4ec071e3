"""A sentence on its way through the learner's EmbeddingLayer, before and after a short training; and what a
table costs. The head that asks for the next word is an Embedding too, read as a matrix; its gradient, and the
optimiser, are written here, as the module stops at the embeddings.
"""

import time

import numpy as np

WIDTH, LONGEST = 16, 16
LENGTHS = (64, 2048, 16_384)  # of sequences that are looked up
TABLE = (50_257, 256)  # too large for most caches


class Adam:
    """Adam on Tensors, in place."""

    def __init__(self, params, lr):
        self.params, self.lr, self.step_count = params, lr, 0
        self.state = [(np.zeros_like(p.data), np.zeros_like(p.data)) for p in params]

    def step(self, grads):
        self.step_count += 1
        for p, g, (m, v) in zip(self.params, grads, self.state, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            root = np.sqrt(v / (1 - 0.999**self.step_count)) + 1e-8
            p.data[...] = p.data - self.lr * m / (1 - 0.9**self.step_count) / root


def batch(rng, stream, size, length):
    """Windows of the stream, and the same windows one token later: (size, length) each."""
    starts = rng.integers(0, len(stream) - length, size)
    index = starts[:, None] + np.arange(length)
    return stream[index], stream[index + 1]


def loss_and_gradient(logits, targets):
    """The mean cross-entropy, and its gradient with respect to the logits (..., V)."""
    odds = np.exp(logits - logits.max(-1, keepdims=True))
    odds /= odds.sum(-1, keepdims=True)
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    return -float(np.log(odds[one_hot]).mean()), (odds - one_hot) / targets.size


def sentence(learner, record, ids, stream, vocab, one, other, at_one, at_other, steps, seed):
    """ids (T,): the sentence. The rest is the little language."""
    np.random.seed(seed)
    rng = np.random.default_rng(seed)
    layer = learner.EmbeddingLayer(vocab, WIDTH, max_seq_len=LONGEST)
    head = learner.Embedding(vocab, WIDTH)
    table = layer.token_embedding.weight
    params = list(layer.parameters())
    for parameter in params:
        parameter.requires_grad = True

    def logits():
        return layer(learner.Tensor(ids)).data @ head.weight.data.T

    rows = layer.token_embedding(learner.Tensor(ids)).data
    record(table_shape=list(table.data.shape), rows=rows, shape=list(rows.shape))
    record(positions=layer(learner.Tensor(ids)).data)
    record(logits_before=logits()[-1], table_before=table.data)
    adam, losses = Adam([*params, head.weight], 1e-2), []
    for _ in range(steps):
        x, y = batch(rng, stream, 16, 8)
        for parameter in params:
            parameter.grad = None
        out = layer(learner.Tensor(x))
        loss, grad = loss_and_gradient(out.data @ head.weight.data.T, y)
        losses.append(loss)
        out.backward((grad @ head.weight.data).astype(np.float32))
        of_head = grad.reshape(-1, vocab).T @ out.data.reshape(-1, WIDTH)
        adam.step([*(parameter.grad for parameter in params), of_head])
    record(losses=np.array(losses), first_loss=losses[0], last_loss=float(np.mean(losses[-10:])))
    record(logits_after=logits()[-1], table_after=table.data)
    record(memory=memory(learner), lookup=lookup(learner, rng), beyond=beyond(learner))


def memory(learner):
    """What tables take, by their type and their size."""
    told = []
    for V, d in ((10_000, 256), (50_257, 256), (50_257, 768)):
        weight = learner.Embedding(V, d).weight.data
        kinds = (weight.dtype, np.dtype(np.float16), np.dtype(np.int8))
        sizes = (f"{kind} {weight.astype(kind).nbytes / 10**6:.1f} MB" for kind in kinds)
        told.append(f"{V} x {d}: " + ", ".join(sizes))
    return told


def lookup(learner, rng):
    """Time per id, for ids that lie side by side and for ids anywhere in the table, by length."""
    V, d = TABLE
    table, told = learner.Embedding(V, d), []
    for length in LENGTHS:
        side_by_side = np.arange(length) % V
        costs = [
            cost(learner, table, ids) for ids in (side_by_side, rng.permutation(length) * 7919 % V)
        ]
        each = ", ".join(f"{1e9 * one / length:.0f} ns" for one in costs)
        told.append(f"T = {length}: {each}")
    return told


def cost(learner, table, ids):
    """Seconds of the quickest of five lookups."""
    indices, quickest = learner.Tensor(ids), float("inf")
    for _ in range(5):
        start = time.perf_counter()
        table(indices)
        quickest = min(quickest, time.perf_counter() - start)
    return quickest


def beyond(learner):
    """Twice as many positions as were asked for: the waves, and a learned table."""
    n = 2 * LONGEST
    told = [f"create_sinusoidal_embeddings({n}, {WIDTH}): {outcome(lambda: waves(learner, n))}"]
    x = learner.Tensor(np.zeros((1, n, WIDTH)))
    learned = outcome(lambda: learner.PositionalEncoding(LONGEST, WIDTH)(x).data)
    return [*told, f"PositionalEncoding({LONGEST}, {WIDTH}), T = {n}: {learned}"]


def waves(learner, n):
    return learner.create_sinusoidal_embeddings(n, WIDTH).data


def outcome(measure):
    try:
        return str(measure().shape)
    except (ValueError, IndexError) as error:
        return type(error).__name__
