"""The loop."""
from minimodel.data import batches
from minimodel.nn.loss import cross_entropy
from minimodel.optim import clip_grad_norm


def train_step(model, x, y, optimizer, max_norm=None):
    model.zero_grad()
    optimizer.zero_grad()
    loss = cross_entropy(model(x), y)
    loss.backward()
    if max_norm is not None:
        clip_grad_norm(model.parameters(), max_norm)
    optimizer.step()
    return float(loss.data)


def train(model, ids, *, steps, batch_size, seq_len, optimizer, rng, on_step=None):
    history = []
    for step, (x, y) in zip(range(steps), batches(ids, batch_size, seq_len, rng=rng)):
        history.append(train_step(model, x, y, optimizer))
        if on_step:
            on_step(step, history[-1], model)
    return history
