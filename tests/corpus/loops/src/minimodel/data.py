import numpy as np


def batches(ids, batch_size, seq_len, *, rng):
  """Endless (x, y); row by row a random window, y one token further on."""
  a = np.array(ids)
  if a.ndim != 1:
    raise ValueError("ids must be one long row, got shape %s" % (a.shape,))
  n = len(a)
  if n < seq_len + 1:
    raise ValueError("%d ids are too few for seq_len %d, need at least %d" % (n, seq_len, seq_len + 1))
  if a.dtype.kind not in "iu":
    raise TypeError("ids must be integers, got dtype %s" % a.dtype)
  # checked above at once, the generator itself would wait for the first next()
  return draw(a, batch_size, seq_len, rng)


def draw(a, B, T, rng):
  last = len(a) - T - 1  # the last start that still has T + 1 ids
  while True:
    x = np.empty((B, T), dtype=a.dtype)
    y = np.empty((B, T), dtype=a.dtype)
    for r in range(B):
      s = int(rng.integers(0, last + 1))
      x[r] = a[s:s + T]
      y[r] = a[s + 1:s + T + 1]
    yield x, y
