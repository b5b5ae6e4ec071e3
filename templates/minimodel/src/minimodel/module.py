"""Parameter and Module: the parts a model is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minimodel.tensor import Tensor


class Parameter(Tensor):
    """A Tensor that is learned. It owns a copy of `data`, so `p.data[...] = a` changes nothing else."""

    def __init__(self, data: Any) -> None:
        super().__init__(data, requires_grad=True)
        self.data = self.data.copy()


class Module:
    """A part of a model. Subclasses set parameters and modules as attributes and write `forward`.

    Parameters and modules are found in attributes, and in lists, tuples and dicts at any depth.
    """

    training: bool = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def named_parameters(self) -> list[tuple[str, Parameter]]:
        """(name, parameter) pairs with names like "blocks.0.attn.w_q".

        A parameter that is held in several places is listed once, under the first name found.
        """
        return [(name, part) for name, part in _parts(self) if isinstance(part, Parameter)]

    def parameters(self) -> list[Parameter]:
        """Every parameter of this module and of the modules inside it, each once."""
        return [parameter for _, parameter in self.named_parameters()]

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self.parameters():
            parameter.grad = None

    def train(self, mode: bool = True) -> Module:
        """Set `.training` here and in every module inside, and return self."""
        for _, part in _parts(self):
            if isinstance(part, Module):
                part.training = mode
        return self

    def eval(self) -> Module:
        """The same as train(False)."""
        return self.train(False)


def _parts(value: Any, name: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, part) for `value` and every Module and Parameter inside it, each once."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return

    children: list[tuple[Any, Any]]  # (attribute name, key or index; value)
    if isinstance(value, Parameter):
        children = []
    elif isinstance(value, Module):
        children = list(vars(value).items())
    elif isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list | tuple):
        children = list(enumerate(value))
    else:
        return

    seen.add(id(value))
    if isinstance(value, Parameter | Module):
        yield name, value
    for key, child in children:
        yield from _parts(child, f"{name}.{key}" if name else str(key), seen)
