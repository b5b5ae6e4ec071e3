from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minimodel.tensor import Tensor


class Parameter(Tensor):
    """A leaf that is learned. Owns its array: training must never write into an array of the caller's."""

    def __init__(self, data: Any) -> None:
        super().__init__(np.array(data.data if isinstance(data, Tensor) else data), requires_grad=True)


def _walk(x: object, name: str, seen: set[int]) -> Iterator[tuple[str, Parameter | Module]]:
    """Every Parameter and Module reachable from x, each once, under the first name it is met by."""
    if not isinstance(x, (Parameter, Module, dict, list, tuple)) or id(x) in seen: return
    seen.add(id(x)); dot = f"{name}." if name else ""
    if isinstance(x, (Parameter, Module)): yield name, x
    inside = {} if isinstance(x, Parameter) else vars(x) if isinstance(x, Module) else x if isinstance(x, dict) else dict(enumerate(x))
    for k, v in inside.items(): yield from _walk(v, f"{dot}{k}", seen)


class Module:
    training: bool = True

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        return ((n, p) for n, p in _walk(self, "", set()) if isinstance(p, Parameter))

    def parameters(self) -> list[Parameter]: return [p for _, p in self.named_parameters()]

    def modules(self) -> list[Module]: return [m for _, m in _walk(self, "", set()) if isinstance(m, Module)]

    def zero_grad(self) -> None:
        for p in self.parameters(): p.grad = None

    def train(self, mode: bool = True) -> Module:
        for m in self.modules(): m.training = mode
        return self

    def eval(self) -> Module: return self.train(False)

    def forward(self, *args: Any, **kwargs: Any) -> Any: raise NotImplementedError(f"{type(self).__name__}.forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any: return self.forward(*args, **kwargs)
