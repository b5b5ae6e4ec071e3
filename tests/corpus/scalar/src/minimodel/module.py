"""Module: something with Parameters in it."""
import numpy as np

from .tensor import Parameter, Tensor

__all__ = ["Module", "Parameter"]


def drawn(rng, shape, spread):
    """A Parameter of normal random numbers."""
    rng = np.random.default_rng() if rng is None else rng
    return Parameter(rng.normal(0.0, spread, size=shape))


class Module:
    training = True

    def __init__(self, *, rng=None):
        self.training = True

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def _everything(self):
        """(dotted name, thing) of all Parameters and Modules in here, myself included, each
        thing once (under the first name it is met)."""
        seen = set()
        todo = [("", self)]
        while todo:
            name, thing = todo.pop()
            if isinstance(thing, (Parameter, Module, list, tuple, dict)):
                if id(thing) in seen:
                    continue
                seen.add(id(thing))
            if isinstance(thing, (Parameter, Module)):
                yield name, thing
            if isinstance(thing, Module):
                inside = list(vars(thing).items())
            elif isinstance(thing, dict):
                inside = list(thing.items())
            elif isinstance(thing, (list, tuple)):
                inside = list(enumerate(thing))
            else:
                continue
            dot = name + "." if name else ""
            # reversed, because the stack turns it around again
            todo.extend((f"{dot}{key}", part) for key, part in reversed(inside))

    def named_parameters(self):
        return [(n, x) for n, x in self._everything() if isinstance(x, Parameter)]

    def parameters(self):
        return [p for _, p in self.named_parameters()]

    def modules(self):
        return [x for _, x in self._everything() if isinstance(x, Module)]

    def zero_grad(self):
        for p in self.parameters():
            p.grad = None

    def train(self, mode=True):
        for m in self.modules():
            m.training = mode
        return self

    def eval(self):
        return self.train(False)
