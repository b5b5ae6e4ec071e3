"""Module, and the Weight descriptor through which the modules declare their parameters."""

import numpy as np

from .tensor import Parameter

__all__ = ["Module", "Parameter", "Weight", "default_rng", "normal"]


def default_rng(rng):
    return np.random.default_rng() if rng is None else rng


def normal(rng, *shape, std):
    return rng.normal(0.0, std, size=shape)


class Weight:
    """Class-level declaration of one parameter.

        class Scale(Module):
            gain = Weight()
            def __init__(self):
                self.gain = np.ones(3)        # becomes a Parameter

    A Parameter is taken as it is (that is how weights are shared), anything
    else is wrapped into a new one.
    """

    __slots__ = ("name", "note")

    def __init__(self, note=""):
        self.note = note  # shape and such, for the reader

    def __repr__(self):
        return f"Weight({self.note!r})"

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, module, owner=None):
        if module is None:
            return self
        try:
            return vars(module)[self.name]
        except KeyError:
            raise AttributeError(
                f"{type(module).__name__}.{self.name} is declared but has no value yet"
            ) from None

    def __set__(self, module, value):
        vars(module)[self.name] = value if isinstance(value, Parameter) else Parameter(value)

    def __delete__(self, module):
        vars(module).pop(self.name, None)


def _flatten(name, value):
    """(dotted name, Parameter or Module) for everything inside `value`."""
    if isinstance(value, (Parameter, Module)):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _flatten(f"{name}.{key}", item)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _flatten(f"{name}.{i}", item)


class Module:
    # __dict__ is kept next to the slots: cached_property and Weight store there,
    # and a subclass without __slots__ may hang on whatever it likes.
    __slots__ = ("training", "_held", "__dict__", "__weakref__")

    def __new__(cls, *args, **kwargs):
        # here rather than in __init__, so nothing depends on super().__init__()
        self = super().__new__(cls)
        object.__setattr__(self, "_held", {})
        object.__setattr__(self, "training", True)
        return self

    def __init__(self, *, rng=None):
        pass

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        # Only the name is noted. A list can grow later and an attribute can be
        # replaced, so the values are read again on every walk.
        if name != "_held" and isinstance(
            getattr(self, name, None), (Parameter, Module, list, tuple, dict)
        ):
            self._held[name] = True

    def _members(self):
        for name in list(self._held):
            yield from _flatten(name, getattr(self, name, None))

    def _walk(self, prefix, seen):
        """Every module and parameter below, depth first, each once, under its first name."""
        for name, member in self._members():
            if id(member) in seen:
                continue
            seen.add(id(member))
            yield prefix + name, member
            if isinstance(member, Module):
                yield from member._walk(f"{prefix}{name}.", seen)

    def named_parameters(self):
        for name, member in self._walk("", {id(self)}):
            if isinstance(member, Parameter):
                yield name, member

    def parameters(self):
        return [p for _, p in self.named_parameters()]

    def modules(self):
        """This module and all below it."""
        return [self] + [m for _, m in self._walk("", {id(self)}) if isinstance(m, Module)]

    @property
    def n_parameters(self):
        return sum(p.size for p in self.parameters())

    def zero_grad(self):
        for p in self.parameters():
            p.grad = None

    def train(self, mode=True):
        for m in self.modules():
            m.training = bool(mode)
        return self

    def eval(self):
        return self.train(False)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)
