"""Runs the learner's EmbeddingLayer. `.pos_encoding` is looked into only where it is learned."""

import numpy as np


def wanting(layer):
    """The layer, its parameters ready for gradients, as an optimiser makes them or asks for."""
    for parameter in layer.parameters():
        parameter.requires_grad = True
    return layer


def back(y, grad):
    """Backward from y with this gradient."""
    y.backward(np.asarray(grad, np.float32))


def made(learner, pos, scale, max_seq_len, tokens, places):
    """A layer with these tables, copied in place. tokens (V, d); places (max_seq_len, d) or None."""
    layer = learner.EmbeddingLayer(
        *tokens.shape, max_seq_len=max_seq_len, pos_encoding=pos, scale_embeddings=scale
    )
    layer.token_embedding.weight.data[...] = tokens
    if places is not None:
        layer.pos_encoding.position_embeddings.data[...] = places
    return wanting(layer)


def start(learner, record, pos, scale, max_seq_len, vocab_size, embed_dim):
    """What a new layer holds: learned positions are a parameter more, fixed ones are not."""
    layer = learner.EmbeddingLayer(vocab_size, embed_dim, max_seq_len, pos, scale)
    found = list(layer.parameters())
    record(parameters=len(found))
    token = layer.token_embedding.weight
    record(token_shape=list(token.data.shape), token_is_found=any(p is token for p in found))
    if pos == "learned":
        place = layer.pos_encoding.position_embeddings
        record(position_shape=list(place.data.shape))
        record(position_is_found=any(p is place for p in found))


def defaults(learner, record, tokens, ids):
    """Nothing said: 512 learned positions, no scale."""
    layer = learner.EmbeddingLayer(*tokens.shape)
    layer.token_embedding.weight.data[...] = tokens
    table = layer.pos_encoding.position_embeddings.data
    record(position_shape=list(table.shape))
    table[...] = 0
    table[: ids.shape[-1]] = tokens[ids[0]]
    record(y=layer(learner.Tensor(ids)).data)


def forward(learner, record, pos, scale, max_seq_len, tokens, places, ids, grad):
    """ids: (B, T) or (T,), grad: (..., T, d). The vectors, then the gradients of sum(y * grad)."""
    layer = made(learner, pos, scale, max_seq_len, tokens, places)
    y = layer(learner.Tensor(ids))
    record(y=y.data)
    back(y, grad)
    record(grad_tokens=layer.token_embedding.weight.grad)
    if places is not None:
        record(grad_places=layer.pos_encoding.position_embeddings.grad)


def again(
    learner, record, pos, scale, max_seq_len, tokens, places, ids, grad,
    more_ids, more_grad, new_tokens,
):  # fmt: skip
    """Two calls share their gradients; the next call uses what was written into the table."""
    layer = made(learner, pos, scale, max_seq_len, tokens, places)
    y, z = layer(learner.Tensor(ids)), layer(learner.Tensor(more_ids))
    record(y=y.data, z=z.data)
    back(z, more_grad)
    back(y, grad)
    record(grad_tokens=layer.token_embedding.weight.grad)
    if places is not None:
        record(grad_places=layer.pos_encoding.position_embeddings.grad)
    layer.token_embedding.weight.data[...] = new_tokens
    record(changed=layer(learner.Tensor(ids)).data)


def answer(measure):
    """What becomes of a call that may be refused."""
    try:
        return measure().data
    except (ValueError, IndexError):
        return "refused"


def refused(learner, record, pos, scale, max_seq_len, tokens, places, ids):
    """Ids or lengths that the layer has to refuse."""
    layer = made(learner, pos, scale, max_seq_len, tokens, places)
    found = answer(lambda: layer(learner.Tensor(ids)))
    record(answer=found if isinstance(found, str) else "vectors")


def beyond(learner, record, pos, scale, max_seq_len, tokens, places, ids):
    """More waves than were asked for: the right ones, or an error."""
    layer = made(learner, pos, scale, max_seq_len, tokens, places)
    record(y=answer(lambda: layer(learner.Tensor(ids))))


def parts(learner, record, pos, scale, max_seq_len, tokens, places, ids):
    """How large are tokens and positions in the sum? The root mean square of each, as the layer adds them."""
    layer = made(learner, pos, scale, max_seq_len, tokens, places)
    both = layer(learner.Tensor(ids)).data
    layer.token_embedding.weight.data[...] = 0
    positions = layer(learner.Tensor(ids)).data

    def size(x):
        return float((x.astype("float64") ** 2).mean() ** 0.5)

    record(tokens=size(both - positions), positions=size(positions))
    ratio = size(both - positions) / size(positions)
    record(ratio=ratio, larger="tokens" if ratio > 1 else "positions")
    record(rows=(both - positions)[0, :, 0])
