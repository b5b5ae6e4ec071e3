from .data import batches
from .nn.loss import cross_entropy
from .optim import clip_grad_norm


def train_step(model, x, y, optimizer, max_norm=None):
    """One update on one batch; the loss before it."""
    # the optimiser may hold only some of the model's parameters, and the
    # clipping below looks at all of them
    model.zero_grad()
    optimizer.zero_grad()
    loss = cross_entropy(model(x), y)
    loss.backward()
    if max_norm is not None:
        clip_grad_norm(model.parameters(), max_norm)
    optimizer.step()
    return float(loss.data)


def train(model, ids, *, steps, batch_size, seq_len, optimizer, rng, on_step=None):
    stream = batches(ids, batch_size, seq_len, rng=rng)
    losses = []
    for step in range(steps):
        x, y = next(stream)
        loss = train_step(model, x, y, optimizer)
        losses.append(loss)
        if on_step is not None:
            on_step(step, loss, model)
    return losses
