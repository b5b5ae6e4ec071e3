"""Runs the learner's LMHead, alone and in the usual pipeline."""

import numpy as np


def made(learner, weight):
    """An Embedding with these weights (V, d), copied in place, and the head that is tied to it."""
    embedding = learner.Embedding(*weight.shape)
    embedding.weight.data[...] = weight
    return embedding, learner.LMHead(embedding)


def asked(head):
    """What the head says where nobody else is in sight."""
    return int(head.vocab_size_out)


def comparisons(number, n):
    """Whether the number says that it is n, is not n, is n + 1, is not n + 1."""
    return [bool(said) for said in (number == n, number != n, number == n + 1, number != n + 1)]


def width_on(learner, make):
    """What a head on another embedding says; the error's name where there is no such embedding."""
    try:
        embedding = make()
    except Exception as error:
        return type(error).__name__
    return asked(learner.LMHead(embedding))


def width(learner, record, weight):
    """What the head says of its size, also when there is another head."""
    embedding, head = made(learner, weight)
    record(vocab_size_out=int(head.vocab_size_out), vocab_size=int(embedding.vocab_size))
    record(comparisons=comparisons(head.vocab_size_out, len(weight)))
    made(learner, np.zeros((len(weight) + 3, 2), weight.dtype))  # another one is another one
    record(vocab_size_out_again=asked(head))
    record(second_head=asked(learner.LMHead(embedding)))
    record(of_a_layer=width_on(learner, lambda: learner.EmbeddingLayer(len(weight), 2, 5).token))
    record(of_a_numpy_size=width_on(learner, lambda: learner.Embedding(np.int64(len(weight)), 2)))


def tied(learner, record, weight, other, h):
    """The head has no matrix of its own: its only parameter is the embedding's."""
    embedding, head = made(learner, weight)
    found = list(head.parameters())
    record(parameters=len(found), is_the_embeddings=found[0] is embedding.weight)
    record(embedding_is_kept=head.embedding is embedding)
    embedding.weight.data[...] = other
    logits = head(learner.Tensor(h))
    record(logits=logits.data)
    logits.sum().backward()  # h asked for no gradient, the table did
    record(grad_weight=embedding.weight.grad)


def forward(learner, record, weight, h, grad):
    """h: (..., d), grad: (..., V). Logits, then the gradients of sum(logits * grad)."""
    embedding, head = made(learner, weight)
    hidden = learner.Tensor(h, requires_grad=True)
    logits = head(hidden)
    record(logits=logits.data)
    logits.backward(grad[..., : logits.shape[-1]])
    record(grad_h=hidden.grad, grad_weight=embedding.weight.grad)


def pipeline(learner, record, weight, ids, targets):
    """One step of a language model: ids (B, T), targets (B, T)."""
    embedding, head = made(learner, weight)
    record(ids=ids, targets=targets.reshape(-1))
    hidden = embedding(ids)  # (B, T, d)
    record(hidden=hidden.data)
    logits = head(hidden)  # (B, T, V)
    record(logits=logits.data)
    flat = logits.reshape(-1, head.vocab_size_out)  # (B * T, V)
    record(flat_logits=flat.data, rows=int(flat.shape[0]))
    loss = learner.cross_entropy(flat, targets.reshape(-1))
    record(loss=float(np.asarray(loss.data).reshape(())))
    loss.backward()
    record(grad_weight=embedding.weight.grad)


def training(learner, record, weight, ids, targets, lr, steps):
    """Plain gradient descent on one batch: the loss before each step, the gradient's norm."""
    embedding, head = made(learner, weight)
    losses, norms = [], []
    for _ in range(steps):
        embedding.weight.grad = None
        logits = head(embedding(ids))
        flat = logits.reshape(-1, head.vocab_size_out)
        loss = learner.cross_entropy(flat, targets.reshape(-1))
        loss.backward()
        losses.append(float(np.asarray(loss.data).reshape(())))
        norms.append(float(np.sqrt((embedding.weight.grad**2).sum())))
        record(losses=list(losses), grad_norms=list(norms))
        embedding.weight.data[...] = embedding.weight.data - lr * embedding.weight.grad
    fell = losses[0] - losses[-1]
    record(first_loss=losses[0], last_loss=losses[-1])
    record(trend="falls" if fell > 0.05 else "grows" if fell < -0.05 else "stays")


def begun(learner, vocab_size, d_model, seed):
    """A new embedding, as the learner's own code starts it, and the head that is tied to it."""
    embedding = learner.Embedding(vocab_size, d_model, rng=np.random.default_rng(seed))
    return embedding, learner.LMHead(embedding)


def fresh(learner, record, vocab_size, d_model, seed, ids, targets):
    """What a model of embedding and head alone says before its first step. ids, targets: (B, T)."""
    embedding, head = begun(learner, vocab_size, d_model, seed)
    logits = head(embedding(ids))  # (B, T, V)
    loss = learner.cross_entropy(logits, targets)
    record(first_loss=float(np.asarray(loss.data).reshape(())))
    scores = np.asarray(logits.data, dtype=np.float64)
    record(largest_logit=float(np.abs(scores).max()))
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p = p / p.sum(-1, keepdims=True)
    record(just_read=float(np.take_along_axis(p, ids[..., None], -1).mean()))
    loss.backward()
    record(grad_norm=float(np.sqrt((embedding.weight.grad**2).sum())))


def widths(learner, record, vocab_size, d_models, seed, ids, targets):
    """The loss before the first step, for one d_model after the other, each twice the last."""
    losses = []
    for d_model in d_models:
        embedding, head = begun(learner, vocab_size, d_model, seed)
        loss = learner.cross_entropy(head(embedding(ids)), targets)
        losses.append(float(np.asarray(loss.data).reshape(())))
    record(losses=losses)
    ratio = losses[-1] / losses[-2]
    steps = {"stays": 1.0, "root": 2**0.5, "doubles": 2.0, "quadruples": 4.0}
    record(loss_from_64_to_128=min(steps, key=lambda name: abs(np.log(ratio / steps[name]))))


def seeds(learner, record, vocab_size, d_model, seed, ids, targets, count):
    """The loss before the first step, for one seed after the other."""
    losses = []
    for i in range(count):
        embedding, head = begun(learner, vocab_size, d_model, seed + i)
        loss = learner.cross_entropy(head(embedding(ids)), targets)
        losses.append(float(np.asarray(loss.data).reshape(())))
    record(losses=losses)


def elsewhere(learner, record, weight, h, grad, more_grad):
    """h is used by the head and beside it: the gradient of sum(logits * grad) + sum(h * more_grad)."""
    for name, head_first in {"first": True, "last": False}.items():
        embedding, head = made(learner, weight)
        hidden = learner.Tensor(h, requires_grad=True)
        logits = head(hidden)
        by_head = (logits * learner.Tensor(grad[..., : logits.shape[-1]])).sum()
        beside = (hidden * learner.Tensor(more_grad)).sum()
        (by_head + beside if head_first else beside + by_head).backward()
        record(**{f"grad_h_{name}": hidden.grad, f"grad_weight_{name}": embedding.weight.grad})
