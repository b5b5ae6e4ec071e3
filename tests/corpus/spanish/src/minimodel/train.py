from .data import batches
from .nn.loss import cross_entropy
from .optim import clip_grad_norm


def train_step(model, x, y, optimizer, max_norm=None):
    """Un paso completo. Devuelve la pérdida de antes de actualizar."""
    model.zero_grad()
    optimizer.zero_grad()
    perdida = cross_entropy(model(x), y)
    perdida.backward()
    if max_norm is not None:
        clip_grad_norm(model.parameters(), max_norm)
    optimizer.step()
    return float(perdida.data)


def train(model, ids, *, steps, batch_size, seq_len, optimizer, rng, on_step=None):
    """Entrena `steps` pasos y devuelve la lista de pérdidas."""
    lotes = batches(ids, batch_size, seq_len, rng=rng)
    perdidas = []
    for paso in range(steps):
        x, y = next(lotes)
        perdida = train_step(model, x, y, optimizer)
        perdidas.append(perdida)
        if on_step is not None:
            on_step(paso, perdida, model)
    return perdidas
