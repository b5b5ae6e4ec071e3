"""Runs the learner's EmbeddingLayer. `.position` is looked into only where it is learned."""

import numpy as np


def made(learner, pos, scale, max_len, tokens, places):
    """A layer with these tables, copied in place. tokens (V, d); places (max_len, d) or None."""
    layer = learner.EmbeddingLayer(*tokens.shape, max_len=max_len, pos=pos, scale=scale)
    layer.token.weight.data[...] = tokens
    if places is not None:
        layer.position.weight.data[...] = places
    return layer


def start(learner, record, pos, scale, max_len, vocab_size, d_model):
    """What a new layer holds: learned positions are a Parameter more, fixed ones are not."""
    layer = learner.EmbeddingLayer(vocab_size, d_model, max_len, pos, scale)
    record(token_shape=list(layer.token.weight.data.shape))
    found = list(layer.parameters())
    record(parameters=len(found))
    record(token_is_found=any(p is layer.token.weight for p in found))
    if pos == "learned":
        record(position_shape=list(layer.position.weight.data.shape))
        record(position_is_found=any(p is layer.position.weight for p in found))


def spread(learner, record, pos, scale, vocab_size, d_model):
    """How a new table of tokens is spread, in units of 0.02, as that of an Embedding by itself."""
    layer = learner.EmbeddingLayer(
        vocab_size, d_model, pos=pos, scale=scale, rng=np.random.default_rng(0)
    )
    spread = float(layer.token.weight.data.astype(np.float64).std())
    record(**{"standard deviation": spread / 0.02})


def defaults(learner, record, tokens, ids):
    """Nothing said: 512 learned positions, no scale."""
    layer = learner.EmbeddingLayer(*tokens.shape)
    layer.token.weight.data[...] = tokens
    record(position_shape=list(layer.position.weight.data.shape))
    layer.position.weight.data[...] = 0
    layer.position.weight.data[: ids.shape[-1]] = tokens[ids[0]]
    record(y=layer(ids).data)


def forward(learner, record, pos, scale, max_len, tokens, places, ids, grad):
    """ids: (..., T), grad: (..., T, d). The vectors, then the gradients of sum(y * grad)."""
    layer = made(learner, pos, scale, max_len, tokens, places)
    y = layer(ids)
    record(y=y.data)
    y.backward(grad)
    record(grad_tokens=layer.token.weight.grad)
    if places is not None:
        record(grad_places=layer.position.weight.grad)


def again(
    learner, record, pos, scale, max_len, tokens, places, ids, grad,
    more_ids, more_grad, new_tokens, new_places,
):  # fmt: skip
    """Two calls share their gradients; the next call uses what was written into the tables."""
    layer = made(learner, pos, scale, max_len, tokens, places)
    y, z = layer(ids), layer(more_ids)
    record(y=y.data, z=z.data)
    z.backward(more_grad)
    y.backward(grad)
    record(grad_tokens=layer.token.weight.grad)
    layer.token.weight.data[...] = new_tokens
    if places is not None:
        record(grad_places=layer.position.weight.grad)
        layer.position.weight.data[...] = new_places
        record(places_alone=layer.position(learner.Tensor(0 * y.data)).data)
    record(changed=layer(ids).data)


def refused(learner, record, pos, scale, max_len, tokens, places, ids):
    """Ids or lengths that the layer may have to refuse."""
    record(y=made(learner, pos, scale, max_len, tokens, places)(ids).data)
