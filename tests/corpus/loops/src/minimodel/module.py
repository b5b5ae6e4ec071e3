"""Parameter and Module: finding the weights."""
from .tensor import Tensor


class Parameter(Tensor):
  def __init__(self, data):
    super().__init__(data, requires_grad=True)


class Module:
  training = True

  def __call__(self, *args, **kw):
    return self.forward(*args, **kw)

  def forward(self, *args, **kw):
    raise NotImplementedError(type(self).__name__ + " has no forward")

  def walk(self):
    """-> (list of (name, parameter), list of modules), each thing once"""
    ps = []
    ms = []
    seen = set()

    def visit(name, x):
      if isinstance(x, Parameter):
        if id(x) not in seen:
          seen.add(id(x))
          ps.append((name, x))
        return
      if isinstance(x, Module):
        kids = list(vars(x).items())
      elif isinstance(x, dict):
        kids = list(x.items())
      elif isinstance(x, (list, tuple)):
        kids = list(enumerate(x))
      else:
        return
      if id(x) in seen:
        return
      seen.add(id(x))
      if isinstance(x, Module):
        ms.append(x)
      for k, y in kids:
        n = str(k)
        if name != "":
          n = name + "." + n
        visit(n, y)

    visit("", self)
    return ps, ms

  def named_parameters(self):
    ps, ms = self.walk()
    return ps

  def parameters(self):
    out = []
    for n, p in self.named_parameters():
      out.append(p)
    return out

  def modules(self):
    ps, ms = self.walk()
    return ms

  def zero_grad(self):
    for p in self.parameters():
      p.grad = None

  def train(self, mode=True):
    for m in self.modules():
      m.training = bool(mode)
    return self

  def eval(self):
    return self.train(False)
