"""What the contract says of Parameter and Module, and not a thing more."""

import numpy as np
from minimodel.tensor import Tensor


class Parameter(Tensor):
    def __init__(self, data):
        super().__init__(data, requires_grad=True)


class Module:
    def __init__(self):
        self.training = False

    def __call__(self, *inputs):
        return self.forward(*inputs)

    def parts(self, name=""):
        """(dotted name, module or parameter), one as often as it is held."""
        yield name, self
        for key, value in vars(self).items():
            if isinstance(value, list):
                found = [(f"{key}.number_{i}", item) for i, item in enumerate(value)]
            elif isinstance(value, dict):
                found = [(f"{key}.{name}", item) for name, item in value.items()]
            else:
                found = [(key, value)]
            for inner, item in found:
                if isinstance(item, Parameter):
                    yield name + inner, item
                elif isinstance(item, Module):
                    yield from item.parts(f"{name}{inner}.")

    def parameters(self):
        seen = {id(part): part for _, part in self.parts() if isinstance(part, Parameter)}
        yield from reversed(seen.values())

    def named_parameters(self):
        return {name: part for name, part in self.parts() if isinstance(part, Parameter)}

    def zero_grad(self):
        for parameter in self.parameters():
            parameter.grad = np.zeros_like(parameter.data)

    def train(self):
        self.switch(True)

    def eval(self):
        self.switch(False)

    def switch(self, training):
        for _, part in self.parts():
            if isinstance(part, Module):
                part.training = training
