from .data import batches
from .nn.loss import cross_entropy
from .optim import clip_grad_norm


def train_step(model, x, y, optimizer, max_norm=None):
    optimizer.zero_grad()
    model.zero_grad()            # in case the optimizer does not know all of them
    loss = cross_entropy(model(x), y)
    loss.backward()
    if max_norm is not None:
        clip_grad_norm(model.parameters(), max_norm)
    optimizer.step()
    return float(loss.data)


def train(model, ids, *, steps, batch_size, seq_len, optimizer, rng, on_step=None):
    losses = []
    source = batches(ids, batch_size, seq_len, rng=rng)
    for step in range(steps):
        x, y = next(source)
        loss = train_step(model, x, y, optimizer)
        losses.append(loss)
        if on_step is not None:
            on_step(step, loss, model)
    return losses
