"""Byte pair encoding.  A token is a bytes object; its id is its place in .vocab."""


def to_bytes(text):
  # surrogatepass: half an emoji is a legal str too
  return text.encode("utf-8", "surrogatepass")


def single(b):
  out = []
  for k in range(len(b)):
    out.append(b[k:k + 1])
  return out


def glue(s, a, b):
  """a new list: every a followed by b, from the left, becomes one token"""
  out = []
  ab = a + b
  n = len(s)
  k = 0
  while k < n:
    if s[k] == a and k + 1 < n and s[k + 1] == b:
      out.append(ab)
      k = k + 2
    else:
      out.append(s[k])
      k = k + 1
  return out


class BPETokenizer:
  def __init__(self, merges=()):
    self.merges = []
    self.vocab = []
    self.ids = {}
    for k in range(256):
      t = bytes([k])
      self.vocab.append(t)
      self.ids[t] = k
    for a, b in merges:
      self.add(a, b)

  def add(self, a, b):
    self.merges.append((a, b))
    t = a + b
    if t not in self.ids:
      self.ids[t] = len(self.vocab)
    self.vocab.append(t)

  @property
  def vocab_size(self):
    return len(self.vocab)

  @classmethod
  def train(cls, text, vocab_size):
    if vocab_size < 256:
      raise ValueError("vocab_size must be at least 256 (the bytes), got %s" % vocab_size)
    tok = cls()
    s = single(to_bytes(text))
    while len(tok.vocab) < vocab_size:
      # count all neighbours
      cnt = {}
      for k in range(len(s) - 1):
        p = (s[k], s[k + 1])
        cnt[p] = cnt.get(p, 0) + 1
      if len(cnt) == 0:
        break
      # the most frequent, of equals the greater
      best = None
      n = 0
      for p in cnt:
        c = cnt[p]
        if c > n or (c == n and p > best):
          best = p
          n = c
      a, b = best
      tok.add(a, b)
      s = glue(s, a, b)
    return tok

  def encode(self, text):
    raw = to_bytes(text)
    s = single(raw)
    for a, b in self.merges:
      if a + b in raw:  # quick look: else there is nothing to glue
        s = glue(s, a, b)
    out = []
    for t in s:
      out.append(self.ids[t])
    return out

  def decode(self, ids):
    parts = []
    for i in ids:
      i = int(i)
      if i < 0 or i >= len(self.vocab):
        raise IndexError("token id %d is outside the vocabulary of size %d" % (i, len(self.vocab)))
      parts.append(self.vocab[i])
    b = b"".join(parts)
    try:
      return b.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
      # ids that a model made up need not be text
      return b.decode("utf-8", "replace")
