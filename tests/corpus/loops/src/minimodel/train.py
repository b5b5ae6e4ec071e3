from .data import batches
from .nn.loss import cross_entropy
from .optim import clip_grad_norm


def train_step(model, x, y, optimizer, max_norm=None):
  model.zero_grad()
  optimizer.zero_grad()
  z = model(x)
  l = cross_entropy(z, y)
  l.backward()
  if max_norm is not None:
    clip_grad_norm(model.parameters(), max_norm)
  optimizer.step()
  return float(l.data)


def train(model, ids, *, steps, batch_size, seq_len, optimizer, rng, on_step=None):
  bs = batches(ids, batch_size, seq_len, rng=rng)
  ls = []
  for k in range(steps):
    x, y = next(bs)
    l = train_step(model, x, y, optimizer)
    ls.append(l)
    if on_step is not None:
      on_step(k, l, model)
  return ls
